"""Finding tickets by what people type: an external id in any case, or whatever finds the card."""

from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import cards
from gatepass.domain.tickets.listing import ListedTicket, find_all
from gatepass.domain.tickets.ticket import TicketState
from gatepass.domain.visibility import Sight

# A common name is on more cards than these; then the page says that there are more.
LOOKED_THROUGH: Final = 5_000
# Appended to a beginning, it sorts after every text that begins so, byte by byte.
HIGHEST: Final = "\U0010ffff"


async def find_by_reference(
    tx: Tx, organization_id: UUID, typed: str, *, event_id: UUID | None = None, limit: int
) -> list[ListedTicket]:
    """Tickets whose external id begins with this text, in any case."""
    rows = await tx.rows(BY_REFERENCE, organization_id, typed, typed + HIGHEST, event_id, limit)
    found = await find_all(tx, organization_id, [row["ticket_id"] for row in rows])
    return list(found.values())


async def search_in_event(
    tx: Tx,
    organization_id: UUID,
    event_id: UUID,
    typed: str,
    *,
    category_id: UUID | None = None,
    state: TicketState | None = None,
    sight: Sight,
    limit: int,
) -> tuple[list[ListedTicket], bool]:
    """The tickets of an event that this text finds, narrowed like a list of them, and whether there may be more."""
    by_number = await cards.find_by_number(tx, organization_id, typed)
    card_ids = (
        [by_number.id]
        if by_number
        else await cards.ids_by_text(tx, organization_id, typed, sight=sight, limit=LOOKED_THROUGH)
    )
    here = (organization_id, event_id, card_ids, limit + 1, category_id, state)
    rows = await tx.rows(OF_CARDS, *here) if card_ids else []
    found = await find_all(tx, organization_id, [row["id"] for row in rows])
    referred = await find_by_reference(tx, organization_id, typed, event_id=event_id, limit=limit + 1)
    for ticket in referred:
        if category_id in (None, ticket.category_id) and state in (None, ticket.state):
            found.setdefault(ticket.id, ticket)
    more = len(found) > limit or len(referred) > limit or len(card_ids) == LOOKED_THROUGH
    return list(found.values())[:limit], more


# LIKE with a parameter would not use the index; these two comparisons do, in any plan.
BY_REFERENCE: Final = """
    SELECT r.ticket_id
      FROM ticket_reference r
     WHERE r.organization_id = $1
       AND lower(r.reference) ~>=~ lower($2)
       AND lower(r.reference) ~<~ lower($3)
       AND ($4::uuid IS NULL OR r.event_id = $4)
     ORDER BY lower(r.reference) USING ~<~
     LIMIT $5
"""

OF_CARDS: Final = """
    SELECT t.id
      FROM unnest($3::uuid[]) u (card_id)
     CROSS JOIN LATERAL (SELECT x.id
                           FROM ticket x
                          WHERE x.organization_id = $1
                            AND x.card_id = u.card_id
                            AND x.event_id = $2
                            AND ($5::uuid IS NULL OR x.category_id = $5)
                            AND ($6::text IS NULL OR $6 = CASE WHEN x.cancelled_at IS NOT NULL THEN 'cancelled'
                                                               WHEN x.activated_at IS NOT NULL THEN 'activated'
                                                               ELSE 'issued' END)) t
     LIMIT $4
"""
