"""Loading cards with their tickets by the hundred thousand: with COPY, one transaction for each batch."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain.cards import SERIALS, format_number
from gatepass.domain.tickets.ticket import SoldOut


@dataclass(frozen=True, slots=True)
class LoadedTicket:
    card_id: UUID
    card_number: str
    category_id: UUID


async def load(
    tx: Tx,
    organization_id: UUID,
    event_id: UUID,
    categories: Sequence[UUID],
    count: int,
    *,
    prefix: str,
    at: datetime,
    first_serial: int | None = None,
) -> list[LoadedTicket]:
    """Make `count` cards, each with a ticket, spread over the categories in turn.

    Serials count up from `first_serial`, so that a caller that loads many batches can keep them apart. Without it they
    start at a random number.
    """
    start = secrets.randbelow(SERIALS - count) if first_serial is None else first_serial
    made = [
        LoadedTicket(new_id(), format_number(prefix, start + n), categories[n % len(categories)]) for n in range(count)
    ]
    for n, category_id in enumerate(categories):
        places = len(range(n, count, len(categories)))
        if not await tx.run(TAKE_PLACES, organization_id, event_id, category_id, places):
            raise SoldOut
    await tx.copy(
        "card",
        ("organization_id", "id", "number", "issued_at"),
        [(organization_id, one.card_id, one.card_number, at) for one in made],
    )
    await tx.copy(
        "ticket",
        ("organization_id", "id", "event_id", "category_id", "card_id", "issued_at"),
        [(organization_id, new_id(), event_id, one.category_id, one.card_id, at) for one in made],
    )
    return made


TAKE_PLACES: Final = """
    UPDATE ticket_category
       SET quantity_sold = quantity_sold + $4
     WHERE organization_id = $1
       AND event_id = $2
       AND id = $3
       AND quantity_sold + $4 <= quantity_total
"""
