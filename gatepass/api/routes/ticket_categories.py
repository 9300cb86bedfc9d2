"""POST /events/{id}/ticket-categories, PATCH and DELETE /ticket-categories/{id}: the kinds of ticket of an event."""

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Final
from uuid import UUID

import msgspec
from fastapi import APIRouter, Path, Response
from msgspec import UNSET, UnsetType

from gatepass.api.etag import seen_versions
from gatepass.api.once import Kept, once, reply, the_kept
from gatepass.api.request import decoded, moment
from gatepass.api.routes.event_changes import FICTIONAL, EventId, EventsWrite, Time, event_to_change
from gatepass.api.routes.events import TicketCategoryOut
from gatepass.api.schemas import Data
from gatepass.api.write import Write
from gatepass.base.clock import require_version
from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.base.ids import strict_uuid
from gatepass.domain import events, sandbox
from gatepass.domain.events import CategoryDetails, CategoryNotFound, TicketCategory
from gatepass.domain.keys import Mode

router = APIRouter(tags=["Events"])

CategoryId = Annotated[str, Path(description="The category's UUID.")]

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
Price = Annotated[int, msgspec.Meta(ge=0, le=10**12)] | Annotated[float, msgspec.Meta(ge=0, le=10**12)]
Currency = Annotated[str, msgspec.Meta(pattern="^[A-Z]{3}$")]
# JSON has one kind of number, so that 100.0 is a whole one.
Places = Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] | Annotated[float, msgspec.Meta(ge=0, le=10_000_000)]
Tier = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_-]{0,31}$")]
# As in the body of a scan, but never empty.
Gates = Annotated[list[Annotated[str, msgspec.Meta(min_length=1, max_length=64)]], msgspec.Meta(max_length=50)]


class NewCategory(msgspec.Struct, frozen=True):
    name: Name
    price: Price
    currency: Currency
    quantity_total: Places
    tier: Tier = "standard"
    valid_from: Time | None = None
    valid_until: Time | None = None
    gates: Gates | None = None


class CategoryChange(msgspec.Struct, frozen=True):
    name: Name | UnsetType = UNSET
    price: Price | UnsetType = UNSET
    currency: Currency | UnsetType = UNSET
    quantity_total: Places | UnsetType = UNSET
    tier: Tier | UnsetType = UNSET
    valid_from: Time | UnsetType | None = UNSET
    valid_until: Time | UnsetType | None = UNSET
    gates: Gates | UnsetType | None = UNSET


@router.post("/events/{id}/ticket-categories", status_code=201, response_model=Data[TicketCategoryOut])
async def create_category(write: EventsWrite, id: EventId) -> Response:
    """A new kind of ticket for an event."""
    event_id, raw = event_to_change(write, id), await write.request.body()
    body, organization_id = decoded(raw, NEW), write.caller.tenant_id
    places = _whole(body.quantity_total)
    valid_from, valid_until = _moment(body.valid_from, "valid_from"), _moment(body.valid_until, "valid_until")

    async def create(tx: Tx) -> Kept:
        category_id = await events.add_category(
            tx, organization_id, event_id, body.name, _decimal(body.price), body.currency, places,
            tier=body.tier, valid_from=valid_from, valid_until=valid_until, gates=body.gates, by=write.by, at=write.at,
        )  # fmt: skip
        return Kept(201, id=category_id)

    async def find(tx: Tx, id: UUID) -> TicketCategoryOut:
        return TicketCategoryOut.of(await events.find_category(tx, organization_id, id))

    return await once(write, raw, create, the_kept(find))


@router.patch("/ticket-categories/{id}", response_model=Data[TicketCategoryOut])
async def change_category(write: EventsWrite, id: CategoryId) -> Response:
    """Change the given fields; never to fewer places than are issued."""
    category_id, seen = _category_id(write, id), seen_versions(write.request)
    body, organization_id = decoded(await write.request.body(), CHANGED), write.caller.tenant_id
    async with write.transaction(200) as tx:
        category = await events.lock_category(tx, organization_id, category_id)
        write.call.event_id = category.event_id
        require_version(category.updated_at, seen)
        await events.edit_category(
            tx, organization_id, category.event_id, category_id, _changed(category, body), by=write.by, at=write.at
        )
        shown = TicketCategoryOut.of(await events.find_category(tx, organization_id, category_id))
    return reply(200, shown, {}).response()


@router.delete("/ticket-categories/{id}", status_code=204)
async def delete_category(write: EventsWrite, id: CategoryId) -> None:
    """Remove a category that has no tickets in use."""
    category_id, seen = _category_id(write, id), seen_versions(write.request)
    organization_id = write.caller.tenant_id
    async with write.transaction(204) as tx:
        category = await events.lock_category(tx, organization_id, category_id)
        write.call.event_id = category.event_id
        require_version(category.updated_at, seen)
        await events.remove_category(tx, organization_id, category.event_id, category_id, by=write.by, at=write.at)


def _category_id(write: Write, text: str) -> UUID:
    category_id = strict_uuid(text)
    if category_id is None:
        raise CategoryNotFound
    if write.caller.mode is Mode.SANDBOX and category_id in FICTIONAL_CATEGORIES:
        raise NotAllowedFromHere(FICTIONAL)
    return category_id


def _changed(category: TicketCategory, body: CategoryChange) -> CategoryDetails:
    given = {name: value for name in body.__struct_fields__ if (value := getattr(body, name)) is not UNSET}
    if "price" in given:
        given["price"] = _decimal(given["price"])
    if "quantity_total" in given:
        given["quantity_total"] = _whole(given["quantity_total"])
    for name in given.keys() & {"valid_from", "valid_until"}:
        given[name] = _moment(given[name], name)
    return replace(CategoryDetails.of(category), **given)


def _moment(text: str | None, param: str) -> datetime | None:
    return None if text is None else moment(text, param)


def _decimal(price: float) -> Decimal:
    """As it was written: the shortest text of a double is what its sender typed."""
    return Decimal(repr(price))


def _whole(places: float) -> int:
    if places != int(places):
        raise InvalidRequest("quantity_total is a whole number.", param="quantity_total")
    return int(places)


FICTIONAL_CATEGORIES: Final = frozenset(category.id for category in sandbox.CATALOGUE_ENTRY.categories)
NEW: Final = msgspec.json.Decoder(NewCategory)
CHANGED: Final = msgspec.json.Decoder(CategoryChange)
