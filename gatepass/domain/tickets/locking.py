"""Locking tickets, and what is sold, before anything is decided about them: see `cards/locking.py`."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.tickets.situation import LOCK_CATEGORIES, LOCK_EVENTS
from gatepass.domain.tickets.ticket import TicketCancelled, TicketNotFound


@dataclass(frozen=True, slots=True)
class LockedTicket:
    id: UUID
    event_id: UUID
    category_id: UUID
    card_id: UUID
    activated_at: datetime | None
    cancelled_at: datetime | None


async def lock_ticket(tx: Tx, organization_id: UUID, ticket_id: UUID) -> LockedTicket:
    """The ticket as it is now, which stays so until the transaction ends. It is not cancelled."""
    ticket = await tx.one(LockedTicket, LOCK, organization_id, ticket_id)
    if ticket is None:
        raise TicketNotFound("There is no such ticket.")
    if ticket.cancelled_at is not None:
        raise TicketCancelled
    return ticket


async def lock_sold_ticket(tx: Tx, organization_id: UUID, ticket_id: UUID) -> LockedTicket:
    """The same, after its event and its category, whose place it takes. A ticket never gets others."""
    rows = await tx.rows(SOLD, organization_id, ticket_id)
    if not rows:
        raise TicketNotFound("There is no such ticket.")
    await tx.run(LOCK_EVENTS, organization_id, [rows[0]["event_id"]])
    await tx.run(LOCK_CATEGORIES, organization_id, [rows[0]["category_id"]])
    return await lock_ticket(tx, organization_id, ticket_id)


async def lock_tickets_of_card(tx: Tx, organization_id: UUID, card_id: UUID) -> list[LockedTicket]:
    """The tickets of this card that are not cancelled, used or not."""
    return await tx.all(LockedTicket, LOCK_OF_CARD, organization_id, card_id)


async def numbers_of(tx: Tx, organization_id: UUID, card_ids: Collection[UUID]) -> dict[UUID, str]:
    """The numbers of cards, after their tickets were locked: a statement that waits for a ticket does not see them."""
    rows = await tx.rows(NUMBERS, organization_id, sorted(set(card_ids)))
    return {row["id"]: row["number"] for row in rows}


LOCK: Final = """
    SELECT id, event_id, category_id, card_id, activated_at, cancelled_at
      FROM ticket
     WHERE organization_id = $1
       AND id = $2
       FOR NO KEY UPDATE
"""

SOLD: Final = """
    SELECT event_id, category_id
      FROM ticket
     WHERE organization_id = $1
       AND id = $2
"""

# All categories of an event, removed ones too.
LOCK_PLACES: Final = """
    SELECT id
      FROM ticket_category
     WHERE organization_id = $1
       AND event_id = $2
     ORDER BY id
       FOR NO KEY UPDATE
"""

# In the order in which scans lock them.
LOCK_OF_CARD: Final = """
    SELECT id, event_id, category_id, card_id, activated_at, cancelled_at
      FROM ticket
     WHERE organization_id = $1
       AND card_id = $2
       AND cancelled_at IS NULL
     ORDER BY id
       FOR NO KEY UPDATE
"""

# Look-ups as in `situation.py`.
NUMBERS: Final = """
    SELECT c.id, c.number
      FROM unnest($2::uuid[]) u (id)
     CROSS JOIN LATERAL (SELECT x.id, x.number
                           FROM card x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.id = u.id
                         OFFSET 0) c
"""
