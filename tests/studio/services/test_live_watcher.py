"""The watcher of a live page, when its figures differ from the table, and without a database."""

import asyncio
from datetime import timedelta
from uuid import UUID

from gatepass.base.ids import new_id
from gatepass.domain.keys import Mode
from gatepass.studio.services.live_watcher import COUNT_EVERY, EventRef, LiveWatcher
from gatepass.studio.services.metrics import Metrics
from tests import factory
from tests.factory import now

ANYTHING = UUID(int=1)


def watcher_of(tenant: factory.Tenant, metrics: Metrics) -> LiveWatcher:
    return LiveWatcher(tenant.db, now, EventRef(tenant.id, Mode.LIVE, tenant.event_id), metrics)


async def test_a_count_that_disagrees_is_told_and_believed(tenant: factory.Tenant) -> None:
    """A scan from before the lookback, which no read finds: a clock was wrong by half an hour."""
    metrics = Metrics()
    watcher = watcher_of(tenant, metrics)
    await watcher.look()
    async with tenant.db.transaction() as tx:
        await tx.run(
            "INSERT INTO scan (organization_id, at, id, mode, key_id, event_id, card_number, verdict)"
            " VALUES ($1, $2, $3, 'live', $3, $4, 'SVC 1', 'expired')",
            tenant.id,
            now() - timedelta(minutes=30),
            new_id(),
            tenant.event_id,
        )
    await watcher.look()
    assert watcher.figures is not None
    assert watcher.figures.tally.verdicts.total() == 0
    assert metrics.disagreements._value.get() == 0
    watcher._counted_at -= COUNT_EVERY
    await watcher.look()
    assert watcher.figures.tally.verdicts.total() == 1
    assert metrics.disagreements._value.get() == 1


async def test_a_look_that_is_new_enough_is_not_repeated(tenant: factory.Tenant) -> None:
    watcher = watcher_of(tenant, Metrics())
    await watcher.look()
    seen = watcher._tally_now.seen
    await tenant.card()
    await watcher.look(if_older_than=60)
    assert watcher._tally_now.seen == seen
    await watcher.look()
    assert watcher.figures is not None
    assert watcher.figures.tally.total_expected == 1


async def test_without_a_database_listeners_are_told_so_and_nothing_breaks() -> None:
    away = factory.database("postgresql://nobody@127.0.0.1:1/nothing", deadline=1)
    watcher = LiveWatcher(away, now, EventRef(ANYTHING, Mode.LIVE, ANYTHING), Metrics())
    listener = asyncio.Event()
    watcher.join(listener)
    await asyncio.wait_for(listener.wait(), 60)
    assert (watcher.figures, watcher.version) == (None, 1)
    await watcher.close()
