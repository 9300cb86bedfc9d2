"""What an organization says about itself."""

from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import cards, changes, organizations
from tests import make
from tests.make import House


async def noted(tx: Tx, organization_id: UUID) -> list[tuple[str, str | None, str | None]]:
    return [
        (one.action, one.was, one.becomes) for one in await changes.of_subject(tx, organization_id, organization_id)
    ]


async def test_a_new_name_is_noted_once(house: House) -> None:
    async with house.db.transaction() as tx:
        for _ in range(2):
            await organizations.rename(tx, house.id, "North Hall", by="ada", at=make.now())
        found = await organizations.find(tx, house.id)
        assert found is not None
        assert found.name == "North Hall"
        assert await noted(tx, house.id) == [("renamed", house.organization.name, "North Hall")]


async def test_a_new_prefix_is_for_new_cards(house: House) -> None:
    before = await house.card()
    async with house.db.transaction() as tx:
        for _ in range(2):
            await organizations.choose_card_prefix(tx, house.id, "HALL", by="ada", at=make.now())
        assert await noted(tx, house.id) == [("card prefix chosen", "SVC", "HALL")]
        after = await cards.issue(tx, house.id, by="ada", at=make.now())
    assert before.number.startswith("SVC ")
    assert after.number.startswith("HALL ")
