"""The lead's page at a gate, for a phone: find a guest of one event, see the ticket, let them in with a reason.

The scanner's button opens `/studio/lead?event=…&gate=…`. Only names that this event has are taken for a gate: those
of its devices and of its categories.
"""

from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response

from gatepass.base.database import Tx
from gatepass.base.ids import strict_uuid
from gatepass.domain import cards, devices, events, incidents, staff, tickets, twin
from gatepass.domain.actors import find_actors
from gatepass.domain.cards import CardStatus, HeldCard
from gatepass.domain.events import CatalogueEntry, EventNotFound, EventStatus, TicketCategory
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Permission
from gatepass.domain.tickets import AlreadyActivated, ListedTicket, TicketState
from gatepass.studio.services.templates import root_of
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import UNPROCESSABLE, Context
from gatepass.studio.web.forms import Form, Line
from gatepass.studio.web.page_event import event_with_tickets

# Without organization and mode in its URL: a scanner need not know whose it is, and whether it rehearses.
scanner_link = APIRouter(prefix="/lead")
router = APIRouter(prefix="/events/{event_id}/lead")

# As for letting in from the page of a card.
Lead = Annotated[Context, may(Permission.TICKETS_WRITE)]

# A phone shows these without much scrolling. Of more, the next letters of the name find the right one.
MOST: Final = 20
LONGEST_QUERY: Final = 320


class LetInForm(BaseModel):
    """`seen` is the state that the page showed."""

    reason: Line
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Guest:
    """A card, and its ticket for the event: the one in use, or the last that was cancelled."""

    card: HeldCard
    ticket: ListedTicket | None
    category: TicketCategory | None

    def is_elsewhere(self, gate: str | None) -> bool:
        """Whether the ticket does not open this gate."""
        return bool(gate and self.category and self.category.gates and gate not in self.category.gates)

    def is_good(self, event: CatalogueEntry) -> bool:
        """Whether letting in uses the ticket, as `incidents.let_in` decides it."""
        is_unused = self.ticket is not None and self.ticket.state is TicketState.ISSUED
        return is_unused and self.card.status is CardStatus.ACTIVE and event.event.status is EventStatus.PUBLISHED


@scanner_link.get("")
async def enter(context: Annotated[Context, may(None)], event: str = "", gate: str = "") -> Response:
    """From the scanner to the page of its event, live or rehearsed, in the organization of the person that has it."""
    event_id = strict_uuid(event)
    if event_id is None:
        return RedirectResponse(f"{context.root(Mode.LIVE)}/events", 303)
    async with context.db.autocommit() as tx:
        for place in await staff.memberships(tx, context.session.person_id):
            for mode, id in ((Mode.LIVE, place.organization_id), (Mode.SANDBOX, twin.twin_id(place.organization_id))):
                if await events.titles_of(tx, id, [event_id]):
                    page = f"{root_of(place.organization_id, mode)}/events/{event_id}/lead{_query(gate)}"
                    return RedirectResponse(page, 303)
    raise EventNotFound


@router.get("")
async def search(context: Lead, event_id: UUID, q: str = "", gate: str = "") -> Response:
    event = await event_with_tickets(context, event_id)
    text = q.strip()[:LONGEST_QUERY].replace("\0", "")
    async with context.db.autocommit() as tx:
        gates = await _gates(tx, context, event)
        found, more = await _found(tx, context, event_id, text) if text else ([], False)
        card = await cards.find_by_number(tx, context.tenant_id, text) if text and not found else None
    return context.page(
        "lead/search.html",
        event=event.event,
        gate=_known(gate, gates),
        gates=gates,
        q=text,
        tickets=found,
        more=more,
        ticketless=card,
        zone=event.event.time_zone,
    )


@router.get("/{card_id}")
async def guest(context: Lead, event_id: UUID, card_id: UUID, gate: str = "") -> Response:
    event = await event_with_tickets(context, event_id)
    return await _guest_page(context, event, card_id, gate, Form.of())


@router.post("/{card_id}")
async def let_in(context: Lead, event_id: UUID, card_id: UUID, gate: str = "") -> Response:
    """An unused ticket is used; anything else opens an incident. No confirmation: there is a queue behind them."""
    event = await event_with_tickets(context, event_id)
    form = await context.form()
    wanted = form.read(LetInForm)
    if wanted is None:
        return await _guest_page(context, event, card_id, gate, form)
    try:
        async with context.tenant_transaction() as tx:
            known = _known(gate, await _gates(tx, context, event))
            done = await incidents.let_in(
                tx,
                context.tenant_id,
                card_id,
                event_id,
                gate=known,
                seen_unused=wanted.seen == TicketState.ISSUED,
                reason=wanted.reason,
                by=context.by,
                at=context.at,
            )
    except AlreadyActivated:
        form.errors[""] = (
            "The ticket was used since you opened this page. See below by whom, before you let anybody in."
        )
        return await _guest_page(context, event, card_id, gate, form)
    told = "The ticket is used now." if done.activated else "No ticket was used; an incident is open."
    return context.go(f"events/{event_id}/lead{_query(known)}", f"Let in. {told}")


async def _guest_page(context: Context, event: CatalogueEntry, card_id: UUID, gate: str, form: Form) -> Response:
    async with context.db.autocommit() as tx:
        found = await _guest(tx, context, event, card_id)
        gates = await _gates(tx, context, event)
        first = await incidents.first_admission(tx, context.tenant_id, found.ticket.id) if found.ticket else None
        device = None if first is None or first.device_id is None else f"device {first.device_id}"
        by = device or (first.scanner_id if first else None)
        actors = await find_actors(tx, context.organization_id, [by])
    known = _known(gate, gates)
    return context.page(
        "lead/guest.html",
        status=UNPROCESSABLE if form.errors else 200,
        event=event.event,
        gate=known,
        back=_query(known),
        guest=found,
        is_good=found.is_good(event),
        is_elsewhere=found.is_elsewhere(known),
        first=first,
        first_by=actors[by].name if by else None,
        form=form,
        zone=event.event.time_zone,
    )


async def _guest(tx: Tx, context: Context, event: CatalogueEntry, card_id: UUID) -> Guest:
    card = await cards.find(tx, context.tenant_id, card_id)
    held = [one for one in await tickets.of_card(tx, context.tenant_id, card_id) if one.event_id == event.event.id]
    ticket = next((one for one in held if one.cancelled_at is None), held[0] if held else None)
    category = next((one for one in event.categories if ticket and one.id == ticket.category_id), None)
    return Guest(card, ticket, category)


async def _found(tx: Tx, context: Context, event_id: UUID, text: str) -> tuple[list[ListedTicket], bool]:
    return await tickets.search_in_event(tx, context.tenant_id, event_id, text, sight=context.sight, limit=MOST)


async def _gates(tx: Tx, context: Context, event: CatalogueEntry) -> list[str]:
    """The names of gates that this event has. Devices are the organization's in both modes."""
    of_devices = await devices.gates_of(tx, context.organization_id, event.event.id)
    of_categories = (gate for category in event.categories for gate in category.gates or [])
    return sorted({*of_devices, *of_categories})


def _known(gate: str, gates: list[str]) -> str | None:
    return gate if gate in gates else None


def _query(gate: str | None) -> str:
    return "?" + urlencode({"gate": gate}) if gate else ""
