"""Reading tickets: page by page, with filters; all of an event, of a card, and one by its id."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import ClassVar, Final, LiteralString
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import digest_of
from gatepass.domain.cards import CardStatus
from gatepass.domain.tickets.ticket import TicketNotFound, TicketState
from gatepass.domain.visibility import EMAIL, NAME, NUMBER, Columns

# No index has the state of a ticket (an activation must stay a HOT update), so a page with a filter reads at most
# this many tickets, and the next page goes on from there.
LOOKED_THROUGH: Final = 5_000
LAST_ID: Final = UUID(int=2**128 - 1)
FIRST_ID: Final = UUID(int=0)
MOST_OF_A_CARD: Final = 200


@dataclass(frozen=True, slots=True)
class ListedTicket:
    guest: ClassVar[Columns] = {"card_number": NUMBER, "name": NAME, "email": EMAIL}

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
    external_id: str | None
    issued_at: datetime
    updated_at: datetime
    activated_at: datetime | None
    activated_gate: str | None
    activated_scanner_id: str | None
    cancelled_at: datetime | None
    cancel_reason: str | None

    @property
    def state(self) -> TicketState:
        if self.cancelled_at is not None:
            return TicketState.CANCELLED
        return TicketState.ISSUED if self.activated_at is None else TicketState.ACTIVATED

    @property
    def version(self) -> str:
        """Another one after every change of what is shown of it."""
        return digest_of(*astuple(self)).hex


@dataclass(frozen=True, slots=True)
class TicketFilter:
    """The tickets that a list shows. A category is always one of an event."""

    event_id: UUID | None = None
    category_id: UUID | None = None
    card_id: UUID | None = None
    external_id: str | None = None
    state: TicketState | None = None
    updated_after: datetime | None = None


async def list_tickets(
    tx: Tx, organization_id: UUID, wanted: TicketFilter, *, before: UUID | None = None, limit: int
) -> tuple[list[ListedTicket], UUID | None]:
    """Tickets, newest first, and where the next page begins. With a filter a page may be short and not the last."""
    filtered = wanted.state is not None or wanted.updated_after is not None
    looked = LOOKED_THROUGH if filtered else limit + 1
    statement, base = _statement(wanted)
    here = (organization_id, before or LAST_ID, looked, wanted.state, wanted.updated_after, limit + 1)
    rows = await tx.rows(statement, *here, *base)
    ids = [row["id"] for row in rows[:limit] if row["id"] is not None]
    found = await tx.all(ListedTicket, BY_IDS, organization_id, ids)
    if len(rows) > limit:
        return found, ids[-1]
    seen, last = (rows[0]["looked"], rows[0]["last"]) if rows else (0, None)
    return found, last if filtered and seen == looked else None


def _statement(wanted: TicketFilter) -> tuple[LiteralString, tuple[UUID | str | None, ...]]:
    """The statement with the narrowest index that fits, and the values for it."""
    if wanted.external_id is not None:
        return LOOK_BY_EXTERNAL_ID, (wanted.event_id, wanted.card_id, wanted.external_id)
    if wanted.card_id is not None:
        return LOOK_ON_CARD, (wanted.event_id, wanted.card_id)
    if wanted.category_id is not None:
        return LOOK_IN_CATEGORY, (wanted.event_id, wanted.category_id)
    return (LOOK, ()) if wanted.event_id is None else (LOOK_IN_EVENT, (wanted.event_id,))


async def find_all(tx: Tx, organization_id: UUID, ticket_ids: Sequence[UUID]) -> dict[UUID, ListedTicket]:
    return {found.id: found for found in await tx.all(ListedTicket, BY_IDS, organization_id, list(ticket_ids))}


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


# Each look-up stands in a LATERAL … OFFSET 0, and the organization in a SELECT of its own, so that the planner uses the
# whole key of an index. If it saw the value, it would believe that an organization which is younger than the statistics
# has one row, and read all of them for each ticket: ten seconds for a batch.
BY_IDS: Final = """
    SELECT t.id, t.event_id, e.title AS event_title, t.category_id, k.name AS category_name, k.tier, t.card_id,
           c.number AS card_number, c.status AS card_status, h.name, h.email, t.issued_at, t.activated_at,
           t.activated_gate, t.activated_scanner_id, t.cancelled_at, t.cancel_reason,
           greatest(t.issued_at, t.activated_at, t.cancelled_at, t.changed_at) AS updated_at,
           (SELECT r.reference
              FROM ticket_reference r
             WHERE r.organization_id = (SELECT $1::uuid)
               AND r.ticket_id = t.id
             LIMIT 1) AS external_id
      FROM unnest($2::uuid[]) u (id)
     CROSS JOIN LATERAL (SELECT x.*
                           FROM ticket x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.id = u.id
                         OFFSET 0) t
     CROSS JOIN LATERAL (SELECT x.title
                           FROM event x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.id = t.event_id
                         OFFSET 0) e
     CROSS JOIN LATERAL (SELECT x.name, x.tier
                           FROM ticket_category x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.id = t.category_id
                         OFFSET 0) k
     CROSS JOIN LATERAL (SELECT x.number, x.status
                           FROM card x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.id = t.card_id
                         OFFSET 0) c
      LEFT JOIN LATERAL (SELECT x.name, x.email
                           FROM card_holder x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.card_id = t.card_id
                         OFFSET 0) h ON true
     ORDER BY t.id DESC
"""

# A page is read in two steps: at most $3 tickets are looked through, and of those that match at most $6 are shown. Each
# row also has how many tickets were read and the last of them; if none matches, there is one row with only that.
LOOKED: Final = """
               t.id, greatest(t.issued_at, t.activated_at, t.cancelled_at, t.changed_at) AS updated_at,
               CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled'
                    WHEN t.activated_at IS NOT NULL THEN 'activated'
                    ELSE 'issued' END AS state
          FROM
"""
MATCHING: Final = """
           AND t.id < $2
         ORDER BY t.id DESC
         LIMIT $3
    ),
    span AS (
        SELECT count(*) AS looked, (array_agg(l.id ORDER BY l.id))[1] AS last FROM looked l
    )
    SELECT f.id, s.looked, s.last
      FROM span s
      LEFT JOIN (SELECT l.id
                   FROM looked l
                  WHERE ($4::text IS NULL OR l.state = $4)
                    AND ($5::timestamptz IS NULL OR l.updated_at > $5)
                  ORDER BY l.id DESC
                  LIMIT $6) f ON true
     ORDER BY f.id DESC
"""

LOOK: Final = "WITH looked AS MATERIALIZED (SELECT " + LOOKED + " ticket t WHERE t.organization_id = $1" + MATCHING

# It compares hashes, because the index is on them.
LOOK_IN_EVENT: Final = "WITH looked AS MATERIALIZED (SELECT " + LOOKED + """
               ticket t
         WHERE t.organization_id = $1
           AND uuid_hash(t.event_id) = uuid_hash($7)
           AND t.event_id = $7
""" + MATCHING  # fmt: skip

LOOK_IN_CATEGORY: Final = "WITH looked AS MATERIALIZED (SELECT " + LOOKED + """
               ticket t
         WHERE t.organization_id = $1
           AND uuid_hash(t.category_id) = uuid_hash($8)
           AND t.category_id = $8
           AND t.event_id = $7
""" + MATCHING  # fmt: skip

# OFFSET 0, so that no plan walks through all tickets in their order.
LOOK_ON_CARD: Final = "WITH looked AS MATERIALIZED (SELECT " + LOOKED + """
               (SELECT x.*
                  FROM ticket x
                 WHERE x.organization_id = $1
                   AND x.card_id = $8
                OFFSET 0) t
         WHERE ($7::uuid IS NULL OR t.event_id = $7)
""" + MATCHING  # fmt: skip

LOOK_BY_EXTERNAL_ID: Final = "WITH looked AS MATERIALIZED (SELECT " + LOOKED + """
               (SELECT x.*
                  FROM ticket_reference r
                  JOIN ticket x ON x.organization_id = r.organization_id AND x.id = r.ticket_id
                 WHERE r.organization_id = $1
                   AND r.reference = $9
                OFFSET 0) t
         WHERE ($7::uuid IS NULL OR t.event_id = $7)
           AND ($8::uuid IS NULL OR t.card_id = $8)
""" + MATCHING  # fmt: skip

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
