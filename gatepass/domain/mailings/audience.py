"""Who would get a letter: counted before anything is sent, and found batch by batch while it is.

A card has its letter if one about this event waits or was sent. A refused one counts too, until the address is another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.mailings.card_letters import Recipient


@dataclass(frozen=True, slots=True)
class Audience:
    """Cards with a ticket in use. `have_letter` are of those with an address. `chosen`: they are sent all the same."""

    cards: int
    with_address: int
    have_letter: int
    chosen: bool = False

    @property
    def without_address(self) -> int:
        return self.cards - self.with_address

    @property
    def to_send(self) -> int:
        return self.with_address if self.chosen else self.with_address - self.have_letter


async def count(tx: Tx, organization_id: UUID, event_id: UUID, ticket_ids: Sequence[UUID] | None) -> Audience:
    if ticket_ids is None:
        (row,) = await tx.rows(COUNT, organization_id, event_id)
    else:
        (row,) = await tx.rows(COUNT_CHOSEN, organization_id, event_id, list(ticket_ids))
    return Audience(row["cards"], row["with_address"], row["have_letter"], chosen=ticket_ids is not None)


async def next_recipients(
    tx: Tx, organization_id: UUID, event_id: UUID, ticket_ids: Sequence[UUID] | None, after: UUID, most: int
) -> list[Recipient]:
    """The next tickets in use, by id, whoever holds them."""
    if ticket_ids is None:
        return await tx.all(Recipient, NEXT, organization_id, event_id, after, most)
    return await tx.all(Recipient, NEXT_CHOSEN, organization_id, event_id, after, most, list(ticket_ids))


async def example(tx: Tx, organization_id: UUID, event_id: UUID, ticket_ids: Sequence[UUID] | None) -> Recipient | None:
    """Somebody whose letter can be shown before it is sent."""
    found = await next_recipients(tx, organization_id, event_id, ticket_ids, UUID(int=0), 50)
    return next((one for one in found if one.address is not None), None)


# The holder of each ticket in use on an active card. By the hash of the event: see the index `ticket_of_event`.
OF_EVENT: Final = """
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id AND c.status = 'active'
      LEFT JOIN card_holder h ON h.organization_id = t.organization_id AND h.card_id = t.card_id
     CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM letter l
                                         WHERE l.organization_id = t.organization_id
                                           AND l.card_id = t.card_id
                                           AND l.event_id = t.event_id
                                           AND l.kind = 'card'
                                           AND (l.state IN ('waiting', 'sending', 'sent')
                                             OR l.state IN ('refused', 'bounced')
                                            AND lower(l.address) = lower(h.email))) AS is_there) letter
     WHERE t.organization_id = $1
       AND uuid_hash(t.event_id) = uuid_hash($2)
       AND t.event_id = $2
       AND t.cancelled_at IS NULL
"""
FIGURES: Final = """
    SELECT count(*) AS cards, count(h.email) AS with_address,
           count(*) FILTER (WHERE h.email IS NOT NULL AND letter.is_there) AS have_letter
"""
COLUMNS: Final = """
    SELECT t.id AS ticket_id, t.card_id, c.number, h.name, h.email, h.locale, letter.is_there AS has_letter
"""

COUNT: Final = FIGURES + OF_EVENT
COUNT_CHOSEN: Final = FIGURES + OF_EVENT + """
       AND t.id = ANY($3::uuid[])
"""  # fmt: skip

NEXT: Final = COLUMNS + OF_EVENT + """
       AND t.id > $3
     ORDER BY t.id
     LIMIT $4
"""  # fmt: skip

NEXT_CHOSEN: Final = COLUMNS + OF_EVENT + """
       AND t.id > $3
       AND t.id = ANY($5::uuid[])
     ORDER BY t.id
     LIMIT $4
"""  # fmt: skip
