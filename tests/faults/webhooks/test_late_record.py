"""A record that comes after its claim has lapsed changes nothing: the attempt number is the fencing token.

A live worker gives up before that. But a killed one may leave its record with PostgreSQL, which runs it when it can.
"""

from pathlib import Path

from tests.faults.webhooks.claim_log import Barrier
from tests.faults.webhooks.crash_points import Failpoint, Pace
from tests.faults.webhooks.sandboxed_stack import Stack, opened
from tests.postgres import Cluster
from tests.receivers import receiver_process

PACE = Pace()


async def test_a_record_that_comes_too_late_changes_nothing(syncing_cluster: Cluster, tmp_path: Path) -> None:
    async with opened(syncing_cluster, "late_record", tmp_path) as stack, Barrier.closed(stack.url) as barrier:
        with receiver_process(log=tmp_path / "received", options=["--delay", "0.02"]) as receiver:
            await stack.tenant.endpoint(receiver.url)
            await stack.tenant.tell()
            first = await stack.start_crashing_worker(Failpoint.RECORDING, 1, PACE, stops_at="deletion")
            record_of_first = await barrier.wait_for_arrival()
            first.kill()
            await first.died()
            await lapse(stack)
            second = await stack.start_crashing_worker(Failpoint.SENT, 1, PACE)
            await second.died()
            assert await delivery(stack) == ("pending", 0, 2)
            await barrier.release(record_of_first)
            assert await delivery(stack) == ("pending", 0, 2), "the claim is the second one's, although that is dead"
            await lapse(stack)
            await stack.start_crashing_worker(Failpoint.ANYWHERE, 0, PACE)
            await stack.drained(within=60)
            assert [attempt for _, attempt, _, _ in receiver.received()] == [1, 2, 3]
        assert await delivery(stack) == ("delivered", 3, None)


async def lapse(stack: Stack) -> None:
    """Let the claim lapse."""
    async with stack.db.transaction() as tx:
        await tx.run("UPDATE webhook_queue SET next_at = now() WHERE organization_id = $1", stack.tenant.id)


async def delivery(stack: Stack) -> tuple[str, int, int | None]:
    """The state of the only delivery, its count of attempts, and the number of its last claim."""
    async with stack.db.autocommit() as tx:
        (row,) = await tx.rows(
            "SELECT d.state, d.attempts, q.attempt FROM webhook_delivery d LEFT JOIN webhook_queue q"
            " ON q.organization_id = d.organization_id AND q.delivery_id = d.id WHERE d.organization_id = $1",
            stack.tenant.id,
        )
    return row[0], row[1], row[2]
