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

import pytest

from gatepass.api.errors import VERDICT_STATUSES
from gatepass.domain import tickets
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import Scan
from gatepass.domain.webhooks import MessageType
from tests import make
from tests.faults.gates import load
from tests.faults.webhooks.doomed import Failpoint, Pace
from tests.faults.webhooks.moody import MOODS, OK, Seen, moody_process
from tests.faults.webhooks.place import Place, opened
from tests.make import House
from tests.postgres import Cluster
from tests.receivers import Received, Receiver, receiving
from tests.size import sized

pytestmark = pytest.mark.slow

TICKETS = sized(short=2_000, full=10_000)
BATCH = 50
WORKERS = 2
# Of each of the two, before the last that stay.
KILLS = sized(short=3, full=10)
# The n-th passing of a failpoint is a worker's last; n is at most this.
LATEST = {Failpoint.CLAIMED: 50, Failpoint.SENT: 300, Failpoint.ANSWERED: 300}
# A schedule of seconds instead of hours, with more tries, so that no message is given up. The rest is the product's.
PACE = Pace(
    lease=timedelta(seconds=14),
    deadline=1.5,
    delays=(0.1, 0.3, *[1.0] * 40),
    shortest_probe=timedelta(seconds=0.2),
)
ACTIVATED, CANCELLED = MessageType.TICKET_ACTIVATED, MessageType.TICKET_CANCELLED
OTHER_TICKETS = 200
FAILURES = 4
# A cancellation that meets its activation in a worker's hands may be looked at again 5 seconds later.
FLOW_WITHIN = 10.0


async def activate_and_cancel(house: House, numbers: Sequence[str]) -> list[UUID]:
    """By the verbs of the gate and of the console, a batch at a time; the tickets' ids."""
    key, ids = await house.key(), list[UUID]()
    for n in range(0, len(numbers), BATCH):
        batch = await _activate(house, key.id, numbers[n : n + BATCH])
        async with house.db.transaction() as tx:
            for id in batch:
                await tickets.cancel(tx, house.id, id, by=make.BY, at=make.now(), reason="rain")
        ids += batch
    return ids


async def _activate(house: House, key_id: UUID, numbers: Sequence[str]) -> list[UUID]:
    scans = [
        Scan(
            request_id=make.new_id(), organization_id=house.id, mode=Mode.LIVE, key_id=key_id, address=None,
            elapsed_us=0, retry_key=None, event_id=house.event_id, card_number=number, shown=number, expired=False,
            gate=None, scanner_id=None, occurred_at=None,
        )
        for number in numbers
    ]  # fmt: skip
    async with house.db.statement() as tx:
        verdicts = await tickets.activate(tx, scans, at=make.now(), statuses=VERDICT_STATUSES)
    return [one.ticket_id for one in verdicts if one and one.ticket_id]


async def test_no_cancellation_comes_before_its_activation(syncing_cluster: Cluster, tmp_path: Path) -> None:
    began = time.monotonic()
    async with opened(syncing_cluster, "order", tmp_path) as place:
        with moody_process(tmp_path / "seen") as receiver:
            for mood in MOODS:
                await place.house.endpoint(receiver.url(mood), ACTIVATED, CANCELLED)
            numbers = await load(place.house, TICKETS)
            async with asyncio.TaskGroup() as going:
                making = going.create_task(activate_and_cancel(place.house, numbers))
                for n in range(WORKERS):
                    going.create_task(work_and_die(place, random.Random(n)))
            await place.drained(within=sized(short=60, full=300))
            seen = receiver.seen()
        print(summary(seen, time.monotonic() - began))
        assert list(complaints(seen, making.result()))[:20] == []
        assert await place.value("SELECT count(*) FROM webhook_delivery WHERE state <> 'delivered'") == 0
        assert place.errors() == []


async def work_and_die(place: Place, dice: random.Random) -> None:
    """One worker after the other; the last one stays."""
    for _ in range(KILLS):
        failpoint = dice.choice(list(LATEST))
        doomed = await place.doom_worker(failpoint, dice.randint(1, LATEST[failpoint]), PACE)
        await doomed.died()
    await place.doom_worker(Failpoint.ANYWHERE, 0, PACE)


def complaints(seen: Sequence[Seen], ids: Sequence[UUID]) -> Iterator[str]:
    """The first cancellation that a receiver sees comes after an activation that it took, and it takes both."""
    stories: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for one in seen:
        stories[one.mood, one.ticket].append((one.type, one.answer))
    if len(ids) != TICKETS:
        yield f"only {len(ids)} tickets were activated and cancelled"
    for mood in MOODS:
        for id in ids:
            story = stories[mood, str(id)]
            types = [type for type, _ in story]
            if not {(ACTIVATED, OK), (CANCELLED, OK)} <= set(story):
                yield f"{mood} {id}: something never arrived: {story}"
            elif (ACTIVATED, OK) not in story[: types.index(CANCELLED)]:
                yield f"{mood} {id}: {story}"


def summary(seen: Sequence[Seen], seconds: float) -> str:
    answers = Counter(one.answer for one in seen)
    told = ", ".join(f"{answer} {count}" for answer, count in answers.items())
    most = max(one.attempt for one in seen)
    return (
        f"\n{TICKETS} tickets, {len(MOODS)} endpoints, {WORKERS} workers killed {KILLS} times each: {len(seen)}"
        f" received ({told}), at most {most} attempts; {seconds:.0f} s"
    )


class Grudge:
    """Refuses the activation of one ticket."""

    def __init__(self) -> None:
        self.against: str | None = None

    async def __call__(self, received: Received, writer: asyncio.StreamWriter) -> None:
        refused = self.against is not None and self.against in received.body.decode()
        writer.write(f"HTTP/1.1 {500 if refused else 200} Answer\r\ncontent-length: 0\r\n\r\n".encode())
        await writer.drain()


async def test_other_tickets_do_not_wait_for_one_that_fails(syncing_cluster: Cluster, tmp_path: Path) -> None:
    grudge = Grudge()
    async with opened(syncing_cluster, "flow", tmp_path) as place, receiving(otherwise=grudge) as receiver:
        house = place.house
        await house.endpoint(receiver.url(), ACTIVATED, CANCELLED)
        first, *others = await load(house, 1 + OTHER_TICKETS)
        grudge.against = first
        await place.doom_worker(Failpoint.ANYWHERE, 0, PACE)
        await activate_and_cancel(house, [first])
        await receiver.wait(1)

        began = time.monotonic()
        await activate_and_cancel(house, others)
        await receiver.wait_for(lambda: len(took(receiver, first)[1]) == 2 * OTHER_TICKETS)
        took_seconds = time.monotonic() - began
        assert took_seconds < FLOW_WITHIN
        await receiver.wait_for(lambda: len(took(receiver, first)[0]) >= FAILURES)
        assert {type for type, _ in took(receiver, first)[0]} == {ACTIVATED}

        grudge.against = None
        await place.drained(within=60)
        assert [type for type, _ in took(receiver, first)[0]][-2:] == [ACTIVATED, CANCELLED]
        print(f"\n{OTHER_TICKETS} tickets flowed past one that fails in {took_seconds:.1f} s")


def took(receiver: Receiver, number: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Types and cards of all messages: of this card, and of the others."""
    told = [(message.json()["type"], message.json()["data"]["card_number"]) for message in receiver.messages]
    return [one for one in told if one[1] == number], [one for one in told if one[1] != number]
