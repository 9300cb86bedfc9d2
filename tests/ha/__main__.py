"""The failing cluster: `python -m tests.ha check`, `full` or `report`. The Makefile has the targets."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any

from tests.ha.lab.lab import Lab, LabTakenError
from tests.ha.runs import plan, report, results
from tests.ha.runs.control import control
from tests.ha.runs.plan import Round
from tests.ha.runs.session import IMPOSSIBLE, Session, too_long
from tests.ha.violation import TIMINGS
from tests.size import seed_of_run

# For all of `check`, with start and stop. A round is begun if it is likely to end before.
CHECK_SECONDS = 150.0
STOP_SECONDS = 10.0
CONTROL_SECONDS = 30.0
# A lab that has run for so many rounds is replaced: its disks are small.
ROUNDS_PER_LAB = 40
TICKETS = 60_000
TICKETS_FOR_A_CHECK = 12_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.ha")
    parser.add_argument("what", choices=["check", "full", "report"])
    parser.add_argument("--seed", type=int, help="decides the faults and their order")
    parser.add_argument("--from", type=int, dest="start", help="the first round; by default the next of this seed")
    parser.add_argument("--rounds", help="only these, again: numbers with commas")
    parser.add_argument("--faults", type=int, default=300, help="how many, at most")
    parser.add_argument("--minutes", type=float, default=600, help="no round is begun later")
    parser.add_argument("--lab", help="the letter of the lab; by default the first that is free")
    parser.add_argument("--write", action="store_true", help="write the table into the documentation")
    given = parser.parse_args()
    if given.what == "report":
        return show(given.write)
    if os.geteuid() != 0:
        print(f"make ha-{given.what} makes network namespaces, and so it has to be run as root.")
        return 1
    # A time limit of CI ends it as Ctrl-C does: the lab is removed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if given.what == "check":
            return check(given.seed if given.seed is not None else seed_of_run(), given.lab)
        seed = given.seed or 1
        number = results.next_round(results.read(), seed) if given.start is None else given.start
        if given.rounds:
            upcoming = (next(plan.rounds(seed, int(one))) for one in given.rounds.split(","))
        else:
            upcoming = plan.rounds(seed, number)
            print(
                f"Seed {seed}, from round {number}: make ha-full SEED={seed} goes on where this one ends.", flush=True
            )
        return full(seed, upcoming, given.faults, given.minutes, given.lab)
    except LabTakenError as taken:
        print(taken)
        return 1
    except KeyboardInterrupt:
        print("Stopped; the lab is removed.")
        return 130


@contextmanager
def session(letter: str | None, tickets: int) -> Generator[Session]:
    begin = time.monotonic()
    with Lab(letter) as lab:
        lab.populate(tickets)
        print(f"Lab {lab.letter} runs, after {time.monotonic() - begin:.0f} s.", flush=True)
        yield Session(lab, results.KEPT)


def check(seed: int, letter: str | None) -> int:
    """A part that the seed draws: one fault of a machine, the negative control, then as many as there is time for.

    It fails if a promise is broken. What was slow is printed: a machine that does other work too says little about it,
    and `full` is for that.
    """
    begin = time.monotonic()
    print(f"Seed {seed}: make ha-check SEED={seed} draws the same faults.", flush=True)
    wrong: list[str] = []
    slow: list[str] = []
    with session(letter, TICKETS_FOR_A_CHECK) as run:
        # A busy machine takes longer for each round than an idle one: as much as for the first.
        started, pace = time.monotonic(), 1.0
        for one in plan.part(seed):
            left = CHECK_SECONDS - STOP_SECONDS - (time.monotonic() - begin)
            if one.number == 0 or (one.seconds + CONTROL_SECONDS) * pace < left:
                unsafe, late = told(one, run.round(one))
                wrong += unsafe
                slow += late
            if one.number == 0:
                pace = max(1.0, (time.monotonic() - started) / one.seconds)
        wrong += told_of_control(control(run, seed))
    print(f"{time.monotonic() - begin:.0f} s.", *wrong, sep="\n")
    if slow:
        print("Later than wanted, which is no failure here:", *slow, sep="\n")
    return bool(wrong)


def full(seed: int, upcoming: Iterator[Round], faults: int, minutes: float, letter: str | None) -> int:
    """Rounds of a seed, as many as are asked for, each appended to the results; at the end of a lab the control."""
    until = time.monotonic() + minutes * 60
    wrong: list[str] = []
    while faults > 0 and time.monotonic() < until and (first := next(upcoming, None)):
        stuck = False
        with session(letter, TICKETS) as run:
            for one in chain([first], islice(upcoming, ROUNDS_PER_LAB - 1)):
                result = attempted(run, one)
                unsafe, late = told(one, result)
                wrong += unsafe + late
                faults -= len(one.names)
                stuck = "stuck" in result["violations"]
                if faults <= 0 or time.monotonic() > until or stuck:
                    break
            if not stuck:
                negative = control(run, seed)
                results.append(negative)
                wrong += told_of_control(negative)
    print(report.summary(results.read()), *wrong, sep="\n")
    return bool(wrong)


def attempted(run: Session, one: Round) -> dict[str, Any]:
    """The result of a round, appended; a cluster that does not come back is one too."""
    try:
        result = run.round(one)
    except (TimeoutError, RuntimeError, *IMPOSSIBLE) as stuck:
        run.keep(one)
        base = {"seed": one.seed, "round": one.number, "faults": one.names, "at": round(time.time(), 3)}
        result = {**base, "violations": {"stuck": 1}, "examples": [f"stuck: {stuck}"]}
    results.append(result)
    return result


def told(one: Round, result: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Print a line about a round; sentences about broken promises, and about what came late."""
    gaps = {way: max(gap, 0.0) for way, gap in result.get("gap", {}).items()}
    text = ", ".join(f"{way} {gap:.1f}" for way, gap in gaps.items())
    print(f"{one.number:4d}  {one.title}: gaps {text}; held {result.get('held')} s", flush=True)
    name = f"Round {one.number} of seed {one.seed} ({one.title})"
    unsafe: list[str] = []
    late: list[str] = []
    for kind, number in result["violations"].items():
        into = late if kind in TIMINGS else unsafe
        into.append(f"{name}: {kind} x {number}")
        into += [f"{name}: {example}" for example in result["examples"] if example.partition(":")[0] == kind]
    if "gap" in result:
        for way, (gap, bound) in too_long(one, result).items():
            late.append(f"{name}: no scan through {way} for {gap:.1f} s, where {bound:.1f} s are wanted")
    for sentence in unsafe + late:
        print(f"      {sentence}", flush=True)
    return unsafe, late


def told_of_control(result: dict[str, Any]) -> list[str]:
    """Print a line about the negative control; a sentence if the judge was blind."""
    print(f"negative control: {result['seen']} acknowledged scans are lost, and seen to be lost", flush=True)
    if result["seen"]:
        return []
    return ["With asynchronous replication the judge saw no loss: it would not see one elsewhere either."]


def show(write: bool) -> int:
    found = results.read()
    if not found:
        print(f"There are no results in {results.FILE}: run make ha-full first.")
        return 1
    print(report.summary(found), "", report.table(found), sep="\n")
    if write:
        report.write(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
