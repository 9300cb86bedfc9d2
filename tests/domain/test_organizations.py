"""The name and the card prefix of an organization."""

from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import audit_log, cards, organizations
from tests import factory
from tests.factory import Tenant


async def noted(tx: Tx, organization_id: UUID) -> list[tuple[str, str | None, str | None]]:
    return [
        (one.action, one.was, one.becomes) for one in await audit_log.of_subject(tx, organization_id, organization_id)
    ]


async def test_a_new_name_is_noted_once(tenant: Tenant) -> None:
    async with tenant.db.transaction() as tx:
        for _ in range(2):
            await organizations.rename(tx, tenant.id, "North Hall", by="ada", at=factory.now())
        found = await organizations.find(tx, tenant.id)
        assert found is not None
        assert found.name == "North Hall"
        assert await noted(tx, tenant.id) == [("renamed", tenant.organization.name, "North Hall")]


async def test_a_new_prefix_is_for_new_cards(tenant: Tenant) -> None:
    before = await tenant.card()
    async with tenant.db.transaction() as tx:
        for _ in range(2):
            await organizations.choose_card_prefix(tx, tenant.id, "HALL", by="ada", at=factory.now())
        assert await noted(tx, tenant.id) == [("card prefix chosen", "SVC", "HALL")]
        after = await cards.issue(tx, tenant.id, by="ada", at=factory.now())
    assert before.number.startswith("SVC ")
    assert after.number.startswith("HALL ")
