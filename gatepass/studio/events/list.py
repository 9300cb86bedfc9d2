"""The list of events: upcoming, past or all, filtered, page by page in both directions."""

from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.paging import Place
from gatepass.domain import events, sandbox
from gatepass.domain.events import Event, EventStatus, Order, ProgrammePage, Wanted, When
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Permission
from gatepass.studio.entrance import may
from gatepass.studio.event_pages import show
from gatepass.studio.form import Form
from gatepass.studio.places import place_of, place_text
from gatepass.studio.visit import Visit

router = APIRouter(prefix="/events")

PAGE: Final = 25

Reader = Annotated[Visit, may(Permission.EVENTS_READ)]


@router.get("")
async def programme(
    visit: Reader,
    when: str = "",
    status: str = "",
    title: str = "",
    order: str = "",
    after: str = "",
    before: str = "",
) -> Response:
    """Upcoming ones first; the filters are in the address."""
    if visit.mode is Mode.SANDBOX:
        return show(visit, "events/sandbox_list.html", listing=sandbox.LISTING)
    asked = _asked(when, status, title, order)
    wanted = _wanted(asked)
    page, previous, following = await _page(visit, wanted, place_of(after), place_of(before))
    return show(
        visit,
        "events/list.html",
        listings=page.listings,
        asked=asked,
        form=Form.of(**asked),
        tabs=[(name, words, _address(visit, asked | {"when": name, "order": ""})) for name, words in TABS],
        filtered=bool(asked["title"] or asked["status"]),
        previous=_address(visit, asked, before=previous),
        following=_address(visit, asked, after=following),
        first_page=not (after or before),
    )


TABS: Final = (("upcoming", "Upcoming"), ("past", "Past"), ("all", "All"))


def _asked(when: str, status: str, title: str, order: str) -> dict[str, str]:
    """The filters as they are, without what means nothing."""
    when = when if when in ("past", "all") else "upcoming"
    usual = Order.LATEST if when == "past" else Order.EARLIEST
    return {
        "when": when,
        "status": status if status in tuple(EventStatus) else "",
        "title": title.strip()[:200].replace("\x00", ""),
        "order": order if order in tuple(Order) else usual,
    }


def _wanted(asked: dict[str, str]) -> Wanted:
    return Wanted(
        When(asked["when"]) if asked["when"] != "all" else None,
        EventStatus(asked["status"]) if asked["status"] else None,
        asked["title"] or None,
        Order(asked["order"]),
    )


async def _page(
    visit: Visit, wanted: Wanted, after: Place | None, before: Place | None
) -> tuple[ProgrammePage, Place | None, Place | None]:
    """A page, and the places of the pages before and after it. Backwards it is read in the other order and turned."""
    async with visit.db.reading() as tx:
        if before is None:
            page = await events.programme(tx, visit.organization_id, wanted, after=after, limit=PAGE, at=visit.at)
            first = page.listings[0].event if page.listings else None
            previous = _place_of(first) if first else after
            return page, previous if after else None, page.after
        other = Order.LATEST if wanted.order is Order.EARLIEST else Order.EARLIEST
        turned = Wanted(wanted.when, wanted.status, wanted.title, other)
        page = await events.programme(tx, visit.organization_id, turned, after=before, limit=PAGE, at=visit.at)
    listings = page.listings[::-1]
    following = _place_of(listings[-1].event) if listings else before
    return ProgrammePage(listings, None), page.after, following


def _place_of(event: Event) -> Place:
    return Place(event.starts_at, event.id)


def _address(visit: Visit, asked: dict[str, str], **places: Place | None) -> str | None:
    """This list with these filters; nothing for a place that is not there."""
    if None in places.values():
        return None
    written = {name: place_text(place) for name, place in places.items() if place}
    return f"{visit.path('events')}?{urlencode({k: v for k, v in (asked | written).items() if v})}"
