"""Load cards and tickets into an event by COPY, up to ten million of them.

Two loaders work at a time, each with categories of its own: a batch locks its category's row until it commits, so
loaders that shared a category would only take turns.
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
from gatepass.domain.tickets.bulk_load import LoadedTicket

# Larger batches load no faster and only make the progress bar jump.
BATCH: Final = 20_000
# The demo's JSON needs no more cards than this.
SHOWN: Final = 1000


async def load(
    db: Database,
    organization: Organization,
    event_id: UUID,
    category_groups: Sequence[Sequence[UUID]],
    count: int,
    *,
    at: datetime,
    loaded: Callable[[int], None],
) -> list[LoadedTicket]:
    """Make `count` cards with a ticket each, one loader for each group of categories; at most SHOWN of them.

    `loaded` is called with the size of every batch.
    """
    first_serial = secrets.randbelow(SERIALS - count)
    batch = min(BATCH, ceil(count / len(category_groups)))
    starts = iter(range(0, count, batch))

    async def loader(categories: Sequence[UUID]) -> list[LoadedTicket]:
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
            shown += made[: SHOWN // len(category_groups) - len(shown)]
            loaded(size)
        return shown

    with _without_collector():
        return [one for shown in await asyncio.gather(*map(loader, category_groups)) for one in shown]


@contextmanager
def _without_collector() -> Generator[None]:
    """A batch is a hundred thousand small objects that die together; looking for cycles among them costs a fifth."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
