"""Making and changing events: what is said about them, their covers, their copies."""

from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.refusals import InvalidRequest
from gatepass.domain import events
from gatepass.domain.events import Details, Event, Listing, zones
from gatepass.domain.events.countries import COUNTRIES
from gatepass.domain.events.event import FINAL
from gatepass.domain.events.picture import MOST_BYTES
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Permission
from gatepass.studio.entrance import may
from gatepass.studio.event_forms import DuplicateForm, read_details, readings, written_details
from gatepass.studio.event_pages import live_only, open_event, show
from gatepass.studio.form import Form, FormTooLarge
from gatepass.studio.visit import Visit

router = APIRouter(prefix="/events")

Writer = Annotated[Visit, may(Permission.EVENTS_WRITE)]

COUNTRY_CHOICES: Final = [("", "Not said"), *sorted(COUNTRIES.items(), key=lambda pair: pair[1])]
# A form with a picture, and the lines around it.
LARGEST_UPLOAD: Final = MOST_BYTES + 64 * 1024
UNITS: Final = {"days": 1, "weeks": 7}


# ---- what is said about an event -------------------------------------------------------------------------------


@router.get("/new")
async def new(visit: Writer) -> Response:
    """An evening in a month, by a clock that the browser's own takes the place of."""
    if visit.mode is Mode.SANDBOX:
        return visit.go("events", "The sandbox has one event of its own. Switch to live to make yours.")
    day = (visit.at + timedelta(days=30)).date().isoformat()
    form = Form.of(time_zone="UTC", starts_date=day, starts_time="20:00", ends_date=day, ends_time="23:00", country="")
    return _details_page(visit, form, None)


@router.post("/new")
async def create(visit: Writer) -> Response:
    live_only(visit)
    form = await visit.form()
    said = read_details(form)
    if said is None:
        return _details_page(visit, form, None, status=422)
    async with visit.transaction() as tx:
        event_id = await events.create(
            tx, visit.organization_id, said.title, said.starts_at, said.ends_at, time_zone=said.time_zone,
            description=said.description, venue=said.venue, city=said.city, country=said.country,
            by=visit.by, at=visit.at,
        )  # fmt: skip
    return visit.go(f"events/{event_id}/categories", "The draft is made. Now say what tickets there are.")


@router.get("/clock")
async def clock(visit: Writer) -> Response:
    """What the times in the form are in UTC, while one types them."""
    form = Form({name: [value] for name, value in visit.request.query_params.items()})
    return visit.part("events/clock.html", form=form, readings=readings(form))


@router.get("/{event_id}/edit")
async def details(event_id: UUID, visit: Writer) -> Response:
    listing = await open_event(visit, event_id)
    if listing.event.status in FINAL:
        return visit.go(f"events/{event_id}")
    return _details_page(visit, written_details(listing.event), listing.event)


@router.post("/{event_id}/edit")
async def edit(event_id: UUID, visit: Writer) -> Response:
    listing = await open_event(visit, event_id)
    form = await visit.form()
    said = read_details(form)
    if said is None:
        return _details_page(visit, form, listing.event, status=422)
    async with visit.transaction() as tx:
        event = await events.lock(tx, visit.organization_id, event_id)
        new = replace(said, cover_url=event.cover_url)
        changed = await events.edit(tx, visit.organization_id, event_id, new, by=visit.by, at=visit.at)
    return visit.go(f"events/{event_id}", "Saved." if changed else "Nothing was changed.")


def _details_page(visit: Visit, form: Form, event: Event | None, *, status: int = 200) -> Response:
    return show(
        visit,
        "events/details.html",
        status=status,
        form=form,
        event=event,
        readings=readings(form),
        countries=COUNTRY_CHOICES,
        time_zones=zones.offered_zones(),
    )


# ---- the cover -------------------------------------------------------------------------------------------------


@router.get("/{event_id}/cover")
async def cover(event_id: UUID, visit: Writer) -> Response:
    event = (await open_event(visit, event_id)).event
    if event.status in FINAL:
        return visit.go(f"events/{event_id}")
    typed = event.cover_url if event.cover_url and not event.cover_url.startswith("/") else ""
    return show(visit, "events/cover.html", event=event, form=Form.of(cover_url=typed))


@router.post("/{event_id}/cover")
async def set_cover(event_id: UUID, visit: Writer) -> Response:
    """A picture that is sent, or the address of one; with neither there is none any more."""
    event = (await open_event(visit, event_id)).event
    form = Form.of()
    try:
        form = await visit.form(most=LARGEST_UPLOAD)
        content = await _content(form)
        async with visit.transaction() as tx:
            kept = await events.keep(tx, visit.organization_id, content, by=visit.by, at=visit.at) if content else None
            cover_url = kept or form.value("cover_url").strip() or None
            new = replace(Details.of(await events.lock(tx, visit.organization_id, event_id)), cover_url=cover_url)
            await events.edit(tx, visit.organization_id, event_id, new, by=visit.by, at=visit.at)
    except FormTooLarge:
        form.errors["cover"] = "The picture is larger than 2 MB."
    except InvalidRequest as refusal:
        form.refuse(refusal)
    else:
        return visit.go(f"events/{event_id}", "The cover is set." if cover_url else "There is no cover any more.")
    return show(visit, "events/cover.html", status=422, event=event, form=form)


async def _content(form: Form) -> bytes:
    """The file that was sent, if there is one; all others are closed unread."""
    content = b""
    for name, file in form.files.items():
        content = await file.read() if name == "cover" else content
        await file.close()
    return content


# ---- copies ----------------------------------------------------------------------------------------------------


@router.get("/{event_id}/duplicate")
async def look_before_duplicating(event_id: UUID, visit: Writer) -> Response:
    listing = await open_event(visit, event_id)
    return _duplicate_page(visit, listing, Form.of(title=listing.event.title, every=1, unit="weeks"))


@router.post("/{event_id}/duplicate")
async def duplicate(event_id: UUID, visit: Writer) -> Response:
    listing = await open_event(visit, event_id)
    form = await visit.form()
    said = form.read(DuplicateForm)
    if said is not None:
        days = said.every * UNITS[said.unit]
        try:
            async with visit.transaction() as tx:
                copy_id = await events.duplicate(
                    tx, visit.organization_id, event_id, days=days, by=visit.by, at=visit.at, title=said.title
                )
        except InvalidRequest as refusal:
            form.errors["every"] = str(refusal)
        else:
            return visit.go(f"events/{copy_id}", "This is the copy. Nothing was sold of it yet.")
    return _duplicate_page(visit, listing, form, status=422)


def _duplicate_page(visit: Visit, listing: Listing, form: Form, *, status: int = 200) -> Response:
    units = [(unit, unit) for unit in UNITS]
    return show(visit, "events/duplicate.html", status=status, listing=listing, form=form, units=units)
