"""Order: of one ticket the activation arrives before the cancellation, whatever fails; other tickets do not wait.

GATEPASS_FULL=1 is the full form, with 10,000 tickets.
"""

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from gatepass.api.responses import VERDICT_STATUSES
from gatepass.domain import tickets
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import Scan
from gatepass.domain.webhooks import MessageType
from tests import factory
from tests.factory import Tenant
from tests.faults.gates import load
from tests.faults.webhooks.crash_points import Failpoint, Pace
from tests.faults.webhooks.flaky_receiver import OK, PROFILES, Seen, flaky_receiver
from tests.faults.webhooks.sandboxed_stack import Stack, opened
from tests.postgres import Cluster
from tests.receivers import Received, Receiver, receiving
from tests.size import NIGHT, sized

TICKETS = sized(short=2_000, full=10_000)
BATCH = 50
WORKERS = 2
# Of each of the two workers, before the last ones, which are not killed.
KILLS = sized(short=3, full=10)
# A worker crashes when it passes its failpoint the n-th time; n is at most this.
LATEST = {Failpoint.CLAIMED: 50, Failpoint.SENT: 300, Failpoint.ANSWERED: 300}
# A schedule of seconds instead of hours, with more attempts, so that no message is given up. The rest is as in the
# product.
PACE = Pace(
    lease=timedelta(seconds=14),
    deadline=1.5,
    delays=(0.1, 0.3, *[1.0] * 40),
    shortest_probe=timedelta(seconds=0.2),
)
ACTIVATED, CANCELLED = MessageType.TICKET_ACTIVATED, MessageType.TICKET_CANCELLED
OTHER_TICKETS = 200
FAILURES = 4
# A cancellation whose activation is claimed by a worker may be tried again 5 seconds later.
FLOW_WITHIN = 10.0


async def activate_and_cancel(tenant: Tenant, numbers: Sequence[str]) -> list[UUID]:
    """Activate and cancel, a batch at a time; the tickets' ids."""
    key, ids = await tenant.key(), list[UUID]()
    for n in range(0, len(numbers), BATCH):
        batch = await _activate(tenant, key.id, numbers[n : n + BATCH])
        async with tenant.db.transaction() as tx:
            for id in batch:
                await tickets.cancel(tx, tenant.id, id, by=factory.BY, at=factory.now(), reason="rain")
        ids += batch
    return ids


async def _activate(tenant: Tenant, key_id: UUID, numbers: Sequence[str]) -> list[UUID]:
    scans = [
        Scan(
            request_id=factory.new_id(), organization_id=tenant.id, mode=Mode.LIVE, key_id=key_id, address=None,
            elapsed_us=0, idempotency_key=None, event_id=tenant.event_id, card_number=number, shown=number,
            expired=False, gate=None, scanner_id=None, occurred_at=None,
        )
        for number in numbers
    ]  # fmt: skip
    async with tenant.db.autocommit() as tx:
        verdicts = await tickets.activate(tx, scans, at=factory.now(), statuses=VERDICT_STATUSES)
    return [one.ticket_id for one in verdicts if one and one.ticket_id]


async def test_no_cancellation_comes_before_its_activation(syncing_cluster: Cluster, tmp_path: Path) -> None:
    began = time.monotonic()
    async with opened(syncing_cluster, "order", tmp_path) as stack:
        with flaky_receiver(tmp_path / "seen") as receiver:
            for profile in PROFILES:
                await stack.tenant.endpoint(receiver.url(profile), ACTIVATED, CANCELLED)
            numbers = await load(stack.tenant, TICKETS)
            async with asyncio.TaskGroup() as tasks:
                cancelled = tasks.create_task(activate_and_cancel(stack.tenant, numbers))
                for n in range(WORKERS):
                    tasks.create_task(crash_workers(stack, random.Random(n)))
            await stack.drained(within=sized(short=60, full=300))
            seen = receiver.seen()
        print(summary(seen, time.monotonic() - began))
        assert list(faults(seen, cancelled.result()))[:20] == []
        assert await stack.value("SELECT count(*) FROM webhook_delivery WHERE state <> 'delivered'") == 0
        assert stack.errors() == []


async def crash_workers(stack: Stack, dice: random.Random) -> None:
    """Start one worker after the other; all but the last crash."""
    for _ in range(KILLS):
        failpoint = dice.choice(list(LATEST))
        crashing = await stack.start_crashing_worker(failpoint, dice.randint(1, LATEST[failpoint]), PACE)
        await crashing.died()
    await stack.start_crashing_worker(Failpoint.ANYWHERE, 0, PACE)


def faults(seen: Sequence[Seen], ids: Sequence[UUID]) -> Iterator[str]:
    """The first cancellation that a receiver sees comes after an activation that it accepted, and it accepts both."""
    histories: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for one in seen:
        histories[one.profile, one.ticket].append((one.type, one.answer))
    if len(ids) != TICKETS:
        yield f"only {len(ids)} tickets were activated and cancelled"
    for profile in PROFILES:
        for id in ids:
            history = histories[profile, str(id)]
            types = [type for type, _ in history]
            if not {(ACTIVATED, OK), (CANCELLED, OK)} <= set(history):
                yield f"{profile} {id}: something never arrived: {history}"
            elif (ACTIVATED, OK) not in history[: types.index(CANCELLED)]:
                yield f"{profile} {id}: {history}"


def summary(seen: Sequence[Seen], seconds: float) -> str:
    answers = Counter(one.answer for one in seen)
    counts = ", ".join(f"{answer} {count}" for answer, count in answers.items())
    most = max(one.attempt for one in seen)
    return (
        f"\n{TICKETS} tickets, {len(PROFILES)} endpoints, {WORKERS} workers killed {KILLS} times each: {len(seen)}"
        f" received ({counts}), at most {most} attempts; {seconds:.0f} s"
    )


class RefuseOneTicket:
    """Refuses the activation of one ticket."""

    def __init__(self) -> None:
        self.card_number: str | None = None

    async def __call__(self, received: Received, writer: asyncio.StreamWriter) -> None:
        refused = self.card_number is not None and self.card_number in received.body.decode()
        writer.write(f"HTTP/1.1 {500 if refused else 200} Answer\r\ncontent-length: 0\r\n\r\n".encode())
        await writer.drain()


async def test_other_tickets_do_not_wait_for_one_that_fails(syncing_cluster: Cluster, tmp_path: Path) -> None:
    refusing = RefuseOneTicket()
    async with opened(syncing_cluster, "flow", tmp_path) as stack, receiving(otherwise=refusing) as receiver:
        tenant = stack.tenant
        await tenant.endpoint(receiver.url(), ACTIVATED, CANCELLED)
        first, *others = await load(tenant, 1 + OTHER_TICKETS)
        refusing.card_number = first
        await stack.start_crashing_worker(Failpoint.ANYWHERE, 0, PACE)
        await activate_and_cancel(tenant, [first])
        await receiver.wait(1)

        began = time.monotonic()
        await activate_and_cancel(tenant, others)
        await receiver.wait_for(lambda: len(took(receiver, first)[1]) == 2 * OTHER_TICKETS)
        took_seconds = time.monotonic() - began
        if NIGHT:
            assert took_seconds < FLOW_WITHIN
        await receiver.wait_for(lambda: len(took(receiver, first)[0]) >= FAILURES)
        assert {type for type, _ in took(receiver, first)[0]} == {ACTIVATED}

        refusing.card_number = None
        await stack.drained(within=60)
        assert [type for type, _ in took(receiver, first)[0]][-2:] == [ACTIVATED, CANCELLED]
        print(f"\n{OTHER_TICKETS} tickets passed one that fails in {took_seconds:.1f} s")


def took(receiver: Receiver, number: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Types and card numbers of all messages: those of this card, and the others."""
    messages = [(message.json()["type"], message.json()["data"]["card_number"]) for message in receiver.messages]
    return [one for one in messages if one[1] == number], [one for one in messages if one[1] != number]
