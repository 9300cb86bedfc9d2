"""GET /events, GET /events/{id}: the catalogue of the caller's organization."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Response
from pydantic import Field

from gatepass.api.auth import State, needs
from gatepass.api.schemas import Data, Moment, Page, Wire, next_page, page_size, page_start
from gatepass.base.ids import strict_uuid
from gatepass.base.paging import Place
from gatepass.domain import events, sandbox
from gatepass.domain.events import CatalogueEntry, EventNotFound, EventStatus, TicketCategory
from gatepass.domain.keys import Caller, Mode, Scope

router = APIRouter(tags=["Events"])


class TicketCategoryOut(Wire):
    id: UUID
    name: str
    price: int | float = Field(description="In major units of the currency.")
    currency: str = Field(description="ISO 4217.", pattern="^[A-Z]{3}$")
    quantity_total: int
    quantity_sold: int

    @classmethod
    def of(cls, category: TicketCategory) -> "TicketCategoryOut":
        return cls(
            id=category.id,
            name=category.name,
            price=events.to_major(category.price_minor, category.currency),
            currency=category.currency,
            quantity_total=category.quantity_total,
            quantity_sold=category.quantity_sold,
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
        )


@router.get("/events")
async def list_events(
    caller: Annotated[Caller, needs(Scope.EVENTS_READ)],
    state: State,
    response: Response,
    limit: Annotated[int, Depends(page_size)],
    after: Annotated[Place | None, Depends(page_start)],
) -> Page[EventOut]:
    """The published events of the caller's organization, by start."""
    if caller.mode is Mode.SANDBOX:
        found = sandbox.published(after)
    else:
        async with state.db.autocommit() as tx:
            found = await events.published(tx, caller.organization_id, after=after, limit=limit + 1)
    page, has_more = found[:limit], len(found) > limit
    place = Place(page[-1].event.starts_at, page[-1].event.id) if has_more else None
    cursor = next_page(response, f"{state.settings.base_url}/events", limit, place)
    return Page(
        data=[EventOut.of(listing, state.settings.public_url, state.settings.cell) for listing in page],
        has_more=has_more,
        next_cursor=cursor,
    )


@router.get("/events/{id}")
async def event(
    caller: Annotated[Caller, needs(Scope.EVENTS_READ)],
    state: State,
    id: Annotated[str, Path(description="The event's UUID.")],
) -> Data[EventOut]:
    """One event of the caller's organization, whatever its status."""
    event_id = strict_uuid(id)
    if event_id is None:
        raise EventNotFound
    if caller.mode is Mode.SANDBOX:
        return Data(data=EventOut.of(sandbox.find(event_id), state.settings.public_url, state.settings.cell))
    async with state.db.autocommit() as tx:
        found = await events.find(tx, caller.organization_id, event_id)
    return Data(data=EventOut.of(found, state.settings.public_url, state.settings.cell))
