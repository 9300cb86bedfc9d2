"""The table of all rounds: what each kind of fault cost, beside what it cost before and what is wanted."""

import re
from collections import Counter
from pathlib import Path
from statistics import median

from tests.ha.faults.catalogue import KINDS
from tests.ha.lab.cluster import ROOT
from tests.ha.lab.lab import WAYS
from tests.ha.runs.control import NAME as CONTROL
from tests.ha.runs.results import Result
from tests.ha.violation import TIMINGS

PAGE = ROOT / "docs" / "operate" / "high-availability.md"
MADE = re.compile(
    r"(<!-- made by `make ha-report`: begin -->\n).*(\n<!-- made by `make ha-report`: end -->)", re.DOTALL
)
HEADINGS = {"haproxy": "HAProxy", "multihost": "multi-host DSN", "pgbouncer": "PgBouncer"}
# The load average up to which gaps are counted: two labs side by side have about half of it. A machine that does other
# work says nothing about time; its rounds count for everything else.
QUIET = 5.0
# Seconds through HAProxy and by multi-host DSN, as version 0.1 had them in the same cluster: p50 / max, or a range.
BEFORE = {
    "postmaster-killed": ("3.2 / 6.2", "2.7 / 3.0"),
    "switchover": ("3.2 / 6.2", "2.7 / 3.0"),
    "patroni-killed": ("19.2 / 19.4", "13.3"),
    "patroni-and-postgres-killed": ("19.5 to 21.5", "20.1"),
    "node-killed": ("19.5 to 21.5", "20.1"),
    "postgres-frozen": ("19.5 to 21.5", "20.1"),
    "patroni-frozen": ("19.5 to 21.5", "20.1"),
    "node-frozen": ("22.2 / 22.6", "32.6"),
    "link-down": ("25.3 / 25.7", "34"),
    "black-hole": ("25.3 / 25.7", "80"),
    "partition": ("22.8 / 24.9", "21.1"),
    "partition-inwards": ("22.8 / 24.9", "21.1"),
    "etcd-quorum-lost": ("19.3", ""),
    "replica-killed": ("0.2 to 1.1", ""),
    "etcd-leader-killed": ("0.2 to 1.1", ""),
    "haproxy-killed": ("0.2 to 1.1", ""),
    "api-killed": ("0.2 to 1.1", ""),
    "backends-terminated": ("0.2 to 1.1", ""),
}


def table(results: list[Result]) -> str:
    """A row for each kind alone, and one for all pairs."""
    ways = [HEADINGS[way] for way in WAYS]
    head = ["fault", "n", *ways, "before: HAProxy", "multi-host DSN", "wanted", "violations"]
    alone = {name: [one for one in results if one["faults"] == [name]] for name in KINDS}
    rows = [_row(name, found) for name, found in alone.items() if found]
    pairs = [one for one in results if len(one["faults"]) > 1]
    if pairs:
        rows.append(
            ["two at once", str(len(pairs)), *(_cell(pairs, way, "gap") for way in WAYS), "", "", "", _bad(pairs)]
        )
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _row(name: str, found: list[Result]) -> list[str]:
    kind = KINDS[name]
    cells = [_cell(found, way, "gap_after_mending" if way in kind.stops else "gap") for way in WAYS]
    wanted = f"{kind.bound:g}" + (", once repaired" if kind.from_mending else "")
    return [kind.what, str(len(found)), *cells, *BEFORE.get(name, ("", "")), wanted, _bad(found)]


def _cell(found: list[Result], way: str, measure: str) -> str:
    gaps = [one[measure][way] for one in found if measure in one and _is_quiet(one)]
    return f"{median(gaps):.1f} / {max(gaps):.1f}" if gaps else ""


def _is_quiet(one: Result) -> bool:
    return one.get("load_average", 0.0) <= QUIET


def _bad(found: list[Result]) -> str:
    kinds: Counter[str] = Counter()
    for one in found:
        kinds.update({kind: n for kind, n in one["violations"].items() if kind not in TIMINGS or _is_quiet(one)})
    return ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items())) or "0"


def summary(results: list[Result]) -> str:
    """The totals, in sentences."""
    judged = [one for one in results if one["faults"] != [CONTROL]]
    controls = [one for one in results if one["faults"] == [CONTROL]]
    counts: Counter[str] = Counter()
    for one in judged:
        counts.update({name: number for name, number in one.get("counts", {}).items() if isinstance(number, int)})
    faults = sum(len(one["faults"]) - len(one.get("missed", [])) for one in judged)
    kinds = {name for one in judged for name in one["faults"]}
    seen = sum(one["seen"] > 0 for one in controls)
    quiet = [one for one in judged if _is_quiet(one)]
    late = sum(bool(one.get("too_long")) for one in quiet)
    return (
        f"{faults} faults of {len(kinds)} kinds in {len(judged)} rounds; {counts['scans']} scans, "
        f"{counts['activations']} activations, {counts['answered 503 unavailable']} x 503. "
        f"Violations: {_bad(judged)}. A gap longer than wanted: {late} of the {len(quiet)} rounds in which the machine "
        f"did nothing else; only their gaps are in the table. "
        f"The negative control was run {len(controls)} times, and its loss was seen {seen} times."
    )


def written(page: str, results: list[Result]) -> str:
    """The page with the figures of these results."""
    text = f"{summary(results)}\n\n{table(results)}"
    return MADE.sub(lambda found: f"{found[1]}\n{text}\n{found[2]}", page)


def write(results: list[Result], page: Path = PAGE) -> None:
    page.write_text(written(page.read_text(), results))
