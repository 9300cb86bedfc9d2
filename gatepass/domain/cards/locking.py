"""Locking cards with the people who hold them, before anything is decided about either.

Under READ COMMITTED a statement that waits for a row sees that row anew, and everything else as it was before. So one
statement locks, and the next ones read and act. The order of all locks is in ARCHITECTURE.md.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import Busy
from gatepass.domain.cards.card import CardNotFound, CardStatus
from gatepass.domain.cards.holders import HolderDetails
from gatepass.domain.cards.people import PersonCard, cards_of_people, take_turns
from gatepass.domain.cards.search import HeldCard, find_all

# Each time, another transaction has changed the holder and committed.
ATTEMPTS: Final = 5


class _AnotherPersonError(Exception):
    """A card has another holder by now than the one whose turn was taken."""


async def lock_held(tx: Tx, organization_id: UUID, card_id: UUID, *, address: str | None = None) -> HeldCard:
    """The card as it is now, locked with its holder until the transaction ends, and with this address too."""
    found = await lock_all_held(tx, organization_id, [card_id], [address] if address else [])
    if card_id not in found:
        raise CardNotFound
    return found[card_id]


async def lock_all_held(
    tx: Tx, organization_id: UUID, card_ids: Collection[UUID], addresses: Collection[str] = ()
) -> Mapping[UUID, HeldCard]:
    """Those of these cards that are there, as they are now, locked with their holders until the transaction ends.

    The turns of people come before cards, and whose turn it is stands beside the card. If somebody has changed that
    once the cards are locked, all of it is let go, and begins again.
    """
    wanted = sorted(set(card_ids))
    for _ in range(ATTEMPTS):
        seen = await find_all(tx, organization_id, wanted)
        with suppress(_AnotherPersonError):
            async with tx.savepoint():
                turns = {*addresses, *_words(seen)}
                await take_turns(tx, organization_id, turns)
                await tx.run(LOCK, organization_id, wanted)
                await tx.run(LOCK_HOLDERS, organization_id, wanted)
                found = await find_all(tx, organization_id, wanted)
                if not _words(found) <= turns:
                    raise _AnotherPersonError
                return found
    raise Busy(cause="lock")


async def lock_person(tx: Tx, organization_id: UUID, address: str) -> PersonCard | None:
    """The card of a person whose turn was taken, locked; None if there is none that is not revoked."""
    locked: UUID | None = None
    while True:
        person = (await cards_of_people(tx, organization_id, [address])).get(address)
        if person is None or person.status is CardStatus.REVOKED:
            return None
        if person.card_id == locked:
            return person
        await tx.run(LOCK, organization_id, [person.card_id])
        locked = person.card_id


def _words(cards: Mapping[UUID, HeldCard]) -> set[str]:
    """The addresses and external ids of these cards, which take turns."""
    addresses = (HolderDetails(email=card.email).address for card in cards.values())
    return {word for word in (*addresses, *(card.external_id for card in cards.values())) if word}


LOCK: Final = """
    SELECT id
      FROM card
     WHERE organization_id = $1
       AND id = ANY ($2)
     ORDER BY id
       FOR NO KEY UPDATE
"""

# Who writes a letter to a holder locks these too, and then makes the link in it.
LOCK_HOLDERS: Final = """
    SELECT card_id
      FROM card_holder
     WHERE organization_id = $1
       AND card_id = ANY ($2)
     ORDER BY card_id
       FOR UPDATE
"""
