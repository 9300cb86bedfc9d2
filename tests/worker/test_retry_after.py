"""Retry-After delays a retry, but never until the message is lost."""

from datetime import datetime, timedelta

from gatepass.base.database import Database
from tests import factory
from tests.factory import Tenant
from tests.receivers import receiving, status
from tests.worker.conftest import working
from tests.worker.test_worker import until

A_MOMENT = timedelta(minutes=1)


async def test_a_wish_for_three_hundred_years_is_granted_for_twelve_hours(own: Database, tenant: Tenant) -> None:
    async with receiving(answers=[status(429, retry_after="9999999999")]) as receiver, working(own):
        await tenant.endpoint(receiver.url())
        await tenant.tell()
        await receiver.wait(1)

        async def is_recorded() -> bool:
            return await waits_until(tenant) is not None

        await until(is_recorded)
    found = await waits_until(tenant)
    assert found is not None
    assert abs(found - factory.now() - timedelta(hours=12)) < A_MOMENT


async def waits_until(tenant: Tenant) -> datetime | None:
    async with tenant.db.autocommit() as tx:
        return await tx.value("SELECT blocked_until FROM webhook_endpoint WHERE organization_id = $1", tenant.id)
