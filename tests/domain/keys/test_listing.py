"""Keys as their organization sees them."""

from datetime import timedelta
from uuid import UUID

import pytest

from gatepass.base.ids import new_id
from gatepass.base.paging import Place
from gatepass.domain import audit_log, keys
from gatepass.domain.keys import Key, KeyFilter, KeyNotFound, KeyStatus, Mode, Scope
from tests import factory
from tests.factory import Tenant

DAY = timedelta(days=1)


async def listed(tenant: Tenant, mode: Mode = Mode.LIVE, shown: KeyFilter = KeyFilter.ALL) -> list[Key]:
    async with tenant.db.autocommit() as tx:
        return (await keys.keys_of(tx, tenant.id, mode, shown=shown, at=factory.now(), limit=100))[0]


async def found(tenant: Tenant, key_id: UUID, mode: Mode = Mode.LIVE) -> Key:
    async with tenant.db.autocommit() as tx:
        return await keys.find_key(tx, tenant.id, mode, key_id)


async def test_a_key_is_listed_with_everything_but_itself(tenant: Tenant) -> None:
    issued = await tenant.key(Scope.EVENTS_READ, networks="10.0.0.0/8", rate=None)
    (key,) = await listed(tenant)
    assert key == await found(tenant, issued.id)
    assert key.masked == f"svc_live_…{issued.text[-4:]}"
    assert key.scopes == ["events:read"]
    assert [str(network) for network in key.allowed_networks or ()] == ["10.0.0.0/8"]
    assert key.rate == (100, 200)
    assert key.status(factory.now()) is KeyStatus.ACTIVE


async def test_modes_do_not_meet(tenant: Tenant) -> None:
    sandbox = await tenant.key(mode=Mode.SANDBOX)
    assert await listed(tenant) == []
    assert [key.id for key in await listed(tenant, Mode.SANDBOX)] == [sandbox.id]
    with pytest.raises(KeyNotFound):
        await found(tenant, sandbox.id)


async def test_another_organizations_key_is_not_there(tenant: Tenant) -> None:
    other = await factory.tenant(tenant.db)
    key = await other.key()
    with pytest.raises(KeyNotFound):
        await found(tenant, key.id)
    async with tenant.db.autocommit() as tx:
        assert await keys.names_of(tx, tenant.id, [key.id]) == {}


async def test_statuses_follow_the_clock(tenant: Tenant) -> None:
    now = factory.now()
    issued = await tenant.key(expires_at=now + 30 * DAY)
    key = await found(tenant, issued.id)
    assert key.status(now) is KeyStatus.ACTIVE
    assert key.status(now + 24 * DAY) is KeyStatus.EXPIRING
    assert key.status(now + 30 * DAY) is KeyStatus.EXPIRED
    async with tenant.db.transaction() as tx:
        await keys.revoke(tx, tenant.id, issued.id, by=factory.BY, at=now)
    key = await found(tenant, issued.id)
    assert key.status(now) is KeyStatus.REVOKED
    assert key.revoked_by == factory.BY


async def test_each_filter_shows_its_own(tenant: Tenant) -> None:
    now = factory.now()
    fresh, expired = await tenant.key(), await tenant.key(expires_at=now - DAY)
    async with tenant.db.transaction() as tx:
        old = await keys.issue(tx, tenant.id, "old", Mode.LIVE, [Scope.ADMIN], cell="a", by="x", at=now - 91 * DAY)
        used = await keys.issue(tx, tenant.id, "used", Mode.LIVE, [Scope.ADMIN], cell="a", by="x", at=now - 91 * DAY)
        gone = await keys.issue(tx, tenant.id, "gone", Mode.LIVE, [Scope.ADMIN], cell="a", by="x", at=now - 91 * DAY)
        await keys.revoke(tx, tenant.id, gone.id, by="x", at=now)
        await keys.mark_used(tx, {(tenant.id, used.id): (now - DAY, None)})
    ids = {shown: {key.id for key in await listed(tenant, shown=shown)} for shown in KeyFilter}
    assert ids[KeyFilter.ALL] == {fresh.id, expired.id, old.id, used.id, gone.id}
    assert ids[KeyFilter.USABLE] == {fresh.id, old.id, used.id}
    assert ids[KeyFilter.UNUSED] == {old.id}
    assert ids[KeyFilter.ENDED] == {expired.id, gone.id}
    assert [key.id for key in await listed(tenant) if key.is_unused(now)] == [old.id]


async def test_pages_follow_each_other(tenant: Tenant) -> None:
    made = [(await tenant.key()).id for _ in range(5)]
    seen: list[UUID] = []
    place: Place | None = None
    async with tenant.db.autocommit() as tx:
        for _ in range(3):
            page, place = await keys.keys_of(tx, tenant.id, Mode.LIVE, at=factory.now(), after=place, limit=2)
            seen += [key.id for key in page]
    assert seen == made[::-1]
    assert place is None


async def test_a_key_is_renamed_and_that_is_noted(tenant: Tenant) -> None:
    key = await tenant.key()
    async with tenant.db.transaction() as tx:
        await keys.rename(tx, tenant.id, Mode.LIVE, key.id, "North gate", by="ada", at=factory.now())
        await keys.rename(tx, tenant.id, Mode.LIVE, key.id, "North gate", by="ada", at=factory.now())
        noted = await audit_log.of_subject(tx, tenant.id, key.id)
    assert (await found(tenant, key.id)).name == "North gate"
    assert [(change.action, change.was, change.becomes) for change in noted] == [
        ("renamed", "test key", "North gate"),
        ("issued", None, "live admin"),
    ]


@pytest.mark.parametrize("mode", [Mode.LIVE, Mode.SANDBOX])
async def test_what_is_not_there_is_not_renamed(tenant: Tenant, mode: Mode) -> None:
    other = await factory.tenant(tenant.db)
    elsewhere, sandbox = await other.key(mode=mode), await tenant.key(mode=Mode.SANDBOX)
    async with tenant.db.transaction() as tx:
        for key_id in (new_id(), elsewhere.id, *([sandbox.id] if mode is Mode.LIVE else [])):
            with pytest.raises(KeyNotFound):
                await keys.rename(tx, tenant.id, mode, key_id, "Mine", by="x", at=factory.now())
