"""The tree stays readable: small folders, short files, names that are told apart, no import circle."""

from itertools import combinations
from pathlib import Path

import pytest

from tests.layout.import_graph import circles
from tests.layout.tree import ROOT, folders, modules, tracked

MOST_MODULES = 20
LONGEST = 300


# Revisions are only added to, and read by their number.
GROWING = {Path("gatepass/migrations/versions")}


def test_no_folder_holds_more_than_twenty_modules() -> None:
    full = {str(folder): len(names) for folder, names in folders().items() if len(names) > MOST_MODULES}
    assert set(full) - {str(folder) for folder in GROWING} == set()


@pytest.mark.parametrize("suffix", [".py", ".sql", ".ts"])
def test_no_file_is_longer_than_300_lines(suffix: str) -> None:
    lengths = {str(path): (ROOT / path).read_text().count("\n") for path in tracked(suffix)}
    assert len(lengths) > 10
    assert {path: length for path, length in lengths.items() if length > LONGEST} == {}


def differ_by_one_letter(one: str, other: str) -> bool:
    """One letter added, left out or replaced."""
    if len(one) > len(other):
        one, other = other, one
    if len(other) - len(one) > 1 or one == other:
        return False
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    return one[at + (len(one) == len(other)) :] == other[at + 1 :]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("webhook", "webhooks", True),
        ("_endpoint", "_endpoints", True),
        ("card", "cart", True),
        ("scan", "scans", True),
        ("events", "event", True),
        ("key", "keys", True),
        ("abc", "abcde", False),
        ("same", "same", False),
        ("live_hub", "live_view", False),
    ],
)
def test_one_letter_is_seen(one: str, other: str, expected: bool) -> None:
    assert differ_by_one_letter(one, other) is expected


def test_no_two_modules_of_a_folder_differ_by_one_letter() -> None:
    alike = [
        f"{folder}: {one}, {other}"
        for folder, names in folders().items()
        for one, other in combinations(sorted(names), 2)
        if differ_by_one_letter(one, other)
    ]
    assert alike == []


@pytest.mark.parametrize(
    ("root", "package"),
    [("sdk", "gatepass_sdk"), *((".", name) for name in ("gatepass", "bench", "examples", "tests", "tools"))],
)
def test_no_import_circle(root: str, package: str) -> None:
    assert circles(ROOT / root, package) == []


def test_the_tree_is_seen() -> None:
    assert len(modules()) > 600
