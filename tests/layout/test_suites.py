"""The map of suites is honest: every file lies in it, every place exists, and what a suite imports is what it reads."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.layout.import_graph import sources_of
from tests.layout.tree import ROOT, every_file
from tools.suites import plan
from tools.suites.record import Outcome, Record
from tools.suites.suite import Suite, suite_map, within

MAP = suite_map()
FILES = [str(path) for path in every_file()]


def test_every_file_has_its_place() -> None:
    """One that has none runs every suite, which costs an hour where minutes would do."""
    places = [place for suite in MAP.suites for place in (*suite.tests, *suite.paths)]
    assert [file for file in FILES if not within(file, [*MAP.everything, *places])] == []


def test_every_place_has_a_file() -> None:
    places = {place for suite in MAP.suites for place in (*suite.tests, *suite.paths)} | {*MAP.everything}
    assert sorted(place for place in places if not any(within(file, [place]) for file in FILES)) == []


def test_every_test_belongs_to_a_suite() -> None:
    tests = [file for file in FILES if re.match(r"tests/.*test_\w+\.py$", file)]
    assert len(tests) > 400
    assert [file for file in tests if not any(within(file, suite.tests) for suite in MAP.suites)] == []


@pytest.mark.parametrize("suite", MAP.suites, ids=lambda suite: suite.name)
def test_a_suite_runs_targets_that_run_its_tests(suite: Suite) -> None:
    commands = _dry_run(suite.run or suite.night)
    assert [place for place in suite.tests if not _is_named(place.rstrip("/"), commands)] == []


def _is_named(place: str, commands: str) -> bool:
    """The folder, one above it, or the module that `python -m` runs."""
    above = [place, *map(str, Path(place).parents)][:-1]
    names = {*above, *(one.replace("/", ".") for one in above)} - {"tests"}
    return any(re.search(rf"(?<!ignore ){re.escape(name)}(?![\w./-]*\w)", commands) for name in names)


def _dry_run(command: str) -> str:
    made = subprocess.run(
        ["bash", "-c", command.replace("make ", "make --dry-run ", 1)],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return made.stdout.replace("\\\n", " ")


@pytest.mark.parametrize("suite", [one for one in MAP.suites if not one.always], ids=lambda suite: suite.name)
def test_what_a_suite_imports_is_what_it_reads(suite: Suite) -> None:
    """Also through the helpers of other tests; what the product imports in turn is for the map's reader to weigh."""
    starts = [file for file in FILES if file.endswith(".py") and within(file, suite.tests)]
    read = sources_of(ROOT, starts, lambda file: file.startswith("tests/") and not within(file, MAP.everything))
    assert sorted(file for file in read if not suite.reads(file) and not within(file, MAP.everything)) == []


def test_what_everything_rests_on_runs_everything() -> None:
    for path in (
        "gatepass/base/database.py",
        "gatepass/migrations/head.py",
        "requirements.txt",
        "a/new/folder.py",
        "tests/suites.toml",
    ):
        assert plan.of([path], MAP).left_out == [], path


def test_a_page_runs_few_and_those_that_always_run() -> None:
    chosen = {suite.name for suite in plan.of(["docs/guides/keys.md"], MAP).chosen}
    assert chosen == {"check", "acceptance", "test", "test-processes", "docs"}


def test_a_suite_that_no_night_ran_is_due() -> None:
    assert plan.since(None, MAP, Record()).left_out == []


def test_one_of_what_is_left_out_is_drawn() -> None:
    night = {suite.name: Outcome("HEAD", "2026-01-01", 0, 1.0, 1.0) for suite in MAP.suites}
    planned = plan.since("HEAD", MAP, Record(night=night))
    if planned.left_out:
        assert planned.drawn not in {*planned.left_out, *planned.chosen}
        assert planned.drawn in planned.runs
    assert {*planned.runs, *planned.left_out} == {*MAP.submission}
