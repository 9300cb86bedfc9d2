"""Holders are found by card number or e-mail address; after erasure no data of the person is left."""

from gatepass.domain import audit_log, cards
from gatepass.domain.cards import Card, Holder
from tests import factory
from tests.factory import Tenant


async def held(tenant: Tenant, name: str, email: str | None) -> Card:
    async with tenant.db.transaction() as tx:
        return await cards.issue(tx, tenant.id, by="ada", at=factory.now(), holder_name=name, holder_email=email)


async def found(tenant: Tenant, query: str) -> list[Holder]:
    async with tenant.db.autocommit() as tx:
        return await cards.find_holders(tx, tenant.id, query)


async def test_holders_are_found_by_number_and_by_address(tenant: Tenant) -> None:
    one, two = await held(tenant, "Grace", "Grace@Example.com"), await held(tenant, "Grace H.", "grace@example.com")
    await held(tenant, "Alan", None)
    assert {holder.card_id for holder in await found(tenant, " GRACE@example.COM ")} == {one.id, two.id}
    (typed,) = await found(tenant, one.number.lower().replace(" ", "-"))
    assert (typed.card_id, typed.card_number, typed.name) == (one.id, one.number, "Grace")
    assert await found(tenant, "nobody@example.com") == []
    assert await found(tenant, "SVC 0000 0000 0000") == []
    assert await found(tenant, "") == []


async def test_another_organizations_holder_is_not_found(tenant: Tenant) -> None:
    other = await factory.tenant(tenant.db)
    theirs = await held(other, "Grace", "grace@example.com")
    assert await found(tenant, "grace@example.com") == []
    assert await found(tenant, theirs.number) == []


async def test_an_erased_holder_leaves_the_card_and_no_name(tenant: Tenant) -> None:
    card = await held(tenant, "Grace Hopper", "grace@example.com")
    async with tenant.db.transaction() as tx:
        await cards.erase_holder(tx, tenant.id, card.id, by="ada", at=factory.now())
        noted = await audit_log.of_subject(tx, tenant.id, card.id)
        assert await tx.value("SELECT status FROM card WHERE organization_id = $1 AND id = $2", tenant.id, card.id)
    assert await found(tenant, card.number) == []
    assert sorted(change.action for change in noted) == ["holder erased", "issued"]
    assert "grace" not in str(noted).lower()
