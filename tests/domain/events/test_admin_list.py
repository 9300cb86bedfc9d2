"""The list of events for organizers: every event, filtered, in both orders, page by page."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from gatepass.base.database import Database
from gatepass.base.paging import Place
from gatepass.domain import events
from gatepass.domain.events import EventFilter, EventOrder, EventPeriod, EventStatus, admin_list, list_events
from tests import factory
from tests.factory import BY, Tenant


async def read(tenant: Tenant, filters: EventFilter, *, limit: int = 2, at: datetime | None = None) -> list[UUID]:
    """All pages, one after the other."""
    ids: list[UUID] = []
    after: Place | None = None
    while True:
        async with tenant.db.autocommit() as tx:
            page = await list_events(tx, tenant.id, filters, after=after, limit=limit, at=at or factory.now())
        ids += [one.event.id for one in page.entries]
        if page.after is None:
            return ids
        after = page.after


@pytest.fixture
async def full(db: Database) -> tuple[Tenant, dict[str, UUID]]:
    tenant = await factory.tenant(db)
    day = timedelta(days=1)
    made = {
        "first": tenant.event_id,
        "old": await tenant.event(starts_in=-9 * day, status=EventStatus.ENDED),
        "forgotten": await tenant.event(starts_in=-8 * day, status=EventStatus.DRAFT),
        "running": await tenant.event(starts_in=timedelta(hours=-1)),
        "off": await tenant.event(starts_in=2 * day, status=EventStatus.CANCELLED),
        "draft": await tenant.event(starts_in=3 * day, status=EventStatus.DRAFT),
        "far": await tenant.event(starts_in=4 * day),
    }
    async with db.transaction() as tx:
        event = (await events.find(tx, tenant.id, made["far"])).event
        new = events.Details("Fête 100 %_ Jazz", event.starts_at, event.ends_at)
        await events.edit(tx, tenant.id, made["far"], new, by=BY, at=factory.now())
    return tenant, made


async def test_what_a_filter_shows_in_its_order(full: tuple[Tenant, dict[str, UUID]]) -> None:
    tenant, made = full
    names = {id: name for name, id in made.items()}

    async def shown(filters: EventFilter) -> str:
        return " ".join(names[id] for id in await read(tenant, filters))

    assert await shown(EventFilter()) == "old forgotten running first off draft far"
    assert await shown(EventFilter(order=EventOrder.LATEST)) == "far draft off first running forgotten old"
    assert await shown(EventFilter(EventPeriod.UPCOMING)) == "running first draft far"
    assert await shown(EventFilter(EventPeriod.UPCOMING, order=EventOrder.LATEST)) == "far draft first running"
    assert await shown(EventFilter(EventPeriod.PAST)) == "old forgotten off"
    assert await shown(EventFilter(EventPeriod.PAST, order=EventOrder.LATEST)) == "off forgotten old"
    assert await shown(EventFilter(status=EventStatus.DRAFT)) == "forgotten draft"
    assert await shown(EventFilter(status=EventStatus.DRAFT, order=EventOrder.LATEST)) == "draft forgotten"
    assert await shown(EventFilter(EventPeriod.PAST, EventStatus.DRAFT)) == "forgotten"
    assert await shown(EventFilter(EventPeriod.UPCOMING, EventStatus.CANCELLED)) == ""
    assert await shown(EventFilter(title=" JAZZ ")) == "far"
    assert await shown(EventFilter(title="100 %_")) == "far"
    assert await shown(EventFilter(title="%")) == "far"
    assert await shown(EventFilter(title="nothing")) == ""
    assert await shown(EventFilter(EventPeriod.UPCOMING, title="summer")) == "running first draft"


async def test_events_that_start_together_are_each_shown_once(db: Database) -> None:
    tenant = await factory.tenant(db)
    async with db.transaction() as tx:
        start = factory.now() + timedelta(days=9)
        made = [
            await events.create(tx, tenant.id, "Same", start, start + timedelta(hours=1), by=BY, at=factory.now())
            for _ in range(7)
        ]
    for order in EventOrder:
        assert sorted(await read(tenant, EventFilter(order=order, title="same"), limit=2)) == sorted(made)


async def test_a_page_says_where_to_look_on(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows are read for each page: a page may be empty and not the last."""
    monkeypatch.setattr(admin_list, "LOOKED_THROUGH", 3)
    tenant = await factory.tenant(db)
    made = [await tenant.event(starts_in=timedelta(days=n)) for n in range(1, 9)]
    async with db.transaction() as tx:
        event = (await events.find(tx, tenant.id, made[-1])).event
        await events.edit(
            tx, tenant.id, made[-1], events.Details("Rare", event.starts_at, event.ends_at), by=BY, at=factory.now()
        )
        page = await list_events(tx, tenant.id, EventFilter(title="rare"), after=None, limit=2, at=factory.now())
    assert page.entries == []
    assert page.after is not None
    assert await read(tenant, EventFilter(title="rare")) == [made[-1]]


async def test_another_organizations_events_are_not_shown(full: tuple[Tenant, dict[str, UUID]], db: Database) -> None:
    other = await factory.tenant(db)
    for filters in (
        EventFilter(),
        EventFilter(EventPeriod.UPCOMING),
        EventFilter(status=EventStatus.PUBLISHED),
        EventFilter(order=EventOrder.LATEST),
    ):
        assert await read(other, filters) == [other.event_id]
