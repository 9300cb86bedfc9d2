"""Keys as their organization sees them."""

from datetime import timedelta
from uuid import UUID

import pytest

from gatepass.base.ids import new_id
from gatepass.base.paging import Place
from gatepass.domain import changes, keys
from gatepass.domain.keys import Key, KeyNotFound, KeyStatus, Mode, Scope, Shown
from tests import make
from tests.make import House

DAY = timedelta(days=1)


async def listed(house: House, mode: Mode = Mode.LIVE, shown: Shown = Shown.ALL) -> list[Key]:
    async with house.db.reading() as tx:
        return (await keys.keys_of(tx, house.id, mode, shown=shown, at=make.now(), limit=100))[0]


async def found(house: House, key_id: UUID, mode: Mode = Mode.LIVE) -> Key:
    async with house.db.reading() as tx:
        return await keys.find_key(tx, house.id, mode, key_id)


async def test_a_key_is_listed_with_everything_but_itself(house: House) -> None:
    issued = await house.key(Scope.EVENTS_READ, networks="10.0.0.0/8", rate=None)
    (key,) = await listed(house)
    assert key == await found(house, issued.id)
    assert key.masked == f"svc_live_…{issued.text[-4:]}"
    assert key.scopes == ["events:read"]
    assert [str(network) for network in key.allowed_networks or ()] == ["10.0.0.0/8"]
    assert key.rate == (100, 200)
    assert key.status(make.now()) is KeyStatus.ACTIVE


async def test_modes_do_not_meet(house: House) -> None:
    sandbox = await house.key(mode=Mode.SANDBOX)
    assert await listed(house) == []
    assert [key.id for key in await listed(house, Mode.SANDBOX)] == [sandbox.id]
    with pytest.raises(KeyNotFound):
        await found(house, sandbox.id)


async def test_another_organizations_key_is_not_there(house: House) -> None:
    other = await make.house(house.db)
    key = await other.key()
    with pytest.raises(KeyNotFound):
        await found(house, key.id)
    async with house.db.reading() as tx:
        assert await keys.names_of(tx, house.id, [key.id]) == {}


async def test_statuses_follow_the_clock(house: House) -> None:
    now = make.now()
    issued = await house.key(expires_at=now + 30 * DAY)
    key = await found(house, issued.id)
    assert key.status(now) is KeyStatus.ACTIVE
    assert key.status(now + 24 * DAY) is KeyStatus.EXPIRING
    assert key.status(now + 30 * DAY) is KeyStatus.EXPIRED
    async with house.db.transaction() as tx:
        await keys.revoke(tx, house.id, issued.id, by=make.BY, at=now)
    key = await found(house, issued.id)
    assert key.status(now) is KeyStatus.REVOKED
    assert key.revoked_by == make.BY


async def test_each_filter_shows_its_own(house: House) -> None:
    now = make.now()
    fresh, expired = await house.key(), await house.key(expires_at=now - DAY)
    async with house.db.transaction() as tx:
        old = await keys.issue(tx, house.id, "old", Mode.LIVE, [Scope.ADMIN], cell="a", by="x", at=now - 91 * DAY)
        used = await keys.issue(tx, house.id, "used", Mode.LIVE, [Scope.ADMIN], cell="a", by="x", at=now - 91 * DAY)
        gone = await keys.issue(tx, house.id, "gone", Mode.LIVE, [Scope.ADMIN], cell="a", by="x", at=now - 91 * DAY)
        await keys.revoke(tx, house.id, gone.id, by="x", at=now)
        await keys.mark_used(tx, {(house.id, used.id): (now - DAY, None)})
    ids = {shown: {key.id for key in await listed(house, shown=shown)} for shown in Shown}
    assert ids[Shown.ALL] == {fresh.id, expired.id, old.id, used.id, gone.id}
    assert ids[Shown.USABLE] == {fresh.id, old.id, used.id}
    assert ids[Shown.UNUSED] == {old.id}
    assert ids[Shown.ENDED] == {expired.id, gone.id}
    assert [key.id for key in await listed(house) if key.is_unused(now)] == [old.id]


async def test_pages_follow_each_other(house: House) -> None:
    made = [(await house.key()).id for _ in range(5)]
    seen: list[UUID] = []
    place: Place | None = None
    async with house.db.reading() as tx:
        for _ in range(3):
            page, place = await keys.keys_of(tx, house.id, Mode.LIVE, at=make.now(), after=place, limit=2)
            seen += [key.id for key in page]
    assert seen == made[::-1]
    assert place is None


async def test_a_key_is_renamed_and_that_is_noted(house: House) -> None:
    key = await house.key()
    async with house.db.transaction() as tx:
        await keys.rename(tx, house.id, Mode.LIVE, key.id, "North gate", by="ada", at=make.now())
        await keys.rename(tx, house.id, Mode.LIVE, key.id, "North gate", by="ada", at=make.now())
        noted = await changes.of_subject(tx, house.id, key.id)
    assert (await found(house, key.id)).name == "North gate"
    assert [(change.action, change.was, change.becomes) for change in noted] == [
        ("renamed", "test key", "North gate"),
        ("issued", None, "live admin"),
    ]


@pytest.mark.parametrize("mode", [Mode.LIVE, Mode.SANDBOX])
async def test_what_is_not_there_is_not_renamed(house: House, mode: Mode) -> None:
    other = await make.house(house.db)
    elsewhere, sandbox = await other.key(mode=mode), await house.key(mode=Mode.SANDBOX)
    async with house.db.transaction() as tx:
        for key_id in (new_id(), elsewhere.id, *([sandbox.id] if mode is Mode.LIVE else [])):
            with pytest.raises(KeyNotFound):
                await keys.rename(tx, house.id, mode, key_id, "Mine", by="x", at=make.now())
