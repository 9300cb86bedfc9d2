"""Ticket categories of an event: names, prices, and how many places."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.clock import require_version, version_of
from gatepass.base.errors import ChangedMeanwhile, InvalidRequest
from gatepass.domain import events
from gatepass.domain.events import CatalogueEntry, CategoryNotFound, EventStatus, TicketCategory
from gatepass.domain.events.event import FINAL_STATUSES
from gatepass.domain.events.money import currencies
from gatepass.domain.staff import Permission
from gatepass.studio.events.forms import read_offer, written_offer
from gatepass.studio.events.times import OF_CATEGORY, readings
from gatepass.studio.events.view import show
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form
from gatepass.studio.web.page_event import editable_event, require_changeable

router = APIRouter(prefix="/events")

Writer = Annotated[Context, may(Permission.EVENTS_WRITE)]


@router.get("/{event_id}/categories")
async def categories(event_id: UUID, context: Writer) -> Response:
    listing = await editable_event(context, event_id)
    if listing.event.status in FINAL_STATUSES:
        return context.go(f"events/{event_id}")
    currency = listing.categories[-1].currency if listing.categories else "EUR"
    return _categories_page(context, listing, Form.of(tier="standard", currency=currency))


@router.post("/{event_id}/categories")
async def add_category(event_id: UUID, context: Writer) -> Response:
    listing = await editable_event(context, event_id)
    form = await context.form()
    offer = read_offer(form, listing.event.time_zone)
    if offer is None:
        return _categories_page(context, listing, form, status=422)
    async with context.tenant_transaction() as tx:
        await events.add_category(
            tx, context.tenant_id, event_id, offer.name, offer.price, offer.currency, offer.quantity_total,
            tier=offer.tier, valid_from=offer.valid_from, valid_until=offer.valid_until, gates=offer.gates,
            by=context.by, at=context.at,
        )  # fmt: skip
    return context.go(f"events/{event_id}/categories", f"{offer.name} is added.")


def _categories_page(context: Context, listing: CatalogueEntry, form: Form, *, status: int = 200) -> Response:
    is_draft = listing.event.status is EventStatus.DRAFT
    return show(context, "events/categories.html", status=status, is_draft=is_draft, **_facts(listing, form))


def _facts(listing: CatalogueEntry, form: Form) -> dict[str, object]:
    found = readings(form, OF_CATEGORY, listing.event.time_zone)
    return {"listing": listing, "form": form, "currencies": _currency_choices(), "readings": found}


@router.get("/{event_id}/categories/{offer_id}")
async def category(event_id: UUID, offer_id: UUID, context: Writer) -> Response:
    listing = await editable_event(context, event_id)
    found = _category_of(listing, offer_id)
    form = written_offer(found, listing.event.time_zone)
    return _category_page(context, listing, found, form, version=version_of(found.updated_at))


@router.post("/{event_id}/categories/{offer_id}")
async def edit_category(event_id: UUID, offer_id: UUID, context: Writer) -> Response:
    listing = await editable_event(context, event_id)
    found = _category_of(listing, offer_id)
    form = await context.form()
    offer = read_offer(form, listing.event.time_zone)
    if offer is not None:
        try:
            async with context.tenant_transaction() as tx:
                now = await events.lock_category(tx, context.tenant_id, offer_id)
                require_version(now.updated_at, form.seen_versions())
                await events.edit_category(
                    tx, context.tenant_id, event_id, offer_id, offer, by=context.by, at=context.at
                )
        except ChangedMeanwhile:
            form.changed_meanwhile()
            found = _category_of(await editable_event(context, event_id), offer_id)
            return _category_page(context, listing, found, form, status=412, version=version_of(found.updated_at))
        except InvalidRequest as refusal:
            form.refuse(refusal)
        else:
            return context.go(f"events/{event_id}/categories", f"{offer.name} is saved.")
    return _category_page(context, listing, found, form, status=422, version=form.value("version"))


def _category_of(listing: CatalogueEntry, category_id: UUID) -> TicketCategory:
    for one in listing.categories:
        if one.id == category_id:
            return one
    raise CategoryNotFound


def _category_page(
    context: Context, listing: CatalogueEntry, category: TicketCategory, form: Form, *, version: str, status: int = 200
) -> Response:
    facts = _facts(listing, form)
    return show(context, "events/category.html", status=status, version=version, category=category, **facts)


@router.post("/{event_id}/categories/{offer_id}/remove")
async def remove_category(event_id: UUID, offer_id: UUID, context: Writer) -> Response:
    require_changeable(context, event_id)
    async with context.tenant_transaction() as tx:
        await events.remove_category(tx, context.tenant_id, event_id, offer_id, by=context.by, at=context.at)
    return context.go(f"events/{event_id}/categories", "The category is removed.")


def _currency_choices() -> list[tuple[str, str]]:
    return [(code, code) for code in sorted(currencies())]
