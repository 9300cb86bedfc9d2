"""Reading tickets: of an event page by page, of a card, and one by its id or by its reference."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.cards import CardStatus
from gatepass.domain.tickets.ticket import TicketNotFound, TicketState

# No index has the state of a ticket (an activation must stay a HOT update), so a page that filters by state reads at
# most this many tickets, and the next page goes on from there.
LOOKED_THROUGH: Final = 5_000
LAST_ID: Final = UUID(int=2**128 - 1)
FIRST_ID: Final = UUID(int=0)
MOST_OF_A_CARD: Final = 200


@dataclass(frozen=True, slots=True)
class ListedTicket:
    id: UUID
    event_id: UUID
    event_title: str
    category_id: UUID
    category_name: str
    tier: str
    card_id: UUID
    card_number: str
    card_status: CardStatus
    name: str | None
    email: str | None
    reference: str | None
    issued_at: datetime
    activated_at: datetime | None
    activated_gate: str | None
    cancelled_at: datetime | None
    cancel_reason: str | None

    @property
    def state(self) -> TicketState:
        if self.cancelled_at is not None:
            return TicketState.CANCELLED
        return TicketState.ISSUED if self.activated_at is None else TicketState.ACTIVATED


async def of_event(
    tx: Tx,
    organization_id: UUID,
    event_id: UUID,
    *,
    category_id: UUID | None = None,
    state: TicketState | None = None,
    before: UUID | None = None,
    limit: int,
) -> tuple[list[ListedTicket], UUID | None]:
    """Tickets, newest first, and where the next page begins. With a state a page may be short and not the last."""
    place = before or LAST_ID
    looked = LOOKED_THROUGH if state else limit + 1
    if category_id is None:
        rows = await tx.rows(LOOK, organization_id, event_id, place, looked, state, limit + 1)
    else:
        rows = await tx.rows(LOOK_IN_CATEGORY, organization_id, event_id, place, looked, state, limit + 1, category_id)
    ids = [row["id"] for row in rows[:limit] if row["id"] is not None]
    found = await tx.all(ListedTicket, BY_IDS, organization_id, ids)
    if len(rows) > limit:
        return found, ids[-1]
    seen, last = (rows[0]["looked"], rows[0]["last"]) if rows else (0, None)
    return found, last if state and seen == looked else None


async def export_some(
    tx: Tx, organization_id: UUID, event_id: UUID, *, after: UUID | None, limit: int
) -> list[ListedTicket]:
    """Tickets of an event after this one, oldest first."""
    rows = await tx.rows(OLDEST, organization_id, event_id, after or FIRST_ID, limit)
    found = await tx.all(ListedTicket, BY_IDS, organization_id, [row["id"] for row in rows])
    return found[::-1]


async def of_card(tx: Tx, organization_id: UUID, card_id: UUID) -> list[ListedTicket]:
    """The tickets that this card holds, newest first."""
    rows = await tx.rows(OF_CARD, organization_id, card_id, MOST_OF_A_CARD)
    return await tx.all(ListedTicket, BY_IDS, organization_id, [row["id"] for row in rows])


async def find(tx: Tx, organization_id: UUID, ticket_id: UUID) -> ListedTicket:
    found = await tx.one(ListedTicket, BY_IDS, organization_id, [ticket_id])
    if found is None:
        raise TicketNotFound("There is no such ticket.")
    return found


async def find_by_reference(tx: Tx, organization_id: UUID, reference: str, *, limit: int) -> list[ListedTicket]:
    """Tickets with this reference of the organizer, at most one for each event."""
    rows = await tx.rows(BY_REFERENCE, organization_id, reference, limit)
    return await tx.all(ListedTicket, BY_IDS, organization_id, [row["ticket_id"] for row in rows])


BY_IDS: Final = """
    SELECT t.id, t.event_id, e.title AS event_title, t.category_id, k.name AS category_name, k.tier, t.card_id,
           c.number AS card_number, c.status AS card_status, h.name, h.email, t.issued_at, t.activated_at,
           t.activated_gate, t.cancelled_at, t.cancel_reason,
           (SELECT r.reference
              FROM ticket_reference r
             WHERE r.organization_id = $1
               AND r.ticket_id = t.id
             LIMIT 1) AS reference
      FROM ticket t
      JOIN event e ON e.organization_id = t.organization_id AND e.id = t.event_id
      JOIN ticket_category k ON k.organization_id = t.organization_id AND k.id = t.category_id
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
      LEFT JOIN card_holder h ON h.organization_id = t.organization_id AND h.card_id = t.card_id
     WHERE t.organization_id = $1
       AND t.id = ANY ($2)
     ORDER BY t.id DESC
"""

# It compares hashes, because the index is on them. Each row also has how many tickets were read and the last of them;
# if none matches, there is one row with only that.
LOOK: Final = """
    WITH looked AS MATERIALIZED (
        SELECT t.id,
               CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled'
                    WHEN t.activated_at IS NOT NULL THEN 'activated'
                    ELSE 'issued' END AS state
          FROM ticket t
         WHERE t.organization_id = $1
           AND uuid_hash(t.event_id) = uuid_hash($2)
           AND t.event_id = $2
           AND t.id < $3
         ORDER BY t.id DESC
         LIMIT $4
    ),
    span AS (
        SELECT count(*) AS looked, (array_agg(l.id ORDER BY l.id))[1] AS last FROM looked l
    )
    SELECT f.id, s.looked, s.last
      FROM span s
      LEFT JOIN (SELECT l.id
                   FROM looked l
                  WHERE $5::text IS NULL OR l.state = $5
                  ORDER BY l.id DESC
                  LIMIT $6) f ON true
     ORDER BY f.id DESC
"""

LOOK_IN_CATEGORY: Final = """
    WITH looked AS MATERIALIZED (
        SELECT t.id,
               CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled'
                    WHEN t.activated_at IS NOT NULL THEN 'activated'
                    ELSE 'issued' END AS state
          FROM ticket t
         WHERE t.organization_id = $1
           AND uuid_hash(t.category_id) = uuid_hash($7)
           AND t.category_id = $7
           AND t.event_id = $2
           AND t.id < $3
         ORDER BY t.id DESC
         LIMIT $4
    ),
    span AS (
        SELECT count(*) AS looked, (array_agg(l.id ORDER BY l.id))[1] AS last FROM looked l
    )
    SELECT f.id, s.looked, s.last
      FROM span s
      LEFT JOIN (SELECT l.id
                   FROM looked l
                  WHERE $5::text IS NULL OR l.state = $5
                  ORDER BY l.id DESC
                  LIMIT $6) f ON true
     ORDER BY f.id DESC
"""

OLDEST: Final = """
    SELECT t.id
      FROM ticket t
     WHERE t.organization_id = $1
       AND uuid_hash(t.event_id) = uuid_hash($2)
       AND t.event_id = $2
       AND t.id > $3
     ORDER BY t.id
     LIMIT $4
"""

OF_CARD: Final = """
    SELECT t.id
      FROM ticket t
     WHERE t.organization_id = $1
       AND t.card_id = $2
     LIMIT $3
"""

BY_REFERENCE: Final = """
    SELECT r.ticket_id
      FROM ticket_reference r
     WHERE r.organization_id = $1
       AND r.reference = $2
     LIMIT $3
"""
