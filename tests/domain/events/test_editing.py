"""Editing an event, its categories and its copies; the audit log has each change with the value before."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.domain import audit_log, events, tickets
from gatepass.domain.events import CategoryDetails, CategoryNotFound, Details, EventNotFound, EventStatus
from gatepass.domain.events.money import written
from gatepass.domain.tickets import SoldOut
from tests import factory
from tests.factory import BY, Tenant


async def found(tenant: Tenant, event_id: UUID) -> events.CatalogueEntry:
    async with tenant.db.autocommit() as tx:
        return await events.find(tx, tenant.id, event_id)


async def edit(tenant: Tenant, event_id: UUID, new: Details) -> list[str]:
    async with tenant.db.transaction() as tx:
        return await events.edit(tx, tenant.id, event_id, new, by="Ada", at=factory.now())


async def history(tenant: Tenant, event_id: UUID) -> list[tuple[Any, ...]]:
    async with tenant.db.autocommit() as tx:
        found = await audit_log.of_subject(tx, tenant.id, event_id)
    return [(one.actor, one.action, one.was, one.becomes) for one in found]


async def test_each_changed_field_is_noted_with_what_it_was(tenant: Tenant) -> None:
    before = (await found(tenant, tenant.event_id)).event
    starts_at = before.starts_at + timedelta(minutes=30)
    new = replace(Details.of(before), title="Test Day", time_zone="Europe/Brussels", venue=None, starts_at=starts_at)
    assert await edit(tenant, tenant.event_id, new) == ["title", "starts_at", "time_zone", "venue"]
    after = (await found(tenant, tenant.event_id)).event
    assert Details.of(after) == new
    noted = {action: (by, was, becomes) for by, action, was, becomes in await history(tenant, tenant.event_id)}
    assert noted["title changed"] == ("Ada", before.title, "Test Day")
    assert noted["venue changed"] == ("Ada", "Hall 1", None)
    assert noted["time_zone changed"] == ("Ada", "UTC", "Europe/Brussels")
    assert noted["starts_at changed"][1].endswith("Z")
    assert "city changed" not in noted


async def test_an_edit_that_changes_nothing_notes_nothing(tenant: Tenant) -> None:
    event = (await found(tenant, tenant.event_id)).event
    before = await history(tenant, tenant.event_id)
    assert await edit(tenant, tenant.event_id, Details.of(event)) == []
    assert await history(tenant, tenant.event_id) == before


@pytest.mark.parametrize("status", [EventStatus.CANCELLED, EventStatus.ENDED])
async def test_what_is_over_stays_as_it_was(tenant: Tenant, status: EventStatus) -> None:
    event_id = await tenant.event(status=status)
    event = (await found(tenant, event_id)).event
    with pytest.raises(NotAllowedFromHere):
        await edit(tenant, event_id, replace(Details.of(event), title="Other"))
    with pytest.raises(NotAllowedFromHere):
        await add(tenant, event_id)


async def test_another_organizations_event_is_unknown(tenant: Tenant) -> None:
    other = await factory.tenant(tenant.db)
    event = (await found(tenant, tenant.event_id)).event
    with pytest.raises(EventNotFound):
        await edit(other, tenant.event_id, Details.of(event))
    with pytest.raises(EventNotFound):
        await add(other, tenant.event_id)


GOOD = Details("Night", datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": " "}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": "a\x00b"}, "title"),
        ({"title": "a\ud800b"}, "title"),
        ({"title": "a\u202eb"}, "title"),
        ({"venue": "x" * 201}, "venue"),
        ({"description": "x" * 10_001}, "description"),
        ({"country": "be"}, "country"),
        ({"country": "XX"}, "country"),
        ({"time_zone": "Europe/Atlantis"}, "time_zone"),
        ({"ends_at": GOOD.starts_at}, "ends_at"),
        ({"starts_at": datetime(1990, 1, 1, tzinfo=UTC)}, "starts_at"),
        ({"cover_url": "http://example.com/a.png"}, "cover_url"),
        ({"cover_url": "javascript:alert(1)"}, "cover_url"),
        ({"cover_url": "https://user@example.com/"}, "cover_url"),
        ({"cover_url": "https://example.com/a b"}, "cover_url"),
        ({"cover_url": 'https://example.com/"onload'}, "cover_url"),
        ({"cover_url": "/covers/../etc"}, "cover_url"),
        ({"cover_url": "/covers/------------------------------------.png"}, "cover_url"),
        ({"cover_url": "https://example.com/" + "x" * 2000}, "cover_url"),
    ],
)
def test_what_cannot_be_said_is_refused_at_its_field(change: dict[str, Any], field: str) -> None:
    assert list(events.problems(replace(GOOD, **change))) == [field]


def test_what_can_be_said() -> None:
    good = replace(GOOD, country="BE", cover_url="https://example.com/a.png?w=1#x", description="a\n\tb", title="é𝔸")
    assert events.problems(good) == {}


# ---- categories ------------------------------------------------------------------------------------------------

VIP = CategoryDetails("VIP", Decimal("99.50"), "EUR", 10, "vip")


async def add(tenant: Tenant, event_id: UUID, details: CategoryDetails = VIP) -> UUID:
    async with tenant.db.transaction() as tx:
        return await events.add_category(
            tx, tenant.id, event_id, details.name, details.price, details.currency, details.quantity_total,
            tier=details.tier, by="Ada", at=factory.now(),
        )  # fmt: skip


async def edit_category(tenant: Tenant, category_id: UUID, details: CategoryDetails) -> None:
    async with tenant.db.transaction() as tx:
        await events.edit_category(tx, tenant.id, tenant.event_id, category_id, details, by="Ada", at=factory.now())


async def remove(tenant: Tenant, category_id: UUID) -> None:
    async with tenant.db.transaction() as tx:
        await events.remove_category(tx, tenant.id, tenant.event_id, category_id, by="Ada", at=factory.now())


async def test_a_category_from_its_addition_to_its_removal(tenant: Tenant) -> None:
    category_id = await add(tenant, tenant.event_id)
    await edit_category(tenant, category_id, replace(VIP, price=Decimal(120), quantity_total=1_500))
    await edit_category(tenant, category_id, replace(VIP, price=Decimal(120), quantity_total=1_500))
    await remove(tenant, category_id)
    assert [one.id for one in (await found(tenant, tenant.event_id)).categories] == [tenant.category_id]
    assert (await history(tenant, tenant.event_id))[:3] == [
        ("Ada", "category removed", "VIP (vip), 120.00 EUR, 1,500 places", None),
        ("Ada", "category changed", "VIP (vip), 99.50 EUR, 10 places", "VIP (vip), 120.00 EUR, 1,500 places"),
        ("Ada", "category added", None, "VIP (vip), 99.50 EUR, 10 places"),
    ]
    with pytest.raises(CategoryNotFound):
        await remove(tenant, category_id)
    with pytest.raises(CategoryNotFound):
        await edit_category(tenant, category_id, VIP)


async def test_never_fewer_places_than_were_sold(tenant: Tenant) -> None:
    for _ in range(3):
        await tenant.card()
    general = CategoryDetails("General", Decimal(20), "EUR", 3)
    await edit_category(tenant, tenant.category_id, general)
    with pytest.raises(InvalidRequest, match="3 are issued") as refusal:
        await edit_category(tenant, tenant.category_id, replace(general, quantity_total=2))
    assert refusal.value.param == "quantity_total"
    with pytest.raises(InvalidRequest) as refusal:
        await edit_category(tenant, tenant.category_id, replace(general, currency="USD"))
    assert refusal.value.param == "currency"
    with pytest.raises(NotAllowedFromHere, match="3 tickets"):
        await remove(tenant, tenant.category_id)


async def test_places_are_taken_away_while_they_are_sold(tenant: Tenant) -> None:
    """The second of two is refused, the buyer or the organizer; the category stays consistent."""
    cards = [await tenant.card(with_ticket=False) for _ in range(12)]
    general = CategoryDetails("General", Decimal(20), "EUR", 6)
    outcomes = await asyncio.gather(
        *[tenant.ticket(card) for card in cards],
        *[
            edit_category(tenant, tenant.category_id, replace(general, quantity_total=places))
            for places in (8, 4, 6, 2)
        ],
        return_exceptions=True,
    )
    assert {type(one) for one in outcomes if isinstance(one, Exception)} <= {SoldOut, InvalidRequest}
    (category,) = (await found(tenant, tenant.event_id)).categories
    assert category.quantity_sold == sum(isinstance(one, UUID) for one in outcomes) <= category.quantity_total


async def test_a_removed_category_sells_nothing_and_its_cancelled_tickets_stay(tenant: Tenant) -> None:
    card = await tenant.card(with_ticket=False)
    ticket_id = await tenant.ticket(card)
    async with tenant.db.transaction() as tx:
        await tickets.cancel(tx, tenant.id, ticket_id, by=BY, at=factory.now(), reason="test")
    await remove(tenant, tenant.category_id)
    with pytest.raises(CategoryNotFound):
        await tenant.ticket(card)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "a\x00"}, "name"),
        ({"tier": "VIP"}, "tier"),
        ({"tier": ""}, "tier"),
        ({"quantity_total": -1}, "quantity_total"),
        ({"quantity_total": 10_000_001}, "quantity_total"),
        ({"price": Decimal(-1)}, "price"),
        ({"price": Decimal("1.001")}, "price"),
        ({"price": Decimal("NaN")}, "price"),
        ({"currency": "eur"}, "currency"),
    ],
)
def test_a_category_that_cannot_be_is_refused_at_its_field(change: dict[str, Any], field: str) -> None:
    assert list(events.category_problems(replace(VIP, **change))) == [field]


async def test_an_event_has_so_many_categories_and_no_more(tenant: Tenant) -> None:
    for _ in range(49):
        await add(tenant, tenant.event_id)
    with pytest.raises(NotAllowedFromHere, match="50"):
        await add(tenant, tenant.event_id)


@pytest.mark.parametrize(
    ("minor", "currency", "text"), [(255050, "EUR", "2,550.50"), (5, "JPY", "5"), (5, "KWD", "0.005")]
)
def test_an_amount_is_written_with_all_its_places(minor: int, currency: str, text: str) -> None:
    assert written(minor, currency) == text


# ---- duplicates ------------------------------------------------------------------------------------------------


async def test_a_duplicate_is_a_draft_with_the_categories_and_no_tickets(tenant: Tenant) -> None:
    await add(tenant, tenant.event_id)
    await tenant.card()
    async with tenant.db.transaction() as tx:
        copy_id = await events.duplicate(tx, tenant.id, tenant.event_id, days=7, by=BY, at=factory.now(), title="Again")
    first, copy = await found(tenant, tenant.event_id), await found(tenant, copy_id)
    assert (copy.event.title, copy.event.status) == ("Again", EventStatus.DRAFT)
    assert copy.event.starts_at - first.event.starts_at == timedelta(days=7)
    assert [(c.name, c.tier, c.price_minor, c.quantity_total, c.quantity_sold) for c in copy.categories] == [
        ("General", "standard", 2550, 100_000, 0),
        ("VIP", "vip", 9950, 10, 0),
    ]


async def test_what_began_at_eight_begins_at_eight_across_a_change_of_the_clocks(tenant: Tenant) -> None:
    event = (await found(tenant, tenant.event_id)).event
    summer = datetime(2026, 10, 20, 18, tzinfo=UTC)
    new = replace(Details.of(event), starts_at=summer, ends_at=summer + timedelta(hours=4), time_zone="Europe/Brussels")
    await edit(tenant, tenant.event_id, new)
    async with tenant.db.transaction() as tx:
        copy_id = await events.duplicate(tx, tenant.id, tenant.event_id, days=7, by=BY, at=factory.now())
    assert (await found(tenant, copy_id)).event.starts_at == datetime(2026, 10, 27, 19, tzinfo=UTC)


async def test_a_duplicate_of_another_organizations_event_is_refused(tenant: Tenant) -> None:
    other = await factory.tenant(tenant.db)
    async with tenant.db.transaction() as tx:
        with pytest.raises(EventNotFound):
            await events.duplicate(tx, other.id, tenant.event_id, days=7, by=BY, at=factory.now())
