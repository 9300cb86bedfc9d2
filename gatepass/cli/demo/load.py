"""Filling an event with cards and tickets by COPY, up to ten million of them.

Two lanes work at a time, each with categories of its own: a category's row is locked until the batch that
takes places in it commits, so lanes that shared one would only take turns.
"""

import asyncio
import gc
import secrets
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from math import ceil
from typing import Final
from uuid import UUID

from gatepass.base.database import Database
from gatepass.domain import tickets
from gatepass.domain.cards import SERIALS
from gatepass.domain.organizations import Organization
from gatepass.domain.tickets.loading import LoadedTicket

# Larger ones load no faster and only make the progress bar jump.
BATCH: Final = 20_000
# More than that is of no use in the demo's JSON.
SHOWN: Final = 1000


async def fill(
    db: Database,
    organization: Organization,
    event_id: UUID,
    lanes: Sequence[Sequence[UUID]],
    count: int,
    *,
    at: datetime,
    loaded: Callable[[int], None],
) -> list[LoadedTicket]:
    """Make `count` cards with a ticket each, and tell `loaded` of every batch; some of them, at most SHOWN."""
    first_serial = secrets.randbelow(SERIALS - count)
    batch = min(BATCH, ceil(count / len(lanes)))
    starts = iter(range(0, count, batch))

    async def lane(categories: Sequence[UUID]) -> list[LoadedTicket]:
        shown: list[LoadedTicket] = []
        for start in starts:
            size = min(batch, count - start)
            async with db.transaction() as tx:
                made = await tickets.load(
                    tx,
                    organization.id,
                    event_id,
                    categories,
                    size,
                    prefix=organization.card_prefix,
                    at=at,
                    first_serial=first_serial + start,
                )
            shown += made[: SHOWN // len(lanes) - len(shown)]
            loaded(size)
        return shown

    with _without_collector():
        return [one for shown in await asyncio.gather(*map(lane, lanes)) for one in shown]


@contextmanager
def _without_collector() -> Generator[None]:
    """A batch is a hundred thousand small objects that die together; looking for cycles among them costs a fifth."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
