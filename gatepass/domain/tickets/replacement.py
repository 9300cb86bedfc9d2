"""Replacing a card that was lost: a new one takes over its holder and its unused tickets, the old one is revoked."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.refusals import NotAllowedFromHere
from gatepass.domain import cards, changes
from gatepass.domain.cards import Card, CardStatus

REPLACED: Final = "replaced"
REPLACES: Final = "replaces"


async def replace(tx: Tx, organization_id: UUID, card_id: UUID, *, by: str, at: datetime, reason: str) -> Card:
    """The new card. What was used stays with the old one: it is the history of that card.

    A gate that scans the old card in this very moment either comes before us and has used the ticket, which then
    stays, or finds the card revoked.
    """
    old = await cards.find(tx, organization_id, card_id)
    if old.status is CardStatus.REVOKED:
        raise NotAllowedFromHere("A card that is revoked cannot be replaced any more.")
    await cards.move(tx, organization_id, card_id, CardStatus.REVOKED, by=by, at=at, reason=reason)
    new = await cards.issue(tx, organization_id, by=by, at=at)
    await tx.run(MOVE_HOLDER, organization_id, card_id, new.id)
    moved = await tx.rows(MOVE_TICKETS, organization_id, card_id, new.id)
    for row in moved:
        await changes.note(
            tx, organization_id, "ticket", row["id"], "moved to another card", by=by, at=at,
            was=old.number, becomes=new.number, reason=reason,
        )  # fmt: skip
    await changes.note(tx, organization_id, "card", card_id, REPLACED, by=by, at=at, becomes=new.number, reason=reason)
    await changes.note(tx, organization_id, "card", new.id, REPLACES, by=by, at=at, was=old.number, reason=reason)
    return new


MOVE_HOLDER: Final = """
    UPDATE card_holder
       SET card_id = $3
     WHERE organization_id = $1
       AND card_id = $2
"""

MOVE_TICKETS: Final = """
    UPDATE ticket
       SET card_id = $3
     WHERE organization_id = $1
       AND card_id = $2
       AND activated_at IS NULL
       AND cancelled_at IS NULL
    RETURNING id
"""
