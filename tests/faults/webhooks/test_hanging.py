"""A busy receiver hangs for longer than its claimed deliveries may wait, then answers again."""

from datetime import timedelta
from pathlib import Path

from tests.faults.gates import wait_for
from tests.faults.webhooks.crash_points import Failpoint, Pace
from tests.faults.webhooks.sandboxed_stack import opened
from tests.postgres import Cluster
from tests.receivers import hang, receiving

# An attempt may take 1.5 seconds, and begins within 2.5 seconds of its claim or not at all.
PACE = Pace(
    lease=timedelta(seconds=14), deadline=1.5, delays=[0.5] * 40, shortest_probe=timedelta(seconds=0.5)
)  # fmt: skip
MESSAGES = 3_000
# By then many are sent at a time, and as many again are claimed ahead.
UNTIL_BUSY = 1_000


async def test_it_is_served_again(syncing_cluster: Cluster, tmp_path: Path) -> None:
    async with opened(syncing_cluster, "hanging", tmp_path) as stack, receiving() as receiver:
        await stack.tenant.endpoint(receiver.url())
        await stack.tenant.tell(MESSAGES)
        await stack.start_crashing_worker(Failpoint.ANYWHERE, 0, PACE)
        await receiver.wait(UNTIL_BUSY)
        receiver.otherwise = hang

        async def has_lapsed() -> bool:
            return (
                await stack.value("SELECT failing_since < now() - interval '4 seconds' FROM webhook_endpoint") or False
            )

        await wait_for(has_lapsed, within=60)
        receiver.otherwise = 200
        await stack.drained(within=PACE.lease.total_seconds() + 30)
        assert len({message.headers["webhook-id"] for message in receiver.messages}) == MESSAGES
        assert stack.errors() == []
