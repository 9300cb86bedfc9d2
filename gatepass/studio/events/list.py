"""The list of events: upcoming, past or all, filtered, page by page in both directions."""

from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.paging import Place
from gatepass.domain import events, sandbox
from gatepass.domain.events import Event, EventFilter, EventOrder, EventPage, EventPeriod, EventStatus
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Permission
from gatepass.studio.events.view import show
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form
from gatepass.studio.web.paging import place_of, place_text

router = APIRouter(prefix="/events")

PAGE: Final = 25

Reader = Annotated[Context, may(Permission.EVENTS_READ)]


@router.get("")
async def programme(
    context: Reader,
    when: str = "",
    status: str = "",
    title: str = "",
    order: str = "",
    after: str = "",
    before: str = "",
) -> Response:
    """Upcoming events by default; the filters are in the URL."""
    filters = _filters(when, status, title, order)
    query = _query(filters)
    page, previous, following = await _page(context, query, place_of(after), place_of(before))
    return show(
        context,
        "events/list.html",
        listings=page.entries,
        filters=filters,
        form=Form.of(**filters),
        tabs=[(name, words, _address(context, filters | {"when": name, "order": ""})) for name, words in TABS],
        filtered=bool(filters["title"] or filters["status"]),
        previous=_address(context, filters, before=previous),
        following=_address(context, filters, after=following),
        first_page=not (after or before),
        fictional=sandbox.CATALOGUE_ENTRY if context.mode is Mode.SANDBOX else None,
    )


TABS: Final = (("upcoming", "Upcoming"), ("past", "Past"), ("all", "All"))


def _filters(when: str, status: str, title: str, order: str) -> dict[str, str]:
    """The filters of the URL; unknown values become the default."""
    when = when if when in ("past", "all") else "upcoming"
    usual = EventOrder.LATEST if when == "past" else EventOrder.EARLIEST
    return {
        "when": when,
        "status": status if status in tuple(EventStatus) else "",
        "title": title.strip()[:200].replace("\x00", ""),
        "order": order if order in tuple(EventOrder) else usual,
    }


def _query(filters: dict[str, str]) -> EventFilter:
    return EventFilter(
        EventPeriod(filters["when"]) if filters["when"] != "all" else None,
        EventStatus(filters["status"]) if filters["status"] else None,
        filters["title"] or None,
        EventOrder(filters["order"]),
    )


async def _page(
    context: Context, query: EventFilter, after: Place | None, before: Place | None
) -> tuple[EventPage, Place | None, Place | None]:
    """A page, and the places of the pages before and after it. A page before is read in reverse order."""
    async with context.db.autocommit() as tx:
        if before is None:
            page = await events.list_events(tx, context.tenant_id, query, after=after, limit=PAGE, at=context.at)
            first = page.entries[0].event if page.entries else None
            previous = _place_of(first) if first else after
            return page, previous if after else None, page.after
        other = EventOrder.LATEST if query.order is EventOrder.EARLIEST else EventOrder.EARLIEST
        turned = EventFilter(query.when, query.status, query.title, other)
        page = await events.list_events(tx, context.tenant_id, turned, after=before, limit=PAGE, at=context.at)
    listings = page.entries[::-1]
    following = _place_of(listings[-1].event) if listings else before
    return EventPage(listings, None), page.after, following


def _place_of(event: Event) -> Place:
    return Place(event.starts_at, event.id)


def _address(context: Context, filters: dict[str, str], **places: Place | None) -> str | None:
    """The URL of this list with these filters; None if there is no such page."""
    if None in places.values():
        return None
    written = {name: place_text(place) for name, place in places.items() if place}
    return f"{context.path('events')}?{urlencode({k: v for k, v in (filters | written).items() if v})}"
