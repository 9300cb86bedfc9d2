"""The sandbox twin: its id, its bounds, and how it is emptied."""

import asyncio
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest

from gatepass.base.ids import new_id
from gatepass.domain import cards, events, maintenance, organizations, twin
from gatepass.domain.keys import Mode
from gatepass.domain.lifecycle import listing
from gatepass.domain.twin import SandboxFull, is_twin, owner_of, twin_id
from tests import factory
from tests.factory import BY, Tenant


@pytest.fixture
async def there(tenant: Tenant) -> Tenant:
    """The twin, with a card and a ticket."""
    made = await factory.sandbox_twin(tenant)
    await made.card()
    return made


async def is_there(tenant: Tenant) -> bool:
    async with tenant.db.autocommit() as tx:
        return await tx.value("SELECT EXISTS (SELECT FROM organization WHERE twin_of = $1)", tenant.id)


async def use(tenant: Tenant, at: datetime) -> None:
    """A key of the sandbox is used."""
    key = await tenant.key(mode=Mode.SANDBOX)
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE api_key SET last_used_at = $2 WHERE id = $1", key.id, at)


@pytest.mark.parametrize("id", [new_id(), uuid4(), UUID(int=0)], ids=["version 7", "version 4", "none"])
def test_each_is_known_from_the_other(id: UUID) -> None:
    assert (is_twin(id), is_twin(twin_id(id))) == (False, True)
    assert owner_of(id) == owner_of(twin_id(id)) == id
    assert twin_id(id) != id


def test_the_twin_of_an_organization_has_version_8() -> None:
    assert (new_id().version, twin_id(new_id()).version) == (7, 8)


@pytest.mark.parametrize("twin_of", [None, "another"])
async def test_the_schema_knows_no_other_twin(tenant: Tenant, twin_of: str | None) -> None:
    other = await factory.tenant(tenant.db)
    with pytest.raises(asyncpg.CheckViolationError):
        async with tenant.db.transaction() as tx:
            await tx.run(
                "INSERT INTO organization (id, name, created_at, twin_of) VALUES ($1, 'x', now(), $2)",
                twin_id(tenant.id), other.id if twin_of else None,
            )  # fmt: skip


async def test_it_is_made_once_and_follows_its_owner(tenant: Tenant) -> None:
    async def change() -> None:
        async with tenant.db.transaction() as tx:
            await twin.open_for_changes(tx, tenant.id, at=factory.now())

    await asyncio.gather(*[change() for _ in range(5)])
    async with tenant.db.transaction() as tx:
        await organizations.choose_card_prefix(tx, tenant.id, "HAR", by=BY, at=factory.now())
    await change()
    async with tenant.db.autocommit() as tx:
        (row,) = await tx.rows("SELECT id, card_prefix FROM organization WHERE twin_of = $1", tenant.id)
    assert tuple(row) == (twin_id(tenant.id), "HAR")


async def test_it_signs_with_a_key_of_its_own(tenant: Tenant, there: Tenant) -> None:
    card = await there.card()
    async with tenant.db.autocommit() as tx:
        mine, its = [await cards.verifying_keys(tx, id) for id in (tenant.id, there.id)]
    assert cards.read_token(there.token(card), its).card_number == card.number
    with pytest.raises(cards.InvalidToken):
        cards.read_token(there.token(card), mine)


async def test_operators_do_not_see_it(tenant: Tenant, there: Tenant) -> None:
    async with tenant.db.autocommit() as tx:
        assert await organizations.named(tx, str(there.id)) == []
        page = await listing.page_of_organizations(tx, after=tenant.id, limit=10_000)
    assert there.id not in {one.id for one in page}


async def test_an_organization_has_no_bounds(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twin, "MOST_CARDS", 0)
    await tenant.card()


async def test_cards_of_many_transactions_stay_within_the_bounds(
    there: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(twin, "MOST_CARDS", 4)
    made = await asyncio.gather(*[there.card(with_ticket=False) for _ in range(9)], return_exceptions=True)
    assert sorted(type(one).__name__ for one in made) == ["Card"] * 3 + ["SandboxFull"] * 6


async def test_a_duplicated_event_counts(there: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twin, "MOST_EVENTS", 1)
    with pytest.raises(SandboxFull):
        async with there.db.transaction() as tx:
            await events.duplicate(tx, there.id, there.event_id, days=1, by=BY, at=factory.now(), title="Again")


async def test_a_change_that_is_under_way_is_waited_for(tenant: Tenant, there: Tenant) -> None:
    """Emptying begins when the transaction has ended, so that nothing is left over."""

    async def empty() -> None:
        async with tenant.db.transaction() as tx:
            await twin.empty(tx, tenant.id, by=BY, at=factory.now())

    async with tenant.db.transaction() as tx:
        await twin.open_for_changes(tx, tenant.id, at=factory.now())
        emptying = asyncio.create_task(empty())
        await cards.issue(tx, there.id, by=BY, at=factory.now())
        assert await asyncio.wait({emptying}, timeout=0.2) == (set(), {emptying})
    await emptying
    await maintenance.follow_up(tenant.db, at=factory.now())
    assert not await is_there(tenant)


@pytest.mark.parametrize(
    ("key_used", "left"),
    [(None, False), (timedelta(days=-2), False), (timedelta(days=2), True)],
    ids=["no key", "a key before", "a key since"],
)
async def test_after_a_month_without_a_call_it_is_emptied(
    tenant: Tenant, there: Tenant, key_used: timedelta | None, *, left: bool
) -> None:
    now = factory.now()
    if key_used is not None:
        await use(tenant, now + key_used)
    for at, expected in ((now + timedelta(days=30), True), (now + timedelta(days=31, hours=1), left)):
        # One run has a bound, and other sandboxes of this database are unused too.
        while (await maintenance.run_due(tenant.db, at=at)).sandbox_rows_erased:
            pass
        assert await is_there(tenant) is expected
    assert there
