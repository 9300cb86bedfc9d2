"""POST, PATCH and DELETE /events: a program makes, changes, publishes, cancels and ends events as the studio does."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated, Final
from uuid import UUID

import msgspec
from fastapi import APIRouter, Path, Response
from msgspec import UNSET, UnsetType

from gatepass.api.etag import seen_versions
from gatepass.api.once import Kept, once, reply, the_kept
from gatepass.api.request import decoded, moment
from gatepass.api.routes.card_schemas import ReasonIn, reason_of
from gatepass.api.routes.events import EventOut, read_event_id
from gatepass.api.schemas import Data
from gatepass.api.write import Write, writes
from gatepass.base.clock import require_version
from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import events, sandbox
from gatepass.domain.events import Details, Event, EventCodes, EventStatus, OfflineAdmission
from gatepass.domain.keys import Mode, Scope

router = APIRouter(tags=["Events"])

EventsWrite = Annotated[Write, writes(Scope.EVENTS_WRITE)]
EventId = Annotated[str, Path(description="The event's UUID.")]
FICTIONAL: Final = "The sandbox's fictional event always stays the same. Make one of your own."

Title = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Time = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Zone = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Text = Annotated[str, msgspec.Meta(max_length=10_000)]
Line = Annotated[str, msgspec.Meta(max_length=200)]
Country = Annotated[str, msgspec.Meta(pattern="^[A-Z]{2}$")]
Url = Annotated[str, msgspec.Meta(pattern="^https://", max_length=2000)]
Reason = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]


class NewEvent(msgspec.Struct, frozen=True):
    title: Title
    starts_at: Time
    ends_at: Time
    time_zone: Zone = "UTC"
    description: Text | None = None
    venue: Line | None = None
    city: Line | None = None
    country: Country | None = None
    cover_url: Url | None = None
    codes: EventCodes = EventCodes.ANY
    doors_open_at: Time | None = None
    offline: OfflineAdmission = OfflineAdmission.MANIFEST


class EventChange(msgspec.Struct, frozen=True):
    title: Title | UnsetType = UNSET
    starts_at: Time | UnsetType = UNSET
    ends_at: Time | UnsetType = UNSET
    time_zone: Zone | UnsetType = UNSET
    description: Text | UnsetType | None = UNSET
    venue: Line | UnsetType | None = UNSET
    city: Line | UnsetType | None = UNSET
    country: Country | UnsetType | None = UNSET
    cover_url: Url | UnsetType | None = UNSET
    codes: EventCodes | UnsetType = UNSET
    doors_open_at: Time | UnsetType | None = UNSET
    offline: OfflineAdmission | UnsetType = UNSET


class EventCancellation(msgspec.Struct, frozen=True):
    reason: Reason


@router.post("/events", status_code=201, response_model=Data[EventOut])
async def create_event(write: EventsWrite) -> Response:
    """A new event; it begins as a draft."""
    raw = await write.request.body()
    body = decoded(raw, NEW)
    starts_at, ends_at = moment(body.starts_at, "starts_at"), moment(body.ends_at, "ends_at")
    doors_open_at = None if body.doors_open_at is None else moment(body.doors_open_at, "doors_open_at")

    async def create(tx: Tx) -> Kept:
        event_id = await events.create(
            tx, write.caller.tenant_id, body.title, starts_at, ends_at, time_zone=body.time_zone,
            description=body.description, venue=body.venue, city=body.city, country=body.country,
            cover_url=body.cover_url, codes=body.codes, doors_open_at=doors_open_at, offline=body.offline,
            by=write.by, at=write.at,
        )  # fmt: skip
        return Kept(201, id=event_id)

    return await once(write, raw, create, the_kept(_found(write)))


@router.patch("/events/{id}", response_model=Data[EventOut])
async def change_event(write: EventsWrite, id: EventId) -> Response:
    """Change the given fields, if the event is still what If-Match says."""
    event_id, seen = event_to_change(write, id), seen_versions(write.request)
    body = decoded(await write.request.body(), CHANGED)
    async with write.transaction(200) as tx:
        event = await events.lock(tx, write.caller.tenant_id, event_id)
        require_version(event.updated_at, seen)
        new = _changed(event, body, write)
        await events.edit(tx, write.caller.tenant_id, event_id, new, by=write.by, at=write.at)
        shown = await _found(write)(tx, event_id)
    return reply(200, shown, {}).response()


@router.post("/events/{id}/publish", response_model=Data[EventOut])
async def publish_event(write: EventsWrite, id: EventId) -> Response:
    """Show the event and open it for scans, if nothing that it needs is missing."""
    event_id, raw = event_to_change(write, id), await write.request.body()

    async def publish(tx: Tx) -> Kept:
        await events.publish(tx, write.caller.tenant_id, event_id, by=write.by, at=write.at)
        return Kept(200, id=event_id)

    return await once(write, raw, publish, the_kept(_found(write)))


@router.post("/events/{id}/cancel", response_model=Data[EventOut])
async def cancel_event(write: EventsWrite, id: EventId) -> Response:
    """Cancel the event and, through the worker, its tickets."""
    event_id, raw = event_to_change(write, id), await write.request.body()
    reason = decoded(raw, CANCELLATION).reason

    async def cancel(tx: Tx) -> Kept:
        await events.cancel(tx, write.caller.tenant_id, event_id, reason=reason, by=write.by, at=write.at)
        return Kept(200, id=event_id)

    return await once(write, raw, cancel, the_kept(_found(write)))


@router.post("/events/{id}/end", response_model=Data[EventOut])
async def end_event(write: EventsWrite, id: EventId) -> Response:
    """End a published event: its gates are closed."""
    event_id, raw = event_to_change(write, id), await write.request.body()
    organization_id = write.caller.tenant_id

    async def end(tx: Tx) -> Kept:
        await events.change_status(tx, organization_id, event_id, EventStatus.ENDED, by=write.by, at=write.at)
        return Kept(200, id=event_id)

    return await once(write, raw, end, the_kept(_found(write)))


@router.post("/events/{id}/reopen", response_model=Data[EventOut])
async def reopen_event(write: EventsWrite, id: EventId) -> Response:
    """Open an event again that ended by itself."""
    event_id, raw = event_to_change(write, id), await write.request.body()
    reason = reason_of(decoded(raw, REASON))

    async def reopen(tx: Tx) -> Kept:
        await events.reopen(tx, write.caller.tenant_id, event_id, by=write.by, at=write.at, reason=reason)
        return Kept(200, id=event_id)

    return await once(write, raw, reopen, the_kept(_found(write)))


@router.delete("/events/{id}", status_code=204)
async def delete_event(write: EventsWrite, id: EventId) -> None:
    """Delete a draft for which nothing was issued."""
    event_id, seen = event_to_change(write, id), seen_versions(write.request)
    async with write.transaction(204) as tx:
        was = await events.delete(tx, write.caller.tenant_id, event_id, by=write.by, at=write.at)
        require_version(was.updated_at, seen)


def event_to_change(write: Write, text: str) -> UUID:
    """The id in a path; not that of the fictional event."""
    event_id = read_event_id(text)
    if write.caller.mode is Mode.SANDBOX and event_id == sandbox.EVENT_ID:
        raise NotAllowedFromHere(FICTIONAL)
    write.call.event_id = event_id
    return event_id


def _found(write: Write) -> Callable[[Tx, UUID], Awaitable[EventOut]]:
    """A function that finds the event as it is now."""

    async def find(tx: Tx, id: UUID) -> EventOut:
        found = await events.find(tx, write.caller.tenant_id, id)
        return EventOut.of(found, write.state.settings.public_url, write.state.settings.cell)

    return find


def _changed(event: Event, body: EventChange, write: Write) -> Details:
    """The details of the event with those of the body in their place."""
    given = {name: value for name in body.__struct_fields__ if (value := getattr(body, name)) is not UNSET}
    for name in given.keys() & {"starts_at", "ends_at", "doors_open_at"}:
        given[name] = None if given[name] is None else moment(given[name], name)
    settings = write.state.settings
    if given.get("cover_url", UNSET) == events.cover_address(event.cover_url, settings.public_url, settings.cell):
        given["cover_url"] = event.cover_url  # as it was read: an uploaded picture stays the one that it is
    return replace(Details.of(event), **given)


NEW: Final = msgspec.json.Decoder(NewEvent)
CHANGED: Final = msgspec.json.Decoder(EventChange)
CANCELLATION: Final = msgspec.json.Decoder(EventCancellation)
REASON: Final = msgspec.json.Decoder(ReasonIn)
