"""The request log is written in the background: a row that fails does not affect the others."""

import asyncio
import time
from collections.abc import AsyncGenerator
from datetime import datetime
from uuid import UUID

import pytest

from gatepass.api.app import ApiState
from gatepass.api.request import ApiCall
from gatepass.base.ids import new_id
from gatepass.domain import request_log
from gatepass.domain.keys import Caller, Mode
from tests import factory
from tests.api.conftest import Api, request_id
from tests.factory import Tenant
from tests.faults.gates import wait_for
from tests.postgres import free_port
from tests.size import NIGHT


@pytest.fixture
async def state(database_url: str) -> AsyncGenerator[ApiState]:
    """A state of its own, whose writer may be left broken."""
    settings = factory.settings(database_url, database_deadline=1)
    opened = ApiState(settings)
    opened.open()
    yield opened
    await opened.close()


def row(tenant: Tenant, *, duration_us: int = 1_000, at: datetime | None = None) -> request_log.CallRecord:
    return request_log.CallRecord(
        organization_id=tenant.id,
        at=at or factory.now(),
        id=new_id(),
        mode=Mode.LIVE,
        key_id=new_id(),
        method="GET",
        path="/events",
        status=200,
        code=None,
        address=None,
        duration_us=duration_us,
    )


async def written(tenant: Tenant, id: UUID) -> bool:
    async with tenant.db.autocommit() as tx:
        return (
            await tx.value("SELECT count(*) FROM logged_call WHERE organization_id = $1 AND id = $2", tenant.id, id)
            == 1
        )


async def test_a_call_may_take_an_hour(state: ApiState, tenant: Tenant) -> None:
    """A caller may send its body slowly; 36 minutes are more microseconds than an integer holds."""
    slow = ApiCall(at=factory.now(), method="POST", address=None, began=time.perf_counter() - 3_600)
    slow.status = 400
    found = slow.log_row(Caller(tenant.id, new_id(), Mode.LIVE, frozenset()))
    # The scan's statement adds to it, in the same type.
    assert 30 * 60_000_000 < found.duration_us < 2**31 - 60_000_000
    await state.request_log.record(found)
    assert await written(tenant, slow.id)


async def test_a_row_that_cannot_be_written_does_not_stop_the_others(state: ApiState, tenant: Tenant) -> None:
    impossible, good = row(tenant, duration_us=2**31), row(tenant)
    state.request_log.note(impossible)
    await state.request_log.record(good)
    await wait_for(lambda: written(tenant, good.id), within=60)
    await state.close()
    lost = state.metrics.registry.get_sample_value("gatepass_request_log_rows_lost_total")
    assert lost == 1


async def test_rows_are_written_when_the_process_stops(state: ApiState, tenant: Tenant) -> None:
    rows = [row(tenant) for _ in range(50)]
    for one in rows:
        state.request_log.note(one)
    await state.close()
    assert all([await written(tenant, one.id) for one in rows])


async def test_nobody_waits_for_a_row_while_the_database_is_away(tenant: Tenant) -> None:
    """The answer goes out, and the process can stop."""
    away = factory.settings(f"postgresql://127.0.0.1:{free_port()}/x")
    state = ApiState(away)
    state.open()
    async with asyncio.timeout(60):
        await state.request_log.record(row(tenant))
        await state.request_log.record(row(tenant))
        await state.close()


async def test_a_row_is_written_once_though_it_is_handed_in_twice(state: ApiState, tenant: Tenant) -> None:
    """A scan that timed out is logged as such; if it was committed after all, its own row stays."""
    one = row(tenant)
    await state.request_log.record(one)
    await state.request_log.record(one)
    assert await written(tenant, one.id)


async def test_a_key_that_somebody_holds_keeps_no_gate_waiting(api: Api, tenant: Tenant) -> None:
    """While the studio edits a key, its last use cannot be written; other keys do not wait for that."""
    held, other = await tenant.key(), await tenant.key()
    async with tenant.db.transaction() as tx:
        await tx.run("SELECT FROM api_key WHERE organization_id = $1 AND id = $2 FOR UPDATE", tenant.id, held.id)
        async with api.client(held.text) as client, api.client(other.text) as gate:
            assert (await client.get("/events")).status_code == 200
            took: list[float] = []
            for _ in range(4):
                began = time.monotonic()
                answer = await gate.post("/scan", content=b"not JSON")
                took.append(time.monotonic() - began)
                assert answer.status_code == 400
                assert await written(tenant, request_id(answer)), "the gate has waited for its row, and the key is held"
    if NIGHT:
        assert max(took) < 1.0


async def test_the_last_use_of_a_key_is_written(api: Api, tenant: Tenant) -> None:
    key = await tenant.key()
    async with api.client(key.text) as client:
        assert (await client.get("/events")).status_code == 200

    async def is_written() -> bool:
        async with tenant.db.autocommit() as tx:
            find = "SELECT host(last_used_from) FROM api_key WHERE organization_id = $1 AND id = $2"
            return await tx.value(find, tenant.id, key.id) == api.address

    await wait_for(is_written, within=60)
