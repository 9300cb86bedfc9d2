"""A record that comes after its claim has lapsed changes nothing: the attempt number is the fence.

A worker that lives gives up before that. But one that was killed may leave its record with PostgreSQL, which goes on
with it whenever it can.
"""

from pathlib import Path

import pytest

from tests.faults.webhooks.doomed import Failpoint, Pace
from tests.faults.webhooks.place import Place, opened
from tests.faults.webhooks.witness import Barrier
from tests.postgres import Cluster
from tests.receivers import receiver_process

pytestmark = pytest.mark.slow

PACE = Pace()


async def test_a_record_that_comes_too_late_changes_nothing(syncing_cluster: Cluster, tmp_path: Path) -> None:
    async with opened(syncing_cluster, "late_record", tmp_path) as place, Barrier.closed(place.url) as barrier:
        with receiver_process(log=tmp_path / "received", options=["--delay", "0.02"]) as receiver:
            await place.house.endpoint(receiver.url)
            await place.house.tell()
            first = await place.doom_worker(Failpoint.RECORDING, 1, PACE, stops_at="deletion")
            record_of_first = await barrier.somebody_waits()
            first.kill()
            await first.died()
            await lapse(place)
            second = await place.doom_worker(Failpoint.SENT, 1, PACE)
            await second.died()
            assert await delivery(place) == ("pending", 0, 2)
            await barrier.let_go(record_of_first)
            assert await delivery(place) == ("pending", 0, 2), "the claim is the second one's, although that is dead"
            await lapse(place)
            await place.doom_worker(Failpoint.ANYWHERE, 0, PACE)
            await place.drained(within=20)
            assert [attempt for _, attempt, _, _ in receiver.received()] == [1, 2, 3]
        assert await delivery(place) == ("delivered", 3, None)


async def lapse(place: Place) -> None:
    """Let the claim lapse, as time would."""
    async with place.db.transaction() as tx:
        await tx.run("UPDATE webhook_queue SET next_at = now() WHERE organization_id = $1", place.house.id)


async def delivery(place: Place) -> tuple[str, int, int | None]:
    """The state of the only one, the attempts that it counts, and the number of its last claim."""
    async with place.db.reading() as tx:
        (row,) = await tx.rows(
            "SELECT d.state, d.attempts, q.attempt FROM webhook_delivery d LEFT JOIN webhook_queue q"
            " ON q.organization_id = d.organization_id AND q.delivery_id = d.id WHERE d.organization_id = $1",
            place.house.id,
        )
    return row[0], row[1], row[2]
