"""Old sessions and sign-in links are deleted; those that are still good stay."""

from datetime import timedelta

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import sessions
from tests import factory
from tests.factory import Tenant


async def test_what_ended_long_ago_is_forgotten_and_the_rest_is_not(tenant: Tenant) -> None:
    old = factory.now() - timedelta(days=60)
    async with tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"{new_id()}@example.org", "Ada", at=old)
        gone = await staff.begin(tx, person.id, at=old, address=None, browser="")
        stays = await staff.begin(tx, person.id, at=factory.now(), address=None, browser="")
        await staff.make_link(tx, person.id, cell="a", at=old)
        link = await staff.make_link(tx, person.id, cell="a", at=factory.now())
        assert await sessions.delete_some_expired(tx, at=factory.now()) >= 2
        assert await staff.find(tx, gone, at=old) is None
        assert await staff.find(tx, stays, at=factory.now()) is not None
        assert await staff.use_link(tx, link, at=factory.now()) == person.id
