"""The programme: every event, filtered, in both orders, page by page."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from gatepass.base.database import Database
from gatepass.base.paging import Place
from gatepass.domain import events
from gatepass.domain.events import EventStatus, Order, Wanted, When, browsing, programme
from tests import make
from tests.make import BY, House


async def read(house: House, wanted: Wanted, *, limit: int = 2, at: datetime | None = None) -> list[UUID]:
    """All pages, one after the other."""
    ids: list[UUID] = []
    after: Place | None = None
    while True:
        async with house.db.reading() as tx:
            page = await programme(tx, house.id, wanted, after=after, limit=limit, at=at or make.now())
        ids += [one.event.id for one in page.listings]
        if page.after is None:
            return ids
        after = page.after


@pytest.fixture
async def full(db: Database) -> tuple[House, dict[str, UUID]]:
    house = await make.house(db)
    day = timedelta(days=1)
    made = {
        "first": house.event_id,
        "old": await house.event(starts_in=-9 * day, status=EventStatus.ENDED),
        "forgotten": await house.event(starts_in=-8 * day, status=EventStatus.DRAFT),
        "running": await house.event(starts_in=timedelta(hours=-1)),
        "off": await house.event(starts_in=2 * day, status=EventStatus.CANCELLED),
        "draft": await house.event(starts_in=3 * day, status=EventStatus.DRAFT),
        "far": await house.event(starts_in=4 * day),
    }
    async with db.transaction() as tx:
        event = (await events.find(tx, house.id, made["far"])).event
        new = events.Details("Fête 100 %_ Jazz", event.starts_at, event.ends_at)
        await events.edit(tx, house.id, made["far"], new, by=BY, at=make.now())
    return house, made


async def test_what_a_filter_shows_in_its_order(full: tuple[House, dict[str, UUID]]) -> None:
    house, made = full
    names = {id: name for name, id in made.items()}

    async def shown(wanted: Wanted) -> str:
        return " ".join(names[id] for id in await read(house, wanted))

    assert await shown(Wanted()) == "old forgotten running first off draft far"
    assert await shown(Wanted(order=Order.LATEST)) == "far draft off first running forgotten old"
    assert await shown(Wanted(When.UPCOMING)) == "running first draft far"
    assert await shown(Wanted(When.UPCOMING, order=Order.LATEST)) == "far draft first running"
    assert await shown(Wanted(When.PAST)) == "old forgotten off"
    assert await shown(Wanted(When.PAST, order=Order.LATEST)) == "off forgotten old"
    assert await shown(Wanted(status=EventStatus.DRAFT)) == "forgotten draft"
    assert await shown(Wanted(status=EventStatus.DRAFT, order=Order.LATEST)) == "draft forgotten"
    assert await shown(Wanted(When.PAST, EventStatus.DRAFT)) == "forgotten"
    assert await shown(Wanted(When.UPCOMING, EventStatus.CANCELLED)) == ""
    assert await shown(Wanted(title=" JAZZ ")) == "far"
    assert await shown(Wanted(title="100 %_")) == "far"
    assert await shown(Wanted(title="%")) == "far"
    assert await shown(Wanted(title="nothing")) == ""
    assert await shown(Wanted(When.UPCOMING, title="summer")) == "running first draft"


async def test_events_that_start_together_are_each_shown_once(db: Database) -> None:
    house = await make.house(db)
    async with db.transaction() as tx:
        start = make.now() + timedelta(days=9)
        made = [
            await events.create(tx, house.id, "Same", start, start + timedelta(hours=1), by=BY, at=make.now())
            for _ in range(7)
        ]
    for order in Order:
        assert sorted(await read(house, Wanted(order=order, title="same"), limit=2)) == sorted(made)


async def test_a_page_says_where_to_look_on(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three are looked through at a time: a page may be empty and not the last."""
    monkeypatch.setattr(browsing, "LOOKED_THROUGH", 3)
    house = await make.house(db)
    made = [await house.event(starts_in=timedelta(days=n)) for n in range(1, 9)]
    async with db.transaction() as tx:
        event = (await events.find(tx, house.id, made[-1])).event
        await events.edit(
            tx, house.id, made[-1], events.Details("Rare", event.starts_at, event.ends_at), by=BY, at=make.now()
        )
        page = await programme(tx, house.id, Wanted(title="rare"), after=None, limit=2, at=make.now())
    assert page.listings == []
    assert page.after is not None
    assert await read(house, Wanted(title="rare")) == [made[-1]]


async def test_another_organizations_events_are_not_shown(full: tuple[House, dict[str, UUID]], db: Database) -> None:
    other = await make.house(db)
    for wanted in (Wanted(), Wanted(When.UPCOMING), Wanted(status=EventStatus.PUBLISHED), Wanted(order=Order.LATEST)):
        assert await read(other, wanted) == [other.event_id]
