"""A busy process gets SIGTERM. It answers every request sent before, then ends within 10 seconds."""

import asyncio
import itertools
import time
from collections.abc import AsyncGenerator

import pytest

from tests.factory import Tenant
from tests.faults.gates import wait_for
from tests.faults.history_checker import faults
from tests.faults.http_client import Connection, connections
from tests.faults.recording_gates import Recorder, Venue, open_venue, tables
from tests.faults.records import ScanRequest
from tests.postgres import free_port
from tests.processes import GatepassProcess
from tests.size import NIGHT
from tests.warm.processes import serve

GATES = 64
TICKETS = 5_000
# SIGTERM comes after this many answers.
MOMENTS = (1_000, 1_500, 2_000)
ENDS_WITHIN = 10.0
HOLD = "LOCK TABLE idempotency_generation IN ACCESS EXCLUSIVE MODE"
HELD = "SELECT count(*) FROM pg_locks WHERE relation = 'idempotency_generation'::regclass AND NOT granted"


@pytest.fixture
async def server(settings_env: dict[str, str]) -> AsyncGenerator[GatepassProcess]:
    started = await asyncio.to_thread(serve, {**settings_env, "GATEPASS_LOG_LEVEL": "warning"}, free_port())
    yield started
    started.kill()


def request_of(venue: Venue, n: int) -> ScanRequest:
    """Each card comes twice, so that the second is refused."""
    return ScanRequest(venue.ticket_key(venue.numbers[n // 2]), "gate", f"scanner of {n}", f"retry of {n}")


async def refuses_connections(server: GatepassProcess) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    except ConnectionRefusedError:
        return True
    writer.close()
    return False


async def ended(server: GatepassProcess) -> int:
    return await asyncio.to_thread(server.process.wait, 60)


@pytest.mark.parametrize("moment", MOMENTS)
async def test_all_that_was_sent_before_is_answered(server: GatepassProcess, tenant: Tenant, moment: int) -> None:
    venue, recorder, names = await open_venue(tenant, TICKETS), Recorder(), itertools.count()
    stopped_at = 0.0

    async def gate(connection: Connection) -> None:
        nonlocal stopped_at
        while (await recorder.scan(connection, venue, request_of(venue, next(names)), 0)).answer is not None:
            if len(recorder.exchanges) == moment:
                # From now on it may close a connection without an answer.
                recorder.killed.add(0)
                stopped_at = time.monotonic()
                server.process.terminate()

    async with connections((server,), venue.key, GATES) as opened:
        await asyncio.gather(*(gate(connection) for connection in opened))
    assert await refuses_connections(server)
    assert await ended(server) == 0
    took = time.monotonic() - stopped_at
    sent_before = [one for one in recorder.exchanges if one.started < stopped_at < one.ended]
    print(f"\n{recorder.summary()}, under way at SIGTERM {len(sent_before)}, ended after {took:.2f} s")
    if NIGHT:
        assert took < ENDS_WITHIN
    assert sent_before
    assert [one for one in sent_before if not one.is_definite()] == []
    found = await tables([venue], recorder.exchanges)
    assert faults(recorder.exchanges, found)[:20] == []
    answered = {one.answer.request_id for one in recorder.exchanges if one.answer}
    assert {scan.id for scan in found.scans} <= answered, "it closed the connection of a scan that it had accepted"


async def test_what_waits_in_postgres_is_answered(server: GatepassProcess, tenant: Tenant) -> None:
    """Every scan is held in its statement while the process already refuses connections; then it goes on."""
    venue, recorder = await open_venue(tenant, GATES), Recorder()

    async def refuses() -> bool:
        return await refuses_connections(server)

    async with (
        connections((server,), venue.key, GATES) as opened,
        asyncio.TaskGroup() as gates,
        tenant.db.transaction() as tx,
    ):

        async def are_held() -> bool:
            return await tx.value(HELD) > 0

        await tx.run(HOLD)
        for n, connection in enumerate(opened):
            gates.create_task(recorder.scan(connection, venue, request_of(venue, n), 0))
        await wait_for(are_held)
        server.process.terminate()
        await wait_for(refuses)
        assert recorder.exchanges == []
    assert await ended(server) == 0
    print(f"\n{recorder.summary()}")
    assert all(one.is_definite() for one in recorder.exchanges)
    assert faults(recorder.exchanges, await tables([venue], recorder.exchanges)) == []
