"""Ended sessions and old links go; those that are still good stay."""

from datetime import timedelta

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import forgetting
from tests import make
from tests.make import House


async def test_what_ended_long_ago_is_forgotten_and_the_rest_is_not(house: House) -> None:
    old = make.now() - timedelta(days=60)
    async with house.db.transaction() as tx:
        person = await staff.enrol(tx, f"{new_id()}@example.org", "Ada", at=old)
        gone = await staff.begin(tx, person.id, at=old, address=None, browser="")
        stays = await staff.begin(tx, person.id, at=make.now(), address=None, browser="")
        await staff.make_link(tx, person.id, at=old)
        link = await staff.make_link(tx, person.id, at=make.now())
        assert await forgetting.forget_some(tx, at=make.now()) >= 2
        assert await staff.find(tx, gone, at=old) is None
        assert await staff.find(tx, stays, at=make.now()) is not None
        assert await staff.use_link(tx, link, at=make.now()) == person.id
