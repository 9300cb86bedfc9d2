"""Creating and changing events: details, cover, copies."""

from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.clock import require_version, version_of
from gatepass.base.errors import ChangedMeanwhile, InvalidRequest
from gatepass.domain import events
from gatepass.domain.events import CatalogueEntry, Details, Event, time_zones
from gatepass.domain.events.countries import countries
from gatepass.domain.events.event import FINAL_STATUSES
from gatepass.domain.events.image_format import MOST_BYTES
from gatepass.domain.staff import Permission
from gatepass.studio.events.announcements import page_after_change
from gatepass.studio.events.forms import DuplicateForm, read_details, written_details
from gatepass.studio.events.times import readings
from gatepass.studio.events.view import show
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form, FormTooLarge
from gatepass.studio.web.page_event import editable_event

router = APIRouter(prefix="/events")

Writer = Annotated[Context, may(Permission.EVENTS_WRITE)]

# A form with a picture, and 64 KiB for the other fields.
LARGEST_UPLOAD: Final = MOST_BYTES + 64 * 1024
UNITS: Final = {"days": 1, "weeks": 7}


# ---- details ---------------------------------------------------------------------------------------------------


@router.get("/new")
async def new(context: Writer) -> Response:
    """An empty form: an evening in 30 days. Instead of UTC the browser puts in its own time zone (static/events.js)."""
    day = (context.at + timedelta(days=30)).date().isoformat()
    form = Form.of(
        time_zone=context.zone, starts_date=day, starts_time="20:00", ends_date=day, ends_time="23:00", country=""
    )
    return _details_page(context, form, None)


@router.post("/new")
async def create(context: Writer) -> Response:
    form = await context.form()
    details = read_details(form)
    if details is None:
        return _details_page(context, form, None, status=422)
    async with context.tenant_transaction() as tx:
        event_id = await events.create(
            tx, context.tenant_id, details.title, details.starts_at, details.ends_at, time_zone=details.time_zone,
            description=details.description, venue=details.venue, city=details.city, country=details.country,
            codes=details.codes, doors_open_at=details.doors_open_at, offline=details.offline, by=context.by,
            at=context.at,
        )  # fmt: skip
    return context.go(f"events/{event_id}/categories", "The draft is made. Now say what tickets there are.")


@router.get("/clock")
async def clock(context: Writer) -> Response:
    """The times of the form in UTC, while somebody types them."""
    form = Form({name: [value] for name, value in context.request.query_params.items()})
    return context.part("events/clock.html", form=form, readings=readings(form))


@router.get("/{event_id}/edit")
async def details(event_id: UUID, context: Writer) -> Response:
    listing = await editable_event(context, event_id)
    if listing.event.status in FINAL_STATUSES:
        return context.go(f"events/{event_id}")
    version = version_of(listing.event.updated_at)
    return _details_page(context, written_details(listing.event), listing.event, version=version)


@router.post("/{event_id}/edit")
async def edit(event_id: UUID, context: Writer) -> Response:
    listing = await editable_event(context, event_id)
    form = await context.form()
    details = read_details(form)
    if details is None:
        return _details_page(context, form, listing.event, status=422, version=form.value("version"))
    try:
        async with context.tenant_transaction() as tx:
            event = await events.lock(tx, context.tenant_id, event_id)
            require_version(event.updated_at, form.seen_versions())
            new = replace(details, cover_url=event.cover_url)
            changed = await events.edit(tx, context.tenant_id, event_id, new, by=context.by, at=context.at)
            concerns_holders = _where_and_when(Details.of(event)) != _where_and_when(new)
    except ChangedMeanwhile:
        form.changed_meanwhile()
        event = (await editable_event(context, event_id)).event
        return _details_page(context, form, event, status=412, version=version_of(event.updated_at))
    page = await page_after_change(context, event_id) if concerns_holders else f"events/{event_id}"
    return context.go(page, "Saved." if changed else "Nothing was changed.")


def _where_and_when(details: Details) -> tuple[object, ...]:
    """What somebody with a ticket must know to come."""
    return details.starts_at, details.ends_at, details.time_zone, details.venue, details.city, details.country


def _details_page(
    context: Context, form: Form, event: Event | None, *, status: int = 200, version: str = ""
) -> Response:
    return show(
        context,
        "events/details.html",
        status=status,
        form=form,
        event=event,
        version=version,
        readings=readings(form),
        countries=_country_choices(),
        time_zones=time_zones.offered_zones(),
    )


def _country_choices() -> list[tuple[str, str]]:
    return [("", "Not set"), *sorted(countries().items(), key=lambda pair: pair[1])]


# ---- the cover -------------------------------------------------------------------------------------------------


@router.get("/{event_id}/cover")
async def cover(event_id: UUID, context: Writer) -> Response:
    event = (await editable_event(context, event_id)).event
    if event.status in FINAL_STATUSES:
        return context.go(f"events/{event_id}")
    typed = event.cover_url if event.cover_url and not event.cover_url.startswith("/") else ""
    return show(context, "events/cover.html", event=event, form=Form.of(cover_url=typed))


@router.post("/{event_id}/cover")
async def set_cover(event_id: UUID, context: Writer) -> Response:
    """An uploaded picture, or the URL of one. With neither the cover is removed."""
    event = (await editable_event(context, event_id)).event
    form = Form.of()
    try:
        form = await context.form(most=LARGEST_UPLOAD)
        content = await _content(form)
        async with context.tenant_transaction() as tx:
            kept = (
                await events.store_cover(tx, context.tenant_id, content, by=context.by, at=context.at)
                if content
                else None
            )
            cover_url = kept or form.value("cover_url").strip() or None
            new = replace(Details.of(await events.lock(tx, context.tenant_id, event_id)), cover_url=cover_url)
            await events.edit(tx, context.tenant_id, event_id, new, by=context.by, at=context.at)
    except FormTooLarge:
        form.errors["cover"] = "The picture is larger than 2 MB."
    except InvalidRequest as refusal:
        form.refuse(refusal)
    else:
        return context.go(f"events/{event_id}", "The cover is set." if cover_url else "There is no cover any more.")
    return show(context, "events/cover.html", status=422, event=event, form=form)


async def _content(form: Form) -> bytes:
    """The uploaded file, or nothing. Other files are closed unread."""
    content = b""
    for name, file in form.files.items():
        content = await file.read() if name == "cover" else content
        await file.close()
    return content


# ---- copies ----------------------------------------------------------------------------------------------------


@router.get("/{event_id}/duplicate")
async def look_before_duplicating(event_id: UUID, context: Writer) -> Response:
    listing = await editable_event(context, event_id)
    return _duplicate_page(context, listing, Form.of(title=listing.event.title, every=1, unit="weeks"))


@router.post("/{event_id}/duplicate")
async def duplicate(event_id: UUID, context: Writer) -> Response:
    listing = await editable_event(context, event_id)
    form = await context.form()
    details = form.read(DuplicateForm)
    if details is not None:
        days = details.every * UNITS[details.unit]
        try:
            async with context.tenant_transaction() as tx:
                copy_id = await events.duplicate(
                    tx, context.tenant_id, event_id, days=days, by=context.by, at=context.at, title=details.title
                )
        except InvalidRequest as refusal:
            form.errors["every"] = str(refusal)
        else:
            return context.go(f"events/{copy_id}", "This is the copy. It has no tickets yet.")
    return _duplicate_page(context, listing, form, status=422)


def _duplicate_page(context: Context, listing: CatalogueEntry, form: Form, *, status: int = 200) -> Response:
    units = [(unit, unit) for unit in UNITS]
    return show(context, "events/duplicate.html", status=status, listing=listing, form=form, units=units)
