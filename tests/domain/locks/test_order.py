"""Every verb takes its locks in the order that ARCHITECTURE.md has, so that no two wait for each other."""

from pathlib import Path
from typing import Final

import pytest

from gatepass.base.database import Tx
from tests.domain.locks.order import ORDER, watched
from tests.domain.locks.pairs import Pairs
from tests.domain.locks.verbs import VERBS, Verb
from tests.domain.locks.world import World

ARCHITECTURE: Final = Path(__file__).parents[3] / "ARCHITECTURE.md"


@pytest.mark.parametrize("verb", VERBS.values(), ids=lambda verb: verb.name)
async def test_a_verb_takes_its_locks_in_the_one_order(pairs: Pairs, verb: Verb) -> None:
    watch = await watched(pairs.db, verb, await pairs.world(verb))
    assert watch.out_of_order() == []


async def test_locks_are_seen(pairs: Pairs) -> None:
    """Each table in some verb; otherwise nothing is looked at."""
    orders = {name: (await watched(pairs.db, VERBS[name], await pairs.world(VERBS[name]))).order() for name in SEEN}
    assert orders == SEEN


SEEN: Final = {
    "cancel": ["event", "ticket_category", "ticket"],
    "undo_activation": ["ticket"],
    "replace_ann": ["turn", "card", "card_holder", "ticket"],
    "transfer_to_ben": ["event", "turn", "card", "ticket_category", "ticket"],
}


async def _ticket_before_event(tx: Tx, world: World) -> None:
    await tx.run("SELECT FROM ticket WHERE organization_id = $1 FOR NO KEY UPDATE", world.id)
    await tx.run("SELECT FROM event WHERE organization_id = $1 FOR NO KEY UPDATE", world.id)


async def _last_card_first(tx: Tx, world: World) -> None:
    for name in ("spare", "ann"):
        await tx.run("SELECT FROM card WHERE organization_id = $1 AND id = $2 FOR SHARE", world.id, world.ids[name])


@pytest.mark.parametrize(
    ("act", "expected"), [(_ticket_before_event, "event after ticket"), (_last_card_first, "card after card")]
)
async def test_another_order_is_seen(pairs: Pairs, act: object, expected: str) -> None:
    verb = Verb("wrong", act)  # pyright: ignore[reportArgumentType]
    assert expected in (await watched(pairs.db, verb, await pairs.world(verb))).out_of_order()


def test_the_written_order_is_this_one() -> None:
    text = ARCHITECTURE.read_text().partition("## The order of locks")[2]
    places = [text.index(f"`{table}`") for table in ORDER if table != "turn"]
    assert places == sorted(places)
