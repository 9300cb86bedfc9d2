"""Pairs of verbs, one of which is held open between each two of its statements, are as one after the other."""

from typing import Final

import pytest

from tests.domain.locks.pairs import BEFORE_COMMIT, Pairs
from tests.domain.locks.verbs import VERBS

# What went wrong before there was one order of locks, and before nothing joined what it had not waited for.
KNOWN: Final = (
    ("transfer_to_new_address", "cancel"),
    ("replace_ann", "cancel"),
    ("replace_ann", "issue_to_ann"),
    ("issue_to_ann", "replace_ann"),
    ("replace_ann", "issue_to_ann_elsewhere"),
    ("replace_ann", "transfer_to_spare_card"),
    ("replace_ann", "change_link"),
    ("undo_what_is_unused", "activate"),
    ("merge_ben_into_ann", "undo_activation"),
    ("replace_ivo", "undo_guests"),
    ("undo_guests", "register_ivo"),
)


@pytest.mark.parametrize(("first", "second"), KNOWN)
async def test_two_verbs_are_as_one_after_the_other(pairs: Pairs, first: str, second: str) -> None:
    assert [found async for found in pairs.anomalies(VERBS[first], VERBS[second])] == []


async def test_a_ticket_for_an_address_goes_to_nobody_who_has_another_by_now(pairs: Pairs) -> None:
    """Ann's address is corrected first: a ticket for the old one, bought before that has committed, is not for her."""
    correct, issue = VERBS["correct_ann"], VERBS["issue_to_ann_elsewhere"]
    raced, found = await pairs.raced(correct, issue, BEFORE_COMMIT)
    assert raced.waited
    assert found == await pairs.in_order(correct, issue)
