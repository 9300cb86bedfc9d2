"""Which cards go into a file: those of an event, of one category, or chosen ones; always with an unused ticket.

A ticket that is used or cancelled, or whose card is out of use, opens no gate. Its card is left out, and counted.
"""

from dataclasses import dataclass
from typing import Final, LiteralString
from uuid import UUID

from gatepass.base.database import Tx


@dataclass(frozen=True, slots=True)
class Selection:
    """Without either, all of the event."""

    category_id: UUID | None = None
    ticket_ids: list[UUID] | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """`usable` go into the file. Of a larger selection than was asked for, as many as were looked at."""

    usable: int
    used: int
    cancelled: int
    out_of_use: int

    @property
    def looked_at(self) -> int:
        return self.usable + self.used + self.cancelled + self.out_of_use


@dataclass(frozen=True, slots=True)
class SelectedCard:
    ticket_id: UUID
    card_id: UUID
    number: str
    category: str
    name: str | None


async def count(tx: Tx, organization_id: UUID, event_id: UUID, selection: Selection, *, most: int) -> Counted:
    """How many cards there are, of at most `most` tickets."""
    counted = await tx.one(Counted, *_placed(COUNT, selection), organization_id, event_id, most, _value(selection))
    return counted or Counted(0, 0, 0, 0)


async def usable_after(
    tx: Tx, organization_id: UUID, event_id: UUID, selection: Selection, *, after: UUID, limit: int
) -> list[SelectedCard]:
    """The next cards, in the order in which their tickets were made."""
    statement = _placed(USABLE, selection)
    return await tx.all(SelectedCard, *statement, organization_id, event_id, limit, _value(selection), after)


def _placed(by_place: dict[str, LiteralString], selection: Selection) -> tuple[LiteralString]:
    """The statement that goes by the narrowest index."""
    if selection.ticket_ids is not None:
        return (by_place["chosen"],)
    return (by_place["category" if selection.category_id is not None else "event"],)


def _value(selection: Selection) -> UUID | list[UUID] | None:
    return selection.ticket_ids if selection.ticket_ids is not None else selection.category_id


# It compares hashes, because the indexes are on them.
OF_EVENT: Final = """
                 WHERE t.organization_id = $1
                   AND uuid_hash(t.event_id) = uuid_hash($2)
                   AND t.event_id = $2
                   AND $4::uuid IS NULL
"""
OF_CATEGORY: Final = """
                 WHERE t.organization_id = $1
                   AND uuid_hash(t.category_id) = uuid_hash($4)
                   AND t.category_id = $4
                   AND t.event_id = $2
"""
CHOSEN: Final = """
                 WHERE t.organization_id = $1
                   AND t.id = ANY ($4::uuid[])
                   AND t.event_id = $2
"""

# Each look-up stands in a LATERAL … OFFSET 0, so that the planner uses the whole key of an index, as in the lists of
# tickets.
COUNTS: Final = """
           count(*) FILTER (WHERE l.activated_at IS NULL AND l.cancelled_at IS NULL AND c.status = 'active') AS usable,
           count(*) FILTER (WHERE l.activated_at IS NOT NULL AND l.cancelled_at IS NULL) AS used,
           count(*) FILTER (WHERE l.cancelled_at IS NOT NULL) AS cancelled,
           count(*) FILTER (WHERE l.activated_at IS NULL AND l.cancelled_at IS NULL
                              AND c.status <> 'active') AS out_of_use
      FROM (SELECT t.card_id, t.activated_at, t.cancelled_at
              FROM ticket t
"""
COUNTED: Final = """
             LIMIT $3) l
     CROSS JOIN LATERAL (SELECT x.status
                           FROM card x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.id = l.card_id
                         OFFSET 0) c
"""
COUNT_IN_EVENT: Final = "SELECT" + COUNTS + OF_EVENT + COUNTED
COUNT_IN_CATEGORY: Final = "SELECT" + COUNTS + OF_CATEGORY + COUNTED
COUNT_CHOSEN: Final = "SELECT" + COUNTS + CHOSEN + COUNTED
COUNT: Final[dict[str, LiteralString]] = {
    "event": COUNT_IN_EVENT, "category": COUNT_IN_CATEGORY, "chosen": COUNT_CHOSEN,
}  # fmt: skip

SELECTED: Final = """
           l.id AS ticket_id, l.card_id, l.number, k.name AS category, h.name
      FROM (SELECT t.id, t.card_id, t.category_id, c.number
              FROM ticket t
             CROSS JOIN LATERAL (SELECT x.number, x.status
                                   FROM card x
                                  WHERE x.organization_id = (SELECT $1::uuid)
                                    AND x.id = t.card_id
                                 OFFSET 0) c
"""
LIMITED: Final = """
                   AND t.id > $5
                   AND t.activated_at IS NULL
                   AND t.cancelled_at IS NULL
                   AND c.status = 'active'
             ORDER BY t.id
             LIMIT $3) l
     CROSS JOIN LATERAL (SELECT x.name
                           FROM ticket_category x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.id = l.category_id
                         OFFSET 0) k
      LEFT JOIN LATERAL (SELECT x.name
                           FROM card_holder x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.card_id = l.card_id
                         OFFSET 0) h ON true
     ORDER BY l.id
"""
USABLE_IN_EVENT: Final = "SELECT" + SELECTED + OF_EVENT + LIMITED
USABLE_IN_CATEGORY: Final = "SELECT" + SELECTED + OF_CATEGORY + LIMITED
USABLE_CHOSEN: Final = "SELECT" + SELECTED + CHOSEN + LIMITED
USABLE: Final[dict[str, LiteralString]] = {
    "event": USABLE_IN_EVENT, "category": USABLE_IN_CATEGORY, "chosen": USABLE_CHOSEN,
}  # fmt: skip
