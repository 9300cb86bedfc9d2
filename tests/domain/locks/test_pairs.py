"""Pairs of verbs, one of which is held open between each two of its statements, are as one after the other."""

import inspect
import itertools
import random
import re
from pathlib import Path
from typing import Final

import pytest

from gatepass.domain import cards, events, imports, incidents, tickets
from tests.domain.locks import card_verbs, event_verbs, ticket_verbs
from tests.domain.locks.pairs import BEFORE_COMMIT, Pairs
from tests.domain.locks.verbs import VERBS
from tests.size import sized

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


# Part of other verbs, or they lock an event first, as `events.edit` does, or nothing that another verb waits for.
NOT_RACED: Final = {
    "cards.issue_all",
    "cards.retire",
    "events.add_category",
    "events.create",
    "events.duplicate",
    "events.store_cover",
    "imports.discard",
    "incidents.close",
}
# Two that begin in different worlds are no pair.
EVERY: Final = [
    (first, second)
    for first, second in itertools.product(VERBS, VERBS)
    if VERBS[first].before in (None, VERBS[second].before) or VERBS[second].before is None
]
DRAWN: Final = random.Random(34).sample(EVERY, sized(short=20, full=len(EVERY)))


def test_every_verb_is_raced() -> None:
    """Verbs that write say by whom; a new one is raced, or stands here with the others."""
    written = {
        f"{package.__name__.rpartition('.')[2]}.{name}"
        for package in (cards, events, imports, incidents, tickets)
        for name in package.__all__
        if inspect.iscoroutinefunction(verb := getattr(package, name)) and "by" in inspect.signature(verb).parameters
    }
    source = "".join(Path(module.__file__ or "").read_text() for module in (card_verbs, event_verbs, ticket_verbs))
    raced = {name for name in written if re.search(rf"\b{re.escape(name)}\(", source)}
    assert {"tickets.cancel", "cards.register", "events.edit"} <= raced
    assert written - raced == NOT_RACED


@pytest.mark.processes
async def test_any_two_verbs_are_as_one_after_the_other(pairs: Pairs) -> None:
    before, waits = pairs.counted, pairs.waits
    wrong = [found for first, second in DRAWN async for found in pairs.anomalies(VERBS[first], VERBS[second])]
    print(
        f"{len(DRAWN)} of {len(EVERY)} pairs, {pairs.counted - before} pauses, {pairs.waits - waits} times one waited"
    )
    assert wrong == []
