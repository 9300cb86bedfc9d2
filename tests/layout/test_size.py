"""What a submission runs, and what the night runs."""

from subprocess import check_output

import pytest

from tests.layout.tree import ROOT, tracked
from tests.size import FULL, NIGHT, dice, require_drawn, seed_of_run
from tools.suites.revision import tree_hash


def is_run(number: int) -> bool:
    try:
        require_drawn(number, of=7, always=range(2))
    except pytest.skip.Exception:
        return False
    return True


def test_of_many_the_tree_draws_one() -> None:
    tree = check_output(["git", "rev-parse", "HEAD^{tree}"], cwd=ROOT, text=True).strip()
    assert tree_hash() == tree
    drawn = int(tree, 16) % 7
    assert [number for number in range(7) if is_run(number)] == [
        number for number in range(7) if number in {0, 1, drawn} or NIGHT or FULL
    ]


@pytest.mark.skipif(NIGHT, reason="the night draws another one each time")
def test_a_submission_has_the_same_seeds_each_time() -> None:
    assert seed_of_run(5) == seed_of_run(5) == 5
    assert dice().random() == dice().random()


@pytest.mark.nightly
def test_what_is_for_the_night_runs_at_night_only() -> None:
    assert NIGHT
    assert seed_of_run() != seed_of_run()
    assert dice().random() != dice().random()


def test_both_words_are_read_in_one_place() -> None:
    words = [f'environ.get("GATEPASS_{word}")' for word in ("FULL", "NIGHT")]
    found = [path for path in tracked(".py") if any(word in (ROOT / path).read_text() for word in words)]
    assert [str(path) for path in found] == ["tests/size.py"]
