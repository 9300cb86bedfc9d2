"""The same commit is judged in the same way each time: chance has a seed, and no test is chosen by the date.

A seed is of `tests/size.py`, or written down; what is drawn is drawn by the hash of the tree.
"""

import ast
import re
from collections.abc import Iterator
from typing import Final

import pytest

from tests.layout.tree import ROOT, modules, tracked

# New seeds of the night are made here.
SOURCE: Final = ROOT / "tests" / "size.py"
# Only to be shortened.
EXCEPTIONS: Final = {
    "tests/domain/webhooks/test_page_plans.py: .weekday": "its rows are laid so that each day has the same week",
}
DATES: Final = {"today", "toordinal", "weekday", "isoweekday", "isocalendar", "timetuple"}
CLOCKS: Final = {"now", "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "getpid", *DATES}
# What decides the course of a test.
DECIDES: Final = {"Random", "seed", "parametrize", "skipif", "seed_of_run", "dice", "require_drawn"}
# Of hundreds of files the few that are worth parsing.
MAY_BE_ONE: Final = re.compile(
    rf"[Rr]andom|\b({'|'.join(DATES)})\(|\b({'|'.join(DECIDES)})\(.*\b({'|'.join(CLOCKS)})\("
)


def dotted(node: ast.expr) -> str:
    """`random.choice` of what is called; of anything else than names and dots, what follows the last dot."""
    match node:
        case ast.Name(id):
            return id
        case ast.Attribute(value, attribute):
            return f"{dotted(value)}.{attribute}"
        case _:
            return ""


def name(call: ast.Call) -> str:
    return dotted(call.func).rpartition(".")[2]


def faults(tree: ast.AST) -> Iterator[str]:
    """Chance without a seed, and what is chosen by the time."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "random":
            yield from (f"{node.lineno}: {one.name} of random" for one in node.names if one.name != "Random")
        if not isinstance(node, ast.Call):
            continue
        called = dotted(node.func)
        if called in {"random.Random", "Random"} and not node.args:
            yield f"{node.lineno}: {called} without a seed"
        if called.startswith("random.") and called not in {"random.Random", "random.seed"}:
            yield f"{node.lineno}: {called}, whose seed nobody knows"
        if name(node) in DATES:
            yield f"{node.lineno}: {called}"
        if name(node) in DECIDES:
            inside = [one for argument in node.args for one in ast.walk(argument)]
            clocks = [dotted(one.func) for one in inside if isinstance(one, ast.Call) and name(one) in CLOCKS]
            yield from (f"{node.lineno}: {called} by {clock}" for clock in clocks)


def test_chance_has_a_seed_and_no_date_decides() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {fault.partition(': ')[2]}": fault
        for path in (ROOT / one for one in modules() if one.parts[0] == "tests")
        if path != SOURCE and MAY_BE_ONE.search(text := path.read_text())
        for fault in faults(ast.parse(text))
    }
    assert {one: line for one, line in found.items() if one not in EXCEPTIONS} == {}
    assert EXCEPTIONS.keys() <= found.keys(), "an exception that nothing needs"


def test_chance_of_javascript_has_a_seed() -> None:
    files = [path for path in tracked(".ts", ".mjs", ".js") if "test" in path.parts or path.parts[0] == "tests"]
    assert len(files) > 20
    assert [path for path in files if "Math.random" in (ROOT / path).read_text()] == []


@pytest.mark.parametrize(
    "code",
    [
        "rng = random.Random()",
        "rng = Random()",
        "from random import choice",
        "pause = random.uniform(0, 1)",
        "random.SystemRandom().randrange(9)",
        "rng = Random(int(time.time()))",
        "turn = datetime.now(UTC).date().toordinal() % 5",
        "@pytest.mark.skipif(datetime.now().hour < 7, reason='')\ndef test(): ...",
    ],
)
def test_a_fault_is_found(code: str) -> None:
    assert [*faults(ast.parse(code))]


@pytest.mark.parametrize("code", ["Random(7).choice('ab')", "dice().random()", "datetime.now(UTC)", "st.randoms()"])
def test_chance_with_a_seed_is_none(code: str) -> None:
    assert [*faults(ast.parse(code))] == []
