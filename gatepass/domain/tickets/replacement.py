"""Replacing a lost card: a new one takes over its holder, external id and unused tickets; the old one is revoked."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import audit_log, cards, webhooks
from gatepass.domain.cards import Card, CardStatus, LinkState, NewCard
from gatepass.domain.cards.messages import replaced
from gatepass.domain.tickets.locking import LockedTicket, lock_tickets_of_card
from gatepass.domain.tickets.messages import transferred
from gatepass.domain.webhooks import Message

REPLACED: Final = "replaced"
REPLACES: Final = "replaces"


async def replace(tx: Tx, organization_id: UUID, card_id: UUID, *, by: str, at: datetime, reason: str) -> Card:
    """The new card. Used tickets stay with the old card, because they are its history.

    A gate that scans the old card at the same moment is either first, and the ticket that it used stays, or finds the
    card revoked.
    """
    old = await cards.lock_held(tx, organization_id, card_id)
    if old.status is CardStatus.REVOKED:
        raise NotAllowedFromHere("A card that is revoked cannot be replaced any more.")
    # First, so that it says what happened; the revocation finds no link any more.
    await cards.end_link(tx, organization_id, card_id, LinkState.CARD_REPLACED, at=at)
    await cards.change_status(tx, organization_id, card_id, CardStatus.REVOKED, by=by, at=at, reason=reason)
    made = NewCard(external_id=old.external_id)
    numbers = await cards.issue_all(tx, organization_id, [made], by=by, at=at)
    new = Card(made.id, numbers[made.id], CardStatus.ACTIVE, at)
    await tx.run(MOVE_HOLDER, organization_id, card_id, new.id)
    await tx.run(MOVE_EXTERNAL_ID, organization_id, card_id, new.id)
    was, becomes = (card_id, old.number), (new.id, new.number)
    tickets = await lock_tickets_of_card(tx, organization_id, card_id)
    told = await move_tickets(tx, organization_id, tickets, was, becomes, by=by, at=at, reason=reason)
    await audit_log.record(
        tx, organization_id, "card", card_id, REPLACED, by=by, at=at, becomes=new.number, reason=reason
    )
    await audit_log.record(tx, organization_id, "card", new.id, REPLACES, by=by, at=at, was=old.number, reason=reason)
    told.append(replaced(was, becomes, old.external_id, at=at, reason=reason))
    await webhooks.emit(tx, organization_id, told, at=at)
    return new


async def move_tickets(
    tx: Tx,
    organization_id: UUID,
    tickets: Sequence[LockedTicket],
    old: tuple[UUID, str],
    new: tuple[UUID, str],
    *,
    by: str,
    at: datetime,
    reason: str,
) -> list[Message]:
    """Move those of a card's tickets that are unused to another card; what is to be told of it.

    Each card is given by id and number. The tickets are locked, and so are both cards.
    """
    moved = [ticket for ticket in tickets if ticket.activated_at is None]
    await tx.run(MOVE_TICKETS, organization_id, [ticket.id for ticket in moved], new[0], at)
    for ticket in moved:
        await audit_log.record(
            tx, organization_id, "ticket", ticket.id, "moved to another card", by=by, at=at,
            was=old[1], becomes=new[1], reason=reason,
        )  # fmt: skip
    return [transferred(ticket.id, ticket.event_id, old, new, at=at) for ticket in moved]


# The holder's address goes with it.
MOVE_HOLDER: Final = """
    UPDATE card_holder
       SET card_id = $3
     WHERE organization_id = $1
       AND card_id = $2
"""

MOVE_EXTERNAL_ID: Final = """
    UPDATE card_external_id
       SET card_id = $3
     WHERE organization_id = $1
       AND card_id = $2
"""

MOVE_TICKETS: Final = """
    UPDATE ticket
       SET card_id = $3, changed_at = $4
     WHERE organization_id = $1
       AND id = ANY ($2)
       AND activated_at IS NULL
       AND cancelled_at IS NULL
"""
