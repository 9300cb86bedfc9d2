"""A process is told to stop while it is busy. What was sent to it before is answered, then it goes, in bounded time."""

import asyncio
import itertools
import time
from collections.abc import AsyncGenerator

import pytest

from tests.faults.gates import wait_for
from tests.faults.history import faults
from tests.faults.recorder import Recorder, Venue, open_venue, tables
from tests.faults.records import Asked
from tests.faults.wire import Line, lines
from tests.make import House
from tests.postgres import free_port
from tests.serving import Serving, serve

pytestmark = pytest.mark.slow

GATES = 64
TICKETS = 5_000
# It is told to stop when it has answered this often.
MOMENTS = (1_000, 1_500, 2_000)
ENDS_WITHIN = 10.0
HOLD = "LOCK TABLE idempotency_generation IN ACCESS EXCLUSIVE MODE"
HELD = "SELECT count(*) FROM pg_locks WHERE relation = 'idempotency_generation'::regclass AND NOT granted"


@pytest.fixture
async def serving(settings_env: dict[str, str]) -> AsyncGenerator[Serving]:
    started = await asyncio.to_thread(serve, {**settings_env, "GATEPASS_LOG_LEVEL": "warning"}, free_port())
    yield started
    started.kill()


def ask(venue: Venue, n: int) -> Asked:
    """Each card comes twice, so that the second is refused."""
    return Asked(venue.place(venue.numbers[n // 2]), "gate", f"scanner of {n}", f"retry of {n}")


async def refuses_connections(serving: Serving) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", serving.port)
    except ConnectionRefusedError:
        return True
    writer.close()
    return False


async def ended(serving: Serving) -> int:
    return await asyncio.to_thread(serving.process.wait, ENDS_WITHIN)


@pytest.mark.parametrize("moment", MOMENTS)
async def test_all_that_was_sent_before_is_answered(serving: Serving, house: House, moment: int) -> None:
    venue, recorder, names = await open_venue(house, TICKETS), Recorder(), itertools.count()
    told_to_stop = 0.0

    async def gate(line: Line) -> None:
        nonlocal told_to_stop
        while (await recorder.scan(line, venue, ask(venue, next(names)), 0)).told is not None:
            if len(recorder.requests) == moment:
                # From here on it may hang up instead of answering.
                recorder.killed.add(0)
                told_to_stop = time.monotonic()
                serving.process.terminate()

    async with lines((serving,), venue.key, GATES) as opened:
        await asyncio.gather(*(gate(line) for line in opened))
    assert await refuses_connections(serving)
    assert await ended(serving) == 0
    took = time.monotonic() - told_to_stop
    sent_before = [one for one in recorder.requests if one.started < told_to_stop < one.ended]
    print(f"\n{recorder.tally()}, under way when told to stop {len(sent_before)}, ended after {took:.2f} s")
    assert took < ENDS_WITHIN
    assert sent_before
    assert [one for one in sent_before if not one.is_definite()] == []
    found = await tables([venue], recorder.requests)
    assert faults(recorder.requests, found)[:20] == []
    answered = {one.told.request for one in recorder.requests if one.told}
    assert {scan.id for scan in found.scans} <= answered, "it hung up on a scan that it had taken in"


async def test_what_waits_in_postgres_is_answered(serving: Serving, house: House) -> None:
    """Every scan is held in its statement while nobody is let in any more; then it goes on."""
    venue, recorder = await open_venue(house, GATES), Recorder()

    async def refuses() -> bool:
        return await refuses_connections(serving)

    async with (
        lines((serving,), venue.key, GATES) as opened,
        asyncio.TaskGroup() as gates,
        house.db.transaction() as tx,
    ):

        async def are_held() -> bool:
            return await tx.value(HELD) > 0

        await tx.run(HOLD)
        for n, line in enumerate(opened):
            gates.create_task(recorder.scan(line, venue, ask(venue, n), 0))
        await wait_for(are_held)
        serving.process.terminate()
        await wait_for(refuses)
        assert recorder.requests == []
    assert await ended(serving) == 0
    print(f"\n{recorder.tally()}")
    assert all(one.is_definite() for one in recorder.requests)
    assert faults(recorder.requests, await tables([venue], recorder.requests)) == []
