"""Notices are bounded for each person, and deleted when they are old."""

from gatepass.domain import maintenance, staff
from gatepass.domain.staff import Person, notices
from tests import factory
from tests.domain.staff.conftest import HERE, NOON, later


async def signed_in(tenant: factory.Tenant, person: Person) -> None:
    async with tenant.db.transaction() as tx:
        await staff.begin(tx, person.id, at=NOON, address=HERE, browser="tests")


async def test_a_person_has_a_bounded_number(tenant: factory.Tenant, ada: Person) -> None:
    await signed_in(tenant, ada)
    async with tenant.db.transaction() as tx:
        for number in range(notices.MOST + 5):
            await notices.tell(tx, ada.id, "password_set", at=later(seconds=number), detail=str(number))
        found = await notices.notices_of(tx, ada.id)
        assert await tx.value("SELECT count(*) FROM notice WHERE person_id = $1", ada.id) == notices.MOST
    assert (found[0].detail, found[-1].detail) == (str(notices.MOST + 4), "5"), "the newest stay"


async def test_a_long_detail_is_cut(tenant: factory.Tenant, ada: Person) -> None:
    await signed_in(tenant, ada)
    async with tenant.db.transaction() as tx:
        await notices.tell(tx, ada.id, "passkey_added", at=NOON, detail="x" * 1_000)
        assert [len(one.detail or "") for one in await notices.notices_of(tx, ada.id)] == [300]


async def test_maintenance_deletes_old_ones(tenant: factory.Tenant, ada: Person) -> None:
    await signed_in(tenant, ada)
    at = factory.now()
    async with tenant.db.transaction() as tx:
        await notices.tell(tx, ada.id, "password_set", at=at - notices.KEPT * 1.01)
        await notices.tell(tx, ada.id, "passkey_added", at=at)
    done = await maintenance.run_due(tenant.db, at=at)
    assert done.notices_forgotten >= 1
    async with tenant.db.autocommit() as tx:
        assert [one.kind for one in await notices.notices_of(tx, ada.id)] == ["passkey_added"]
