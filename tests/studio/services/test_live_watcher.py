"""A watch: what it does when the table is not what it kept, and when there is no table to ask."""

import asyncio
from datetime import timedelta
from uuid import UUID

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain.keys import Mode
from gatepass.studio.metrics import Metrics
from gatepass.studio.watch import COUNT_EVERY, Place, Watch
from tests import make
from tests.make import now

ANYTHING = UUID(int=1)


def watch_of(house: make.House, metrics: Metrics) -> Watch:
    return Watch(house.db, now, Place(house.id, Mode.LIVE, house.event_id), metrics)


async def test_a_count_that_disagrees_is_told_and_believed(house: make.House) -> None:
    """A scan from beyond the horizon, which no look can find: a clock was wrong by far."""
    metrics = Metrics()
    watch = watch_of(house, metrics)
    await watch.look()
    async with house.db.transaction() as tx:
        await tx.run(
            "INSERT INTO scan (organization_id, at, id, mode, key_id, event_id, card_number, verdict)"
            " VALUES ($1, $2, $3, 'live', $3, $4, 'SVC 1', 'expired')",
            house.id,
            now() - timedelta(minutes=30),
            new_id(),
            house.event_id,
        )
    await watch.look()
    assert watch.figures is not None
    assert watch.figures.tally.verdicts.total() == 0
    assert metrics.disagreements._value.get() == 0
    watch._counted_at -= COUNT_EVERY
    await watch.look()
    assert watch.figures.tally.verdicts.total() == 1
    assert metrics.disagreements._value.get() == 1


async def test_a_look_that_is_new_enough_is_not_repeated(house: make.House) -> None:
    watch = watch_of(house, Metrics())
    await watch.look()
    seen = watch._tally_now.seen
    await house.card()
    await watch.look(if_older_than=60)
    assert watch._tally_now.seen == seen
    await watch.look()
    assert watch.figures is not None
    assert watch.figures.tally.total_expected == 1


async def test_without_a_database_listeners_are_told_so_and_nothing_breaks() -> None:
    away = Database("postgresql://nobody@127.0.0.1:1/nothing", deadline=1)
    watch = Watch(away, now, Place(ANYTHING, Mode.LIVE, ANYTHING), Metrics())
    listener = asyncio.Event()
    watch.join(listener)
    await asyncio.wait_for(listener.wait(), 5)
    assert (watch.figures, watch.version) == (None, 1)
    await watch.close()
