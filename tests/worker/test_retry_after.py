"""A receiver may ask for patience, but not for the loss of its messages."""

from datetime import datetime, timedelta

from gatepass.base.database import Database
from tests import make
from tests.make import House
from tests.receivers import receiving, status
from tests.worker.conftest import working
from tests.worker.test_worker import until

A_MOMENT = timedelta(minutes=1)


async def test_a_wish_for_three_hundred_years_is_granted_for_twelve_hours(own: Database, house: House) -> None:
    async with receiving(answers=[status(429, retry_after="9999999999")]) as receiver, working(own):
        await house.endpoint(receiver.url())
        await house.tell()
        await receiver.wait(1)

        async def is_recorded() -> bool:
            return await waits_until(house) is not None

        await until(is_recorded)
    found = await waits_until(house)
    assert found is not None
    assert abs(found - make.now() - timedelta(hours=12)) < A_MOMENT


async def waits_until(house: House) -> datetime | None:
    async with house.db.reading() as tx:
        return await tx.value("SELECT blocked_until FROM webhook_endpoint WHERE organization_id = $1", house.id)
