"""Run the suites of tests/suites.toml: for a submission, for the night, or as far as a change needs them.

python -m tools.suites submission       what .ci/run runs; the change begins at GATEPASS_BASE, or at the last night
python -m tools.suites submission --all every suite; with names, those
python -m tools.suites nightly          all of it at full width; goes on where it was broken off at this commit
python -m tools.suites chosen PATH…     what a change of these paths would run
python -m tools.suites keep             write what the last run measured into record.json
python -m tools.suites weight BEFORE [AFTER]  lines, tests and assertions by folder, at two commits
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tools.suites import plan, record, report, revision, run, weight
from tools.suites.plan import Plan
from tools.suites.record import Outcome
from tools.suites.suite import Suite, SuiteMap, suite_map

RESULTS = revision.ROOT / "test-results"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.suites", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    submission = commands.add_parser("submission")
    submission.add_argument("suite", nargs="*")
    submission.add_argument("--all", action="store_true")
    submission.add_argument("--base", default=os.environ.get("GATEPASS_BASE") or None)
    commands.add_parser("nightly").add_argument("suite", nargs="*")
    commands.add_parser("chosen").add_argument("path", nargs="+")
    commands.add_parser("keep")
    weighed = commands.add_parser("weight")
    weighed.add_argument("before")
    weighed.add_argument("after", nargs="?", default="HEAD")
    asked = parser.parse_args(arguments)
    suites = suite_map()
    match asked.command:
        case "submission":
            return _submission(_planned(asked, suites))
        case "nightly":
            return _nightly([suite for suite in suites.suites if not asked.suite or suite.name in asked.suite])
        case "chosen":
            print(*(suite.name for suite in plan.of(asked.path, suites).chosen), sep="\n")
            return 0
        case "weight":
            print(weight.table(asked.before, asked.after))
            return 0
        case _:
            return _keep()


def _planned(asked: argparse.Namespace, suites: SuiteMap) -> Plan:
    if asked.suite:
        return plan.named(asked.suite, suites)
    return plan.everything(suites) if asked.all else plan.since(asked.base, suites, record.read())


def _submission(planned: Plan) -> int:
    results = RESULTS / "ci"
    outcomes = _run(planned.runs, lambda suite: suite.run, results, {})
    print(f"\n{report.table(outcomes, record.read().submission)}\n\n{report.left_out(planned, record.read())}")
    print(report.closing_line(list(outcomes.values())))
    return int(any(one.code for one in outcomes.values()))


def _nightly(suites: Sequence[Suite]) -> int:
    """Each suite's result is kept at once, so that a night that was broken off goes on with the next suite."""
    results = RESULTS / "nightly" / revision.head()
    done = record.read(results / "record.json")
    todo = [suite for suite in suites if suite.name not in done.night or done.night[suite.name].code]

    def keep(name: str, outcome: Outcome) -> None:
        done.night[name] = outcome
        done.write(results / "record.json")

    outcomes = {
        **done.night,
        **_run(todo, lambda suite: suite.night or suite.run, results, {"GATEPASS_NIGHT": "1"}, keep),
    }
    text = f"{report.table(outcomes, record.read().night)}\n\nAll of it at {revision.head()}."
    (results / "report.txt").write_text(text + "\n")
    print(f"\n{text}\n{report.closing_line(list(outcomes.values()))}")
    return int(any(one.code for one in outcomes.values()))


def _run(
    suites: Sequence[Suite],
    command: Callable[[Suite], str],
    results: Path,
    environment: Mapping[str, str],
    keep: Callable[[str, Outcome], None] = lambda _name, _outcome: None,
) -> dict[str, Outcome]:
    begun = time.monotonic()
    print(report.machine(run.additions()), flush=True)
    outcomes = dict[str, Outcome]()
    for suite, outcome, end in run.run(suites, command, results, environment):
        outcomes[suite.name] = outcome
        keep(suite.name, outcome)
        print(f"\n{report.one_line(suite.name, outcome)}\n{end}", flush=True)
    print(f"\n{time.monotonic() - begun:.0f} s for {len(outcomes)} suites. {report.machine(run.additions())}")
    record.Record(submission=outcomes).write(results / "last.json")
    return outcomes


def _keep() -> int:
    kept = record.read()
    kept.submission |= record.read(RESULTS / "ci" / "last.json").submission
    for night in sorted(RESULTS.glob("nightly/*/record.json"), key=lambda path: path.stat().st_mtime):
        kept.night |= record.read(night).night
    kept.write()
    print(f"{record.FILE.name} has {len(kept.submission)} suites of a submission and {len(kept.night)} of the night.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
