"""GET /events, GET /events/{id}: the catalogue of the caller's organization."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from gatepass.api.auth import authorize_cached, reauthorize, require_confirmed
from gatepass.api.etag import BETWEEN, digest, unless_seen
from gatepass.api.fast_path import as_route
from gatepass.api.once import reply
from gatepass.api.request import ApiCall, RawRequest
from gatepass.api.responses import Reply
from gatepass.api.schemas import (
    Data,
    Moment,
    Page,
    PageCursor,
    PageLimit,
    Wire,
    link_to_next,
    read_limit,
    read_place,
)
from gatepass.api.state import ApiState
from gatepass.base.clock import version_of
from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import strict_uuid
from gatepass.base.paging import Place
from gatepass.base.settings import Settings
from gatepass.domain import events, sandbox
from gatepass.domain.events import (
    CatalogueEntry,
    CatalogueQuestion,
    CatalogueRead,
    EventCodes,
    EventNotFound,
    EventStatus,
    OfflineAdmission,
    TicketCategory,
)
from gatepass.domain.keys import Caller, InvalidKey, Mode, Scope

router = APIRouter(tags=["Events"])


class TicketCategoryOut(Wire):
    id: UUID
    name: str
    price: int | float = Field(description="In major units of the currency.")
    currency: str = Field(description="ISO 4217.", pattern="^[A-Z]{3}$")
    quantity_total: int
    quantity_sold: int
    tier: str
    updated_at: Moment
    valid_from: Moment | None
    valid_until: Moment | None
    gates: list[str] | None

    @classmethod
    def of(cls, category: TicketCategory) -> "TicketCategoryOut":
        return cls(
            id=category.id,
            name=category.name,
            price=events.to_major(category.price_minor, category.currency),
            currency=category.currency,
            quantity_total=category.quantity_total,
            quantity_sold=category.quantity_sold,
            tier=category.tier,
            updated_at=category.updated_at,
            valid_from=category.valid_from,
            valid_until=category.valid_until,
            gates=category.gates,
        )


class EventOut(Wire):
    id: UUID
    title: str
    description: str | None
    venue: str | None
    city: str | None
    country: str | None = Field(description="ISO 3166-1 alpha-2.")
    starts_at: Moment
    ends_at: Moment
    cover_url: str | None = Field(json_schema_extra={"format": "uri"})
    status: EventStatus
    ticket_categories: list[TicketCategoryOut]
    time_zone: str
    codes: EventCodes
    updated_at: Moment
    doors_open_at: Moment | None
    offline: OfflineAdmission

    @property
    def version(self) -> str:
        """Of the event, and of what does not change `updated_at`: the tickets sold."""
        return f"{version_of(self.updated_at)}{BETWEEN}{digest(self.model_dump_json().encode())}"

    @classmethod
    def of(cls, listing: CatalogueEntry, public_url: str, cell: str) -> "EventOut":
        event = listing.event
        return cls(
            id=event.id,
            title=event.title,
            description=event.description,
            venue=event.venue,
            city=event.city,
            country=event.country,
            starts_at=event.starts_at,
            ends_at=event.ends_at,
            cover_url=events.cover_address(event.cover_url, public_url, cell),
            status=event.status,
            ticket_categories=[TicketCategoryOut.of(category) for category in listing.categories],
            time_zone=event.time_zone,
            codes=event.codes,
            updated_at=event.updated_at,
            doors_open_at=event.doors_open_at,
            offline=event.offline,
        )


@router.get("/events", response_model=Page[EventOut])
async def list_events(
    request: Request,
    limit: PageLimit = None,  # noqa: ARG001  these are for the description
    cursor: PageCursor = None,  # noqa: ARG001
    status: Annotated[str | None, Query(description="Only events with this status.")] = None,  # noqa: ARG001
) -> Response:
    """The published events of the caller's organization, by start; with another status if the key may see it."""
    return await as_route(answer_events, request)


async def answer_events(state: ApiState, call: ApiCall, request: RawRequest) -> Reply:
    authorization = request.header(b"authorization")
    caller = await authorize_cached(state, call, authorization, Scope.EVENTS_READ, devices=False)
    limit, after = read_limit(request.parameter("limit")), read_place(request.parameter("cursor"))
    text = request.parameter("status")
    status = EventStatus.PUBLISHED if text is None else _status(caller, text)
    read = CatalogueRead(caller.tenant_id, status, after, limit + 1)
    found = await _found(state, call, authorization, caller, read)
    with_fictional = caller.mode is Mode.SANDBOX and status is EventStatus.PUBLISHED
    return unless_seen(
        state.catalogue.reply(
            (found, limit, after, text, with_fictional),
            lambda: _page(state.settings, found, limit, after, text, with_fictional=with_fictional),
        ),
        request,
    )


def _page(
    settings: Settings, found: str, limit: int, after: Place | None, status: str | None, *, with_fictional: bool
) -> Reply:
    listed = events.entries(found)
    if with_fictional:
        listed = sandbox.among(listed, after)
    page, has_more = listed[:limit], len(listed) > limit
    place = Place(page[-1].event.starts_at, page[-1].event.id) if has_more else None
    headers, cursor = link_to_next(f"{settings.base_url}/events", limit, place, status=status)
    body = Page(data=[_shown(entry, settings) for entry in page], has_more=has_more, next_cursor=cursor)
    content = body.model_dump_json().encode()
    return Reply(200, content, {**headers, "ETag": f'"{digest(content)}"'})


def _shown(entry: CatalogueEntry, settings: Settings) -> EventOut:
    return EventOut.of(entry, settings.public_url, settings.cell)


def _status(caller: Caller, text: str) -> EventStatus:
    if text not in set(EventStatus):
        raise InvalidRequest(f"status is one of {', '.join(EventStatus)}.", param="status")
    if text != EventStatus.PUBLISHED:
        caller.require(Scope.EVENTS_WRITE)
    return EventStatus(text)


@router.get("/events/{id}", response_model=Data[EventOut])
async def event(request: Request, id: Annotated[str, Path(description="The event's UUID.")]) -> Response:  # noqa: ARG001
    """One event of the caller's organization, whatever its status. A device sees its own only."""
    return await as_route(answer_event, request)


async def answer_event(state: ApiState, call: ApiCall, request: RawRequest) -> Reply:
    authorization = request.header(b"authorization")
    caller = await authorize_cached(state, call, authorization, Scope.EVENTS_READ)
    event_id = read_event_id(request.path().rpartition("/")[2])
    if caller.device is not None and caller.device.event_id != event_id:  # it may have been moved to this event
        caller = await reauthorize(state, call, authorization, Scope.EVENTS_READ)
        require_own_event(caller, event_id)
    if caller.mode is Mode.SANDBOX and event_id == sandbox.EVENT_ID:
        await require_confirmed(state, call, authorization, Scope.EVENTS_READ)
        return unless_seen(_one(sandbox.CATALOGUE_ENTRY, state.settings), request)
    found = await _found(state, call, authorization, caller, CatalogueRead(caller.tenant_id, event_id=event_id))
    if found == events.NOTHING:
        raise EventNotFound
    return unless_seen(state.catalogue.reply((found,), lambda: _one(events.entries(found)[0], state.settings)), request)


def _one(entry: CatalogueEntry, settings: Settings) -> Reply:
    return reply(200, _shown(entry, settings), {})


async def _found(state: ApiState, call: ApiCall, authorization: str | None, caller: Caller, read: CatalogueRead) -> str:
    """The events that a call reads. A device that was moved or ended since its key was cached asks once more."""
    question = CatalogueQuestion(caller.organization_id, caller.key_id, read)
    found = await state.catalogue.read(question)
    if found is None and caller.device is not None and read.event_id is not None:
        require_own_event(await reauthorize(state, call, authorization, Scope.EVENTS_READ), read.event_id)
        found = await state.catalogue.read(question)
    if found is None:  # the cached key is no longer valid
        call.unconfirmed = True
        raise InvalidKey
    call.unconfirmed = False
    return found


def read_event_id(text: str) -> UUID:
    event_id = strict_uuid(text)
    if event_id is None:
        raise EventNotFound
    return event_id


def require_own_event(caller: Caller, event_id: UUID) -> None:
    """For the key of a device there is no event but its own."""
    if caller.device is not None and caller.device.event_id != event_id:
        raise EventNotFound
