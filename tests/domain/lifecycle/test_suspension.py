"""A suspended organization: keys and endpoints wait, and get back exactly what they had."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from gatepass.base.database import Database, Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import keys, maintenance, webhooks
from gatepass.domain.keys import InvalidKey, Mode, Overlap, Scope, SuspendedKey
from gatepass.domain.lifecycle import suspension
from gatepass.domain.organizations import OrganizationSuspended
from gatepass.domain.webhooks import EndpointStatus
from tests import factory
from tests.factory import BY, Tenant

URL = "https://example.com/hook"


async def suspend(tenant: Tenant) -> suspension.Suspended:
    async with tenant.db.transaction() as tx:
        return await suspension.suspend(tx, tenant.id, reason="An open invoice.", by=BY, at=factory.now())


async def resume(tenant: Tenant) -> suspension.Suspended:
    async with tenant.db.transaction() as tx:
        return await suspension.resume(tx, tenant.id, by=BY, at=factory.now())


async def admitted(tenant: Tenant, text: str) -> str:
    async with tenant.db.autocommit() as tx:
        try:
            await keys.authenticate(tx, text, None, at=factory.now())
        except SuspendedKey:
            return "suspended"
        except InvalidKey as refusal:
            return refusal.reason
    return "admitted"


async def test_each_key_is_told_what_is_true_of_it(tenant: Tenant) -> None:
    good, revoked = await tenant.key(), await tenant.key()
    expired = await tenant.key(expires_at=factory.now() - timedelta(minutes=1))
    elsewhere = await tenant.key(networks="192.0.2.0/24")
    async with tenant.db.transaction() as tx:
        await keys.revoke(tx, tenant.id, revoked.id, by=BY, at=factory.now())
    before = [await admitted(tenant, key.text) for key in (good, revoked, expired, elsewhere)]
    await suspend(tenant)
    assert [await admitted(tenant, key.text) for key in (good, revoked, expired, elsewhere)] == [
        "suspended", "revoked", "expired", "address",
    ]  # fmt: skip
    await resume(tenant)
    assert [await admitted(tenant, key.text) for key in (good, revoked, expired, elsewhere)] == before


async def test_a_key_that_is_revoked_meanwhile_does_not_come_back(tenant: Tenant) -> None:
    key = await tenant.key()
    await suspend(tenant)
    async with tenant.db.transaction() as tx:
        await keys.revoke(tx, tenant.id, key.id, by=BY, at=factory.now())
    await resume(tenant)
    assert await admitted(tenant, key.text) == "revoked"


async def test_the_list_shows_the_expiry_that_a_key_gets_back(tenant: Tenant) -> None:
    ends = factory.now() + timedelta(days=1)
    ids = [(await tenant.key()).id, (await tenant.key(expires_at=ends)).id]
    await suspend(tenant)
    async with tenant.db.autocommit() as tx:
        found = [await keys.find_key(tx, tenant.id, Mode.LIVE, id) for id in ids]
        listed, _ = await keys.keys_of(
            tx, tenant.id, Mode.LIVE, shown=keys.KeyFilter.USABLE, at=factory.now(), limit=100
        )
    assert [key.expires_at for key in found] == [None, ends]
    assert set(ids) <= {key.id for key in listed}


async def test_nothing_is_made_that_would_work(tenant: Tenant) -> None:
    old = await tenant.key()
    endpoint, _ = await tenant.endpoint(URL)
    await suspend(tenant)
    with pytest.raises(OrganizationSuspended):
        await tenant.key()
    with pytest.raises(OrganizationSuspended):
        await tenant.endpoint(URL)
    with pytest.raises(OrganizationSuspended):
        async with tenant.db.transaction() as tx:
            await keys.rotate(
                tx, tenant.id, Mode.LIVE, old.id, overlap=Overlap.NONE, expires_at=None, cell="a", by=BY,
                at=factory.now(),
            )  # fmt: skip
    with pytest.raises(OrganizationSuspended):
        await activate(tenant, endpoint)


async def activate(tenant: Tenant, endpoint: UUID) -> None:
    async with tenant.db.transaction() as tx:
        await webhooks.change_endpoint(
            tx, tenant.id, Mode.LIVE, endpoint, status=EndpointStatus.ACTIVE, allow_private=True, by=BY,
            at=factory.now(),
        )  # fmt: skip


async def test_a_key_that_is_made_at_the_same_moment_is_suspended_or_refused(tenant: Tenant) -> None:
    """Whoever comes first is seen by the other: no key is left that works."""
    for _ in range(10):
        made, _ = await asyncio.gather(tenant.key(), suspend(tenant), return_exceptions=True)
        if not isinstance(made, OrganizationSuspended):
            assert not isinstance(made, BaseException), made
            async with tenant.db.autocommit() as tx:
                kept = await tx.value(EXPIRY, tenant.id, made.id)
            assert kept is not None
        await resume(tenant)


EXPIRY = "SELECT resumed_expires_at FROM api_key WHERE organization_id = $1 AND id = $2"


async def claimed(tx: Tx, tenant: Tenant) -> int:
    found = await tx.rows("SELECT * FROM claim_deliveries('{}', 100, 100, 1000, '45 seconds', 5)")
    return sum(row["organization_id"] == tenant.id for row in found)


async def test_messages_are_held_and_sent_after_resume(db: Database, tenant: Tenant) -> None:
    """Those from before, and those of changes in the studio meanwhile. An endpoint that was paused stays so."""
    await tenant.endpoint(URL)
    paused, _ = await tenant.endpoint(URL)
    async with db.transaction() as tx:
        await webhooks.change_endpoint(
            tx, tenant.id, Mode.LIVE, paused, status=EndpointStatus.PAUSED, allow_private=True, by=BY, at=factory.now()
        )
    await tenant.tell(2)
    await suspend(tenant)
    await tenant.tell(3)
    await maintenance.follow_up(db, at=factory.now())
    async with db.transaction() as tx:
        assert await claimed(tx, tenant) == 0
    await resume(tenant)
    async with db.transaction() as tx:
        assert await claimed(tx, tenant) == 5
    async with db.autocommit() as tx:
        kept = await webhooks.find_endpoint(tx, tenant.id, Mode.LIVE, paused)
    assert (kept.status, kept.paused_reason) == (EndpointStatus.PAUSED, "requested")


async def test_twice_is_told(tenant: Tenant) -> None:
    await suspend(tenant)
    with pytest.raises(NotAllowedFromHere, match="suspended already"):
        await suspend(tenant)
    await resume(tenant)
    with pytest.raises(NotAllowedFromHere, match="not suspended"):
        await resume(tenant)


async def test_a_closure_can_be_taken_back_and_its_keys_stay_revoked(tenant: Tenant) -> None:
    key = await tenant.key(Scope.EVENTS_READ)
    async with tenant.db.transaction() as tx:
        await suspension.close(tx, tenant.id, reason="Over.", by=BY, at=factory.now())
    assert await admitted(tenant, key.text) == "revoked"
    await resume(tenant)
    assert await admitted(tenant, key.text) == "revoked"
    assert await admitted(tenant, (await tenant.key()).text) == "admitted"


async def test_others_are_not_touched(tenant: Tenant, other: Tenant) -> None:
    key = await other.key()
    await suspend(tenant)
    assert await admitted(other, key.text) == "admitted"
