"""Holders are found by card number or e-mail address, and forgotten without a trace of the person."""

from gatepass.domain import cards, changes
from gatepass.domain.cards import Card, Holder
from tests import make
from tests.make import House


async def held(house: House, name: str, email: str | None) -> Card:
    async with house.db.transaction() as tx:
        return await cards.issue(tx, house.id, by="ada", at=make.now(), holder_name=name, holder_email=email)


async def found(house: House, asked: str) -> list[Holder]:
    async with house.db.reading() as tx:
        return await cards.holders_found(tx, house.id, asked)


async def test_holders_are_found_by_number_and_by_address(house: House) -> None:
    one, two = await held(house, "Grace", "Grace@Example.com"), await held(house, "Grace H.", "grace@example.com")
    await held(house, "Alan", None)
    assert {holder.card_id for holder in await found(house, " GRACE@example.COM ")} == {one.id, two.id}
    (typed,) = await found(house, one.number.lower().replace(" ", "-"))
    assert (typed.card_id, typed.card_number, typed.name) == (one.id, one.number, "Grace")
    assert await found(house, "nobody@example.com") == []
    assert await found(house, "SVC 0000 0000 0000") == []
    assert await found(house, "") == []


async def test_another_organizations_holder_is_not_found(house: House) -> None:
    other = await make.house(house.db)
    theirs = await held(other, "Grace", "grace@example.com")
    assert await found(house, "grace@example.com") == []
    assert await found(house, theirs.number) == []


async def test_an_erased_holder_leaves_the_card_and_no_name(house: House) -> None:
    card = await held(house, "Grace Hopper", "grace@example.com")
    async with house.db.transaction() as tx:
        await cards.erase_holder(tx, house.id, card.id, by="ada", at=make.now())
        noted = await changes.of_subject(tx, house.id, card.id)
        assert await tx.value("SELECT status FROM card WHERE organization_id = $1 AND id = $2", house.id, card.id)
    assert await found(house, card.number) == []
    assert sorted(change.action for change in noted) == ["holder erased", "issued"]
    assert "grace" not in str(noted).lower()
