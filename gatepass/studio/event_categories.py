"""Ticket categories of an event: what is sold, for how much, and how many."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.refusals import InvalidRequest
from gatepass.domain import events
from gatepass.domain.events import CategoryNotFound, EventStatus, Listing, TicketCategory
from gatepass.domain.events.event import FINAL
from gatepass.domain.events.money import CURRENCIES
from gatepass.domain.staff import Permission
from gatepass.studio.entrance import may
from gatepass.studio.event_forms import read_offer, written_offer
from gatepass.studio.event_pages import live_only, open_event, show
from gatepass.studio.form import Form
from gatepass.studio.visit import Visit

router = APIRouter(prefix="/events")

Writer = Annotated[Visit, may(Permission.EVENTS_WRITE)]

CURRENCY_CHOICES: Final = [(code, code) for code in sorted(CURRENCIES)]


@router.get("/{event_id}/categories")
async def categories(event_id: UUID, visit: Writer) -> Response:
    listing = await open_event(visit, event_id)
    if listing.event.status in FINAL:
        return visit.go(f"events/{event_id}")
    currency = listing.categories[-1].currency if listing.categories else "EUR"
    return _categories_page(visit, listing, Form.of(tier="standard", currency=currency))


@router.post("/{event_id}/categories")
async def add_category(event_id: UUID, visit: Writer) -> Response:
    listing = await open_event(visit, event_id)
    form = await visit.form()
    offer = read_offer(form)
    if offer is None:
        return _categories_page(visit, listing, form, status=422)
    async with visit.transaction() as tx:
        await events.add_category(
            tx, visit.organization_id, event_id, offer.name, offer.price, offer.currency, offer.quantity_total,
            tier=offer.tier, by=visit.by, at=visit.at,
        )  # fmt: skip
    return visit.go(f"events/{event_id}/categories", f"{offer.name} is added.")


def _categories_page(visit: Visit, listing: Listing, form: Form, *, status: int = 200) -> Response:
    is_draft = listing.event.status is EventStatus.DRAFT
    facts = {"listing": listing, "form": form, "currencies": CURRENCY_CHOICES, "is_draft": is_draft}
    return show(visit, "events/categories.html", status=status, **facts)


@router.get("/{event_id}/categories/{offer_id}")
async def category(event_id: UUID, offer_id: UUID, visit: Writer) -> Response:
    listing = await open_event(visit, event_id)
    found = _category_of(listing, offer_id)
    return _category_page(visit, listing, found, written_offer(found))


@router.post("/{event_id}/categories/{offer_id}")
async def edit_category(event_id: UUID, offer_id: UUID, visit: Writer) -> Response:
    listing = await open_event(visit, event_id)
    found = _category_of(listing, offer_id)
    form = await visit.form()
    offer = read_offer(form)
    if offer is not None:
        try:
            async with visit.transaction() as tx:
                await events.edit_category(
                    tx, visit.organization_id, event_id, offer_id, offer, by=visit.by, at=visit.at
                )
        except InvalidRequest as refusal:
            form.refuse(refusal)
        else:
            return visit.go(f"events/{event_id}/categories", f"{offer.name} is saved.")
    return _category_page(visit, listing, found, form, status=422)


def _category_of(listing: Listing, category_id: UUID) -> TicketCategory:
    for one in listing.categories:
        if one.id == category_id:
            return one
    raise CategoryNotFound


def _category_page(
    visit: Visit, listing: Listing, category: TicketCategory, form: Form, *, status: int = 200
) -> Response:
    facts = {"listing": listing, "category": category, "form": form, "currencies": CURRENCY_CHOICES}
    return show(visit, "events/category.html", status=status, **facts)


@router.post("/{event_id}/categories/{offer_id}/remove")
async def remove_category(event_id: UUID, offer_id: UUID, visit: Writer) -> Response:
    live_only(visit, event_id)
    async with visit.transaction() as tx:
        await events.remove_category(tx, visit.organization_id, event_id, offer_id, by=visit.by, at=visit.at)
    return visit.go(f"events/{event_id}/categories", "The category is removed.")
