"""Links of cards: one each, made in bulk by a constant number of statements, and ended with the card."""

import asyncio
from uuid import UUID

import pytest

from gatepass.base.database import Database, Tx
from gatepass.base.encryption import VaultLocked
from gatepass.domain import cards
from gatepass.domain.cards import CardNotFound, CardRevoked, CardStatus, FoundLink, LinkState, links
from tests import factory
from tests.factory import VAULT, Tenant, now


async def link_of(tenant: Tenant, card_id: UUID) -> str:
    async with tenant.db.transaction() as tx:
        return await cards.link_of(tx, tenant.id, card_id, VAULT, "a", at=now())


async def found(tenant: Tenant, token: str) -> FoundLink | None:
    async with tenant.db.autocommit() as tx:
        return await cards.find_link(tx, token)


async def test_a_card_has_one_link_also_for_many_who_ask_at_once(tenant: Tenant) -> None:
    card = await tenant.card()
    tokens = set(await asyncio.gather(*[link_of(tenant, card.id) for _ in range(8)]))
    assert len(tokens) == 1
    (token,) = tokens
    assert links.TOKEN.fullmatch(token)
    assert await found(tenant, token) == FoundLink(tenant.id, card.id, LinkState.LIVE)


async def test_bulk_calls_for_the_same_cards_do_not_wait_for_each_other_forever(tenant: Tenant) -> None:
    made = [(await tenant.card(with_ticket=False)).id for _ in range(20)]

    async def of_all(card_ids: list[UUID]) -> dict[UUID, str]:
        async with tenant.db.transaction() as tx:
            return await cards.links_of(tx, tenant.id, card_ids, VAULT, "a", at=now())

    several = await asyncio.gather(*[of_all(made if n % 2 else made[::-1]) for n in range(6)])
    assert all(one == several[0] for one in several)
    assert set(several[0]) == set(made)


async def test_the_number_of_statements_does_not_grow(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [(await tenant.card(with_ticket=False)).id for _ in range(30)]
    ran: list[str] = []
    rows = Tx.rows

    async def counted(self: Tx, sql: str, *values: object) -> object:
        ran.append(sql)
        return await rows(self, sql, *values)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(Tx, "rows", counted)
    async with tenant.db.transaction() as tx:
        await cards.links_of(tx, tenant.id, made[:1], VAULT, "a", at=now())
        for_one = len(ran)
        await cards.links_of(tx, tenant.id, made[1:], VAULT, "a", at=now())
    assert len(ran) == 2 * for_one <= 6


async def test_revoked_unknown_and_foreign_cards_get_none(tenant: Tenant, db: Database) -> None:
    good, revoked = await tenant.card(), await tenant.card()
    foreign = await (await factory.tenant(db)).card()
    await tenant.move_card(revoked, CardStatus.REVOKED)
    async with tenant.db.transaction() as tx:
        made = await cards.links_of(tx, tenant.id, [good.id, revoked.id, foreign.id], VAULT, "a", at=now())
    assert set(made) == {good.id}
    with pytest.raises(CardRevoked):
        await link_of(tenant, revoked.id)
    with pytest.raises(CardNotFound):
        await link_of(tenant, foreign.id)


async def test_a_sealed_link_opens_in_its_own_row_alone(tenant: Tenant) -> None:
    one, other = await tenant.card(), await tenant.card()
    await link_of(tenant, one.id)
    await link_of(tenant, other.id)
    async with tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE card_link SET sealed_secret = (SELECT sealed_secret FROM card_link WHERE card_id = $2)"
            " WHERE organization_id = $1 AND card_id = $3",
            tenant.id, one.id, other.id,
        )  # fmt: skip
    with pytest.raises(VaultLocked):
        await link_of(tenant, other.id)


async def test_ended_links_say_why_and_few_are_kept(tenant: Tenant) -> None:
    card = await tenant.card()
    tokens = [await link_of(tenant, card.id)]
    for _ in range(links.MOST_ENDED + 3):
        async with tenant.db.transaction() as tx:
            tokens.append(await cards.change_link(tx, tenant.id, card.id, VAULT, "a", by="test", at=now()))
    states = [one.state if (one := await found(tenant, token)) else None for token in tokens]
    assert states == [None] * 3 + [LinkState.REPLACED] * links.MOST_ENDED + [LinkState.LIVE]


@pytest.mark.parametrize(
    "token", ["", "a.", "A" * 45, "a." + "A" * 42, "a." + "A" * 44, "a." + "é" * 43, "ä." + "A" * 43]
)
async def test_what_is_no_token_is_not_looked_up(tenant: Tenant, token: str) -> None:
    assert await found(tenant, token) is None
