"""Rotation: a new key like the old one, and both are valid until the overlap ends."""

from datetime import timedelta
from ipaddress import ip_address

import pytest

from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import audit_log, keys
from gatepass.domain.keys import DURATIONS, Caller, IssuedKey, Mode, Overlap, Scope
from tests import factory
from tests.factory import Tenant

DAY = timedelta(days=1)
NOW = factory.now()
HOME = ip_address("10.1.2.3")


async def rotated(tenant: Tenant, key: IssuedKey, overlap: Overlap, mode: Mode = Mode.LIVE) -> IssuedKey:
    async with tenant.db.transaction() as tx:
        return await keys.rotate(
            tx, tenant.id, mode, key.id, overlap=overlap, expires_at=NOW + 90 * DAY, cell="a", by="ada", at=NOW
        )


async def caller(tenant: Tenant, key: IssuedKey, after: timedelta) -> Caller:
    async with tenant.db.autocommit() as tx:
        return await keys.authenticate(tx, key.text, HOME, at=NOW + after)


@pytest.mark.parametrize("overlap", Overlap)
async def test_both_are_good_until_the_overlap_ends(tenant: Tenant, overlap: Overlap) -> None:
    old = await tenant.key(Scope.EVENTS_READ, Scope.CARDS_VERIFY, networks="10.0.0.0/8", rate=7)
    new = await rotated(tenant, old, overlap)
    moment = timedelta(seconds=1)
    if overlap is not Overlap.NONE:
        before = await caller(tenant, old, DURATIONS[overlap] - moment)
        after = await caller(tenant, new, DURATIONS[overlap] - moment)
        assert (before.scopes, before.allowed_networks) == (after.scopes, after.allowed_networks)
        assert (before.rate_per_second, before.burst) == (after.rate_per_second, after.burst) == (7, 14)
    with pytest.raises(keys.DeadKey):
        await caller(tenant, old, DURATIONS[overlap])
    assert (await caller(tenant, new, 89 * DAY)).key_id == new.id


async def test_each_key_gets_its_change(tenant: Tenant) -> None:
    old = await tenant.key()
    new = await rotated(tenant, old, Overlap.DAY)
    async with tenant.db.autocommit() as tx:
        of_old = await audit_log.of_subject(tx, tenant.id, old.id)
        of_new = await audit_log.of_subject(tx, tenant.id, new.id)
        shown = await keys.find_key(tx, tenant.id, Mode.LIVE, new.id)
    assert sorted(change.action for change in of_old) == ["issued", "rolled"]
    (change,) = (change for change in of_old if change.action == "rolled")
    assert (change.actor, change.was) == ("ada", "no expiry")
    assert str(new.id) in (change.becomes or "")
    assert [change.action for change in of_new] == ["issued"]
    assert (shown.name, shown.expires_at) == ("test key", NOW + 90 * DAY)


async def test_rolling_never_makes_a_key_live_longer(tenant: Tenant) -> None:
    soon = NOW + timedelta(hours=2)
    old = await tenant.key(expires_at=soon)
    await rotated(tenant, old, Overlap.WEEK)
    async with tenant.db.autocommit() as tx:
        assert (await keys.find_key(tx, tenant.id, Mode.LIVE, old.id)).expires_at == soon


async def test_what_has_ended_is_not_rolled(tenant: Tenant) -> None:
    expired, revoked = await tenant.key(expires_at=NOW - DAY), await tenant.key()
    async with tenant.db.transaction() as tx:
        await keys.revoke(tx, tenant.id, revoked.id, by="x", at=NOW)
    for key in (expired, revoked):
        with pytest.raises(NotAllowedFromHere):
            await rotated(tenant, key, Overlap.DAY)


async def test_another_mode_or_organization_is_not_rolled(tenant: Tenant) -> None:
    other = await factory.tenant(tenant.db)
    for key in (await tenant.key(mode=Mode.SANDBOX), await other.key()):
        with pytest.raises(keys.KeyNotFound):
            await rotated(tenant, key, Overlap.DAY)
