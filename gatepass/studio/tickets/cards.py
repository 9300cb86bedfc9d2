"""Cards: finding them, a card's page with its whole history, and what can be done to one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response

from gatepass.base.database import Tx
from gatepass.base.ids import strict_uuid
from gatepass.base.paging import Place
from gatepass.domain import cards, imports, sandbox, tickets
from gatepass.domain.cards import CardNotFound, CardStatus, HeldCard
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Permission
from gatepass.domain.tickets import ListedTicket
from gatepass.studio.entrance import may
from gatepass.studio.form import Form, Line
from gatepass.studio.places import place_of, place_text
from gatepass.studio.visit import Visit

router = APIRouter(prefix="/cards")

Reader = Annotated[Visit, may(Permission.TICKETS_READ)]
Writer = Annotated[Visit, may(Permission.TICKETS_WRITE)]
PAGE: Final = 50
MOMENTS: Final = 50
LONGEST_QUERY: Final = 320
OUT_OF_USE: Final = {status.value: status for status in (CardStatus.SUSPENDED, CardStatus.REVOKED)}


class Reason(BaseModel):
    reason: Line


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found. `more` says that there are others, and to type more; `exact` that one card was named."""

    cards: list[HeldCard]
    tickets: list[ListedTicket]
    more: bool = False
    exact: UUID | None = None


@router.get("")
async def listing(visit: Reader, q: str = "", status: str = "", before: str = "") -> Response:
    if visit.mode is Mode.SANDBOX:
        return visit.page("cards/sandbox.html", cards=sandbox.CARDS, ids=sandbox.CARD_IDS, event=sandbox.LISTING.event)
    text = q.strip()[:LONGEST_QUERY].replace("\0", "")
    if text:
        found = await _search(visit, text)
        if found.exact:
            return visit.go(f"cards/{found.exact}")
        return visit.page("cards/found.html", q=text, found=found)
    wanted = OUT_OF_USE.get(status)
    async with visit.db.reading() as tx:
        page = await cards.newest(tx, visit.organization_id, status=wanted, before=strict_uuid(before), limit=PAGE + 1)
    filters = {"status": wanted} if wanted else {}
    older = "?" + urlencode({**filters, "before": page[PAGE - 1].id}) if len(page) > PAGE else None
    newer = "?" + urlencode(filters) if strict_uuid(before) else None
    return visit.page("cards/list.html", q="", cards=page[:PAGE], of_status=wanted, older=older, newer=newer)


async def _search(visit: Visit, text: str) -> Found:
    """By number, by an id, by a reference, and by a name or an address for those who may see them."""
    id = strict_uuid(text)
    async with visit.db.reading() as tx:
        if id is not None:
            return await _by_id(tx, visit.organization_id, id)
        card = await cards.find_by_number(tx, visit.organization_id, text)
        if card is not None:
            return Found([card], [], exact=card.id)
        referred = await tickets.referred(tx, visit.organization_id, text, limit=PAGE)
        held: list[HeldCard] = []
        if visit.may(Permission.HOLDERS_READ):
            held = await cards.held_by(tx, visit.organization_id, text, limit=PAGE + 1)
    exact = referred[0].card_id if len(referred) == 1 and not held else None
    return Found(held[:PAGE], referred, more=len(held) > PAGE, exact=exact)


async def _by_id(tx: Tx, organization_id: UUID, id: UUID) -> Found:
    try:
        card = await cards.find(tx, organization_id, id)
        return Found([card], [], exact=card.id)
    except CardNotFound:
        pass
    try:
        ticket = await tickets.find(tx, organization_id, id)
        return Found([], [ticket], exact=ticket.card_id)
    except tickets.TicketNotFound:
        return Found([], [])


@router.get("/{card_id}")
async def show(card_id: UUID, visit: Reader, before: str = "") -> Response:
    return await _show(visit, card_id, Form.of(), place=place_of(before))


async def _show(
    visit: Visit, card_id: UUID, form: Form, *, place: Place | None = None, act: str = "", status: int = 200
) -> Response:
    if visit.mode is Mode.SANDBOX:
        return _sandbox_card(visit, card_id)
    async with visit.db.reading() as tx:
        card = await cards.find(tx, visit.organization_id, card_id)
        held = await tickets.of_card(tx, visit.organization_id, card_id)
        maker = await imports.maker_of(tx, visit.organization_id, card_id)
        moments = await tickets.history(tx, visit.organization_id, card_id, before=place, limit=MOMENTS + 1)
    last = moments[MOMENTS - 1] if len(moments) > MOMENTS else None
    return visit.page(
        "cards/card.html", status=status, card=card, tickets=held, maker=maker, moments=moments[:MOMENTS],
        events={ticket.event_id: ticket.event_title for ticket in held},
        of_tickets={ticket.id: ticket for ticket in held},
        older="?" + urlencode({"before": place_text(Place(last.at, last.id))}) if last else None,
        is_first=place is None, form=form, act=act, REPLACED=tickets.REPLACED, REPLACES=tickets.REPLACES,
    )  # fmt: skip


def _sandbox_card(visit: Visit, card_id: UUID) -> Response:
    name = next((name for name, id in sandbox.CARD_IDS.items() if id == card_id), None)
    if name is None:
        raise CardNotFound
    return RedirectResponse(visit.path("cards"), 303)


@router.post("/{card_id}/suspend")
async def suspend(card_id: UUID, visit: Writer) -> Response:
    return await _move(visit, card_id, CardStatus.SUSPENDED, "The card is suspended. Gates refuse it from now on.")


@router.post("/{suspended_id}/resume")
async def resume(suspended_id: UUID, visit: Writer) -> Response:
    return await _move(visit, suspended_id, CardStatus.ACTIVE, "The card is in use again.")


@router.post("/{card_id}/revoke")
async def revoke(card_id: UUID, visit: Writer) -> Response:
    return await _move(visit, card_id, CardStatus.REVOKED, "The card is revoked, for good.")


async def _move(visit: Visit, card_id: UUID, to: CardStatus, said: str) -> Response:
    async def move(tx: Tx, reason: str) -> UUID:
        await cards.move(tx, visit.organization_id, card_id, to, by=visit.by, at=visit.at, reason=reason)
        return card_id

    return await _act(visit, card_id, to, move, said)


@router.post("/{card_id}/replace")
async def replace(card_id: UUID, visit: Writer) -> Response:
    async def replaced(tx: Tx, reason: str) -> UUID:
        new = await tickets.replace(tx, visit.organization_id, card_id, by=visit.by, at=visit.at, reason=reason)
        return new.id

    said = "This is the new card. It has the holder and the unused tickets; the old card is revoked."
    return await _act(visit, card_id, "replaced", replaced, said)


async def _act(
    visit: Visit, card_id: UUID, act: str, work: Callable[[Tx, str], Awaitable[UUID]], said: str
) -> Response:
    """Do it with a reason; without one the page asks for it."""
    if visit.mode is Mode.SANDBOX:
        raise CardNotFound
    form = await visit.form()
    wanted = form.read(Reason)
    if wanted is None:
        return await _show(visit, card_id, form, act=act, status=422)
    async with visit.transaction() as tx:
        at = await work(tx, wanted.reason)
    return visit.go(f"cards/{at}", said)
