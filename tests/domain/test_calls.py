"""Calls are found again: by time, by what they were answered with, and by their request id."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from uuid import UUID, uuid4

import pytest

from gatepass.base.ids import new_id
from gatepass.base.paging import Place
from gatepass.domain import audit
from gatepass.domain.audit import Call, LoggedCall, Wanted
from tests import make
from tests.make import House

MINUTE = timedelta(minutes=1)
NOW = make.now()
KEY = new_id()


def call(house: House, minutes: int = 0, **fields: object) -> Call:
    plain = Call(
        house.id,
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


async def write(house: House, *calls: Call) -> None:
    async with house.db.transaction() as tx:
        await audit.write(tx, calls)


async def ids(house: House, wanted: Wanted = Wanted(), mode: str = "live") -> list[UUID]:
    async with house.db.reading() as tx:
        found, place = await audit.calls_of(tx, house.id, mode, wanted, limit=50)
    assert place is None
    return [one.id for one in found]


@pytest.fixture
async def filled(house: House) -> tuple[House, dict[str, Call]]:
    calls = {
        "fine": call(house, 1),
        "used": call(house, 2, method="POST", path="/scan", status=409, code="already_activated"),
        "broken": call(house, 3, status=500, code="internal_error"),
        "other key": call(house, 4, key_id=new_id()),
        "sandbox": call(house, 5, mode="sandbox"),
    }
    await write(house, *calls.values())
    return house, calls


async def test_each_filter_finds_its_own(filled: tuple[House, dict[str, Call]]) -> None:
    house, calls = filled
    live = [calls[name].id for name in ("fine", "used", "broken", "other key")]
    assert await ids(house) == live
    assert await ids(house, mode="sandbox") == [calls["sandbox"].id]
    assert await ids(house, Wanted(key_id=KEY)) == live[:3]
    assert await ids(house, Wanted(statuses=(400, 500))) == [calls["used"].id]
    assert await ids(house, Wanted(statuses=(500, 501))) == [calls["broken"].id]
    assert await ids(house, Wanted(code="already_activated")) == [calls["used"].id]
    assert await ids(house, Wanted(path="/scan")) == [calls["used"].id]
    assert await ids(house, Wanted(since=NOW - 2 * MINUTE)) == live[:2]
    assert await ids(house, Wanted(until=NOW - 2 * MINUTE)) == live[2:]
    assert await ids(house, Wanted(code="nonsense")) == []


async def test_another_organization_sees_nothing(filled: tuple[House, dict[str, Call]]) -> None:
    house, calls = filled
    other = await make.house(house.db)
    assert await ids(other) == []
    async with house.db.reading() as tx:
        assert await audit.find_call(tx, other.id, calls["fine"].id) is None
        assert await audit.used_from(tx, other.id, KEY, since=NOW - 9 * MINUTE) == []


async def test_pages_follow_each_other_within_one_moment(house: House) -> None:
    calls = [call(house) for _ in range(5)]
    await write(house, *calls)
    seen: list[UUID] = []
    place: Place | None = None
    async with house.db.reading() as tx:
        for _ in range(3):
            page, place = await audit.calls_of(tx, house.id, "live", Wanted(), after=place, limit=2)
            seen += [one.id for one in page]
    assert seen == sorted((one.id for one in calls), reverse=True)
    assert place is None


async def test_a_rare_call_is_found_by_looking_further(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "LOOKED_THROUGH", 10)
    rare = call(house, 100, code="sold_out", status=409)
    await write(house, rare, *[call(house, n) for n in range(35)])
    place: Place | None = None
    seen: list[LoggedCall] = []
    async with house.db.reading() as tx:
        for _ in range(4):
            page, place = await audit.calls_of(tx, house.id, "live", Wanted(code="sold_out"), after=place, limit=50)
            seen += page
    assert [one.id for one in seen] == [rare.id]
    assert place is None


async def test_a_call_is_found_by_its_request_id(filled: tuple[House, dict[str, Call]]) -> None:
    house, _calls = filled
    made = [call(house, at=datetime.now(UTC)), call(house, at=datetime.now(UTC), mode="sandbox")]
    await write(house, *made)
    async with house.db.reading() as tx:
        for one in made:
            found = await audit.find_call(tx, house.id, one.id)
            assert found is not None
            assert (found.id, found.mode, found.address) == (one.id, one.mode, one.address)
        assert await audit.find_call(tx, house.id, new_id()) is None
        assert await audit.find_call(tx, house.id, uuid4()) is None


async def test_where_a_key_is_used_from(house: House) -> None:
    here, there = ip_address("10.0.0.1"), ip_address("2001:db8::1")
    calls = [
        call(house, 1),
        call(house, 2),
        call(house, 0, address=there),
        call(house, 9),
        call(house, key_id=new_id()),
    ]
    await write(house, *calls)
    async with house.db.reading() as tx:
        found = await audit.used_from(tx, house.id, KEY, since=NOW - 5 * MINUTE)
        used = await audit.used_for(tx, house.id, KEY, since=NOW - 5 * MINUTE)
    assert [(one.method, one.path, one.calls) for one in used] == [("GET", "/events", 3)]
    assert [(one.address, one.calls) for one in found] == [(there, 1), (here, 2)]
