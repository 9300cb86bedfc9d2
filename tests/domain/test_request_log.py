"""Logged calls are found by time, status, code and request id."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from uuid import UUID, uuid4

import pytest

from gatepass.base.ids import new_id
from gatepass.base.paging import Place
from gatepass.domain import request_log
from gatepass.domain.request_log import CallFilter, CallRecord, LoggedCall
from tests import factory
from tests.factory import Tenant

MINUTE = timedelta(minutes=1)
NOW = factory.now()
KEY = new_id()


def call(tenant: Tenant, minutes: int = 0, **fields: object) -> CallRecord:
    plain = CallRecord(
        tenant.id,
        NOW - minutes * MINUTE,
        new_id(),
        "live",
        KEY,
        "GET",
        "/events",
        200,
        None,
        ip_address("10.0.0.1"),
        900,
    )
    return replace(plain, **fields)  # pyright: ignore[reportArgumentType]


async def write(tenant: Tenant, *calls: CallRecord) -> None:
    async with tenant.db.transaction() as tx:
        await request_log.write(tx, calls)


async def ids(tenant: Tenant, wanted: CallFilter = CallFilter(), mode: str = "live") -> list[UUID]:
    async with tenant.db.autocommit() as tx:
        found, place = await request_log.calls_of(tx, tenant.id, mode, wanted, limit=50)
    assert place is None
    return [one.id for one in found]


@pytest.fixture
async def filled(tenant: Tenant) -> tuple[Tenant, dict[str, CallRecord]]:
    calls = {
        "fine": call(tenant, 1),
        "used": call(tenant, 2, method="POST", path="/scan", status=409, code="already_activated"),
        "broken": call(tenant, 3, status=500, code="internal_error"),
        "other key": call(tenant, 4, key_id=new_id()),
        "sandbox": call(tenant, 5, mode="sandbox"),
    }
    await write(tenant, *calls.values())
    return tenant, calls


async def test_each_filter_finds_its_own(filled: tuple[Tenant, dict[str, CallRecord]]) -> None:
    tenant, calls = filled
    live = [calls[name].id for name in ("fine", "used", "broken", "other key")]
    assert await ids(tenant) == live
    assert await ids(tenant, mode="sandbox") == [calls["sandbox"].id]
    assert await ids(tenant, CallFilter(key_id=KEY)) == live[:3]
    assert await ids(tenant, CallFilter(statuses=(400, 500))) == [calls["used"].id]
    assert await ids(tenant, CallFilter(statuses=(500, 501))) == [calls["broken"].id]
    assert await ids(tenant, CallFilter(code="already_activated")) == [calls["used"].id]
    assert await ids(tenant, CallFilter(path="/scan")) == [calls["used"].id]
    assert await ids(tenant, CallFilter(since=NOW - 2 * MINUTE)) == live[:2]
    assert await ids(tenant, CallFilter(until=NOW - 2 * MINUTE)) == live[2:]
    assert await ids(tenant, CallFilter(code="nonsense")) == []


async def test_another_organization_sees_nothing(filled: tuple[Tenant, dict[str, CallRecord]]) -> None:
    tenant, calls = filled
    other = await factory.tenant(tenant.db)
    assert await ids(other) == []
    async with tenant.db.autocommit() as tx:
        assert await request_log.find_call(tx, other.id, calls["fine"].id) is None
        assert await request_log.used_from(tx, other.id, KEY, since=NOW - 9 * MINUTE) == []


async def test_pages_follow_each_other_within_one_moment(tenant: Tenant) -> None:
    calls = [call(tenant) for _ in range(5)]
    await write(tenant, *calls)
    seen: list[UUID] = []
    place: Place | None = None
    async with tenant.db.autocommit() as tx:
        for _ in range(3):
            page, place = await request_log.calls_of(tx, tenant.id, "live", CallFilter(), after=place, limit=2)
            seen += [one.id for one in page]
    assert seen == sorted((one.id for one in calls), reverse=True)
    assert place is None


async def test_a_rare_call_is_found_by_looking_further(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_log, "LOOKED_THROUGH", 10)
    rare = call(tenant, 100, code="sold_out", status=409)
    await write(tenant, rare, *[call(tenant, n) for n in range(35)])
    place: Place | None = None
    seen: list[LoggedCall] = []
    async with tenant.db.autocommit() as tx:
        for _ in range(4):
            page, place = await request_log.calls_of(
                tx, tenant.id, "live", CallFilter(code="sold_out"), after=place, limit=50
            )
            seen += page
    assert [one.id for one in seen] == [rare.id]
    assert place is None


async def test_a_call_is_found_by_its_request_id(filled: tuple[Tenant, dict[str, CallRecord]]) -> None:
    tenant, _calls = filled
    made = [call(tenant, at=datetime.now(UTC)), call(tenant, at=datetime.now(UTC), mode="sandbox")]
    await write(tenant, *made)
    async with tenant.db.autocommit() as tx:
        for one in made:
            found = await request_log.find_call(tx, tenant.id, one.id)
            assert found is not None
            assert (found.id, found.mode, found.address) == (one.id, one.mode, one.address)
        assert await request_log.find_call(tx, tenant.id, new_id()) is None
        assert await request_log.find_call(tx, tenant.id, uuid4()) is None


async def test_where_a_key_is_used_from(tenant: Tenant) -> None:
    here, there = ip_address("10.0.0.1"), ip_address("2001:db8::1")
    calls = [
        call(tenant, 1),
        call(tenant, 2),
        call(tenant, 0, address=there),
        call(tenant, 9),
        call(tenant, key_id=new_id()),
    ]
    await write(tenant, *calls)
    async with tenant.db.autocommit() as tx:
        found = await request_log.used_from(tx, tenant.id, KEY, since=NOW - 5 * MINUTE)
        used = await request_log.used_for(tx, tenant.id, KEY, since=NOW - 5 * MINUTE)
    assert [(one.method, one.path, one.calls) for one in used] == [("GET", "/events", 3)]
    assert [(one.address, one.calls) for one in found] == [(there, 1), (here, 2)]
