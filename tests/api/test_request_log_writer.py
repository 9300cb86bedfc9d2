"""The trail that writes audit rows in the background: nothing that happens to one row may happen to the others."""

import time
from collections.abc import AsyncGenerator
from datetime import datetime
from uuid import UUID

import pytest
from pydantic import SecretStr

from gatepass.api.app import Gatehouse
from gatepass.api.call import Call
from gatepass.base.ids import new_id
from gatepass.base.settings import Settings
from gatepass.domain import audit
from gatepass.domain.keys import Caller, Mode
from tests import make
from tests.api.conftest import Door
from tests.faults.gates import wait_for
from tests.make import House


@pytest.fixture
async def gatehouse(database_url: str) -> AsyncGenerator[Gatehouse]:
    """A gatehouse of its own, whose trail may be spoilt."""
    settings = Settings(database_url=SecretStr(database_url), database_deadline=1, metrics_port=0)
    opened = Gatehouse(settings)
    opened.open()
    yield opened
    await opened.close()


def row(house: House, *, duration_us: int = 1_000, at: datetime | None = None) -> audit.Call:
    return audit.Call(
        organization_id=house.id,
        at=at or make.now(),
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


async def written(house: House, id: UUID) -> bool:
    async with house.db.reading() as tx:
        return await tx.value("SELECT count(*) FROM audit WHERE organization_id = $1 AND id = $2", house.id, id) == 1


async def test_a_call_may_take_an_hour(gatehouse: Gatehouse, house: House) -> None:
    """A caller may send its body as slowly as it likes; 36 minutes are more microseconds than an integer holds."""
    slow = Call(at=make.now(), method="POST", address=None, began=time.perf_counter() - 3_600)
    slow.status = 400
    found = slow.audit_row(Caller(house.id, new_id(), Mode.LIVE, frozenset()))
    # The scan's statement adds to it, in the same type.
    assert 30 * 60_000_000 < found.duration_us < 2**31 - 60_000_000
    await gatehouse.trail.record(found)
    assert await written(house, slow.id)


async def test_a_row_that_cannot_be_written_does_not_stop_the_others(gatehouse: Gatehouse, house: House) -> None:
    impossible, good = row(house, duration_us=2**31), row(house)
    gatehouse.trail.note(impossible)
    await gatehouse.trail.record(good)
    try:
        await wait_for(lambda: written(house, good.id), within=3)
        lost = gatehouse.metrics.registry.get_sample_value("gatepass_audit_rows_lost_total")
        assert lost == 1
    finally:
        gatehouse.trail._waiting.clear()


async def test_rows_are_written_when_the_process_stops(gatehouse: Gatehouse, house: House) -> None:
    rows = [row(house) for _ in range(50)]
    for one in rows:
        gatehouse.trail.note(one)
    await gatehouse.close()
    assert all([await written(house, one.id) for one in rows])


async def test_a_row_is_written_once_though_it_is_handed_in_twice(gatehouse: Gatehouse, house: House) -> None:
    """A scan that timed out is noted as such; if it was committed after all, its own row stands."""
    one = row(house)
    await gatehouse.trail.record(one)
    await gatehouse.trail.record(one)
    assert await written(house, one.id)


async def test_a_key_that_somebody_holds_keeps_no_gate_waiting(door: Door, house: House) -> None:
    """The studio edits a key; that its last use cannot be written meanwhile is nobody else's trouble."""
    held, other = await house.key(), await house.key()
    async with house.db.transaction() as tx:
        await tx.run("SELECT FROM api_key WHERE organization_id = $1 AND id = $2 FOR UPDATE", house.id, held.id)
        async with door.client(held.text) as client, door.client(other.text) as gate:
            assert (await client.get("/events")).status_code == 200
            took: list[float] = []
            for _ in range(4):
                began = time.monotonic()
                assert (await gate.post("/scan", content=b"not JSON")).status_code == 400
                took.append(time.monotonic() - began)
    assert max(took) < 1.0


async def test_the_last_use_of_a_key_is_written(door: Door, house: House) -> None:
    key = await house.key()
    async with door.client(key.text) as client:
        assert (await client.get("/events")).status_code == 200

    async def is_written() -> bool:
        async with house.db.reading() as tx:
            find = "SELECT host(last_used_from) FROM api_key WHERE organization_id = $1 AND id = $2"
            return await tx.value(find, house.id, key.id) == door.address

    await wait_for(is_written, within=5)
