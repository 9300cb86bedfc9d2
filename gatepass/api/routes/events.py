"""GET /events, GET /events/{id}: the catalogue of the caller's organization."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import Field

from gatepass.api.auth import State, needs
from gatepass.api.etag import etag_headers
from gatepass.api.schemas import Data, Moment, Page, Wire, next_page, page_size, page_start
from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import strict_uuid
from gatepass.base.paging import Place
from gatepass.domain import events, sandbox
from gatepass.domain.events import (
    CatalogueEntry,
    EventCodes,
    EventNotFound,
    EventStatus,
    OfflineAdmission,
    TicketCategory,
)
from gatepass.domain.keys import Caller, Mode, Scope

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


@router.get("/events")
async def list_events(
    caller: Annotated[Caller, needs(Scope.EVENTS_READ)],
    state: State,
    response: Response,
    limit: Annotated[int, Depends(page_size)],
    after: Annotated[Place | None, Depends(page_start)],
    status: Annotated[str | None, Query(description="Only events with this status.")] = None,
) -> Page[EventOut]:
    """The published events of the caller's organization, by start; with another status if the key may see it."""
    wanted = EventStatus.PUBLISHED if status is None else _status(caller, status)
    async with state.db.autocommit() as tx:
        found = await events.with_status(tx, caller.tenant_id, wanted, after=after, limit=limit + 1)
    if caller.mode is Mode.SANDBOX and wanted is EventStatus.PUBLISHED:
        found = sandbox.among(found, after)
    page, has_more = found[:limit], len(found) > limit
    place = Place(page[-1].event.starts_at, page[-1].event.id) if has_more else None
    cursor = next_page(response, f"{state.settings.base_url}/events", limit, place, status=status)
    return Page(
        data=[EventOut.of(listing, state.settings.public_url, state.settings.cell) for listing in page],
        has_more=has_more,
        next_cursor=cursor,
    )


def _status(caller: Caller, text: str) -> EventStatus:
    if text not in set(EventStatus):
        raise InvalidRequest(f"status is one of {', '.join(EventStatus)}.", param="status")
    if text != EventStatus.PUBLISHED:
        caller.require(Scope.EVENTS_WRITE)
    return EventStatus(text)


@router.get("/events/{id}")
async def event(
    caller: Annotated[Caller, needs(Scope.EVENTS_READ, devices=True)],
    state: State,
    response: Response,
    id: Annotated[str, Path(description="The event's UUID.")],
) -> Data[EventOut]:
    """One event of the caller's organization, whatever its status. A device sees its own only."""
    event_id = read_event_id(id)
    require_own_event(caller, event_id)
    if caller.mode is Mode.SANDBOX and event_id == sandbox.EVENT_ID:
        found = sandbox.CATALOGUE_ENTRY
    else:
        async with state.db.autocommit() as tx:
            found = await events.find(tx, caller.tenant_id, event_id)
    response.headers.update(etag_headers(found.event))
    return Data(data=EventOut.of(found, state.settings.public_url, state.settings.cell))


def read_event_id(text: str) -> UUID:
    event_id = strict_uuid(text)
    if event_id is None:
        raise EventNotFound
    return event_id


def require_own_event(caller: Caller, event_id: UUID) -> None:
    """For the key of a device there is no event but its own."""
    if caller.device is not None and caller.device.event_id != event_id:
        raise EventNotFound
