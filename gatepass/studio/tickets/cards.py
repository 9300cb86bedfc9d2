"""Cards: the list and the search, a card's page with its history, and suspending, revoking, replacing, printing one.

A card is printed with a token as a QR code. The token is shown once and not stored.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Final
from urllib.parse import urlencode
from uuid import UUID

import segno
from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import RedirectResponse, Response

from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.base.ids import strict_uuid
from gatepass.base.paging import Place
from gatepass.domain import audit_log, cards, events, imports, incidents, mailings, sandbox, tickets
from gatepass.domain.cards import CardNotFound, CardStatus, HeldCard, PhoneNotEnrolled, phones
from gatepass.domain.events import EventFilter, EventOrder, EventStatus
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Permission
from gatepass.domain.tickets import ListedTicket
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form, Reason
from gatepass.studio.web.paging import place_of, place_text

router = APIRouter(prefix="/cards")

Reader = Annotated[Context, may(Permission.TICKETS_READ)]
Writer = Annotated[Context, may(Permission.TICKETS_WRITE)]
# A printed or replaced card lets somebody in.
ConfirmedWriter = Annotated[Context, may(Permission.TICKETS_WRITE, confirmed=True)]
PAGE: Final = 50
MOMENTS: Final = 50
# Of the events to which somebody can be let in by hand: more would not fit beside the button.
MOST_OPEN: Final = 5
MOST_PUBLISHED: Final = 50
LONGEST_QUERY: Final = 320
OUT_OF_USE: Final = {status.value: status for status in (CardStatus.SUSPENDED, CardStatus.REVOKED)}


class EndedPhone(Reason):
    """Who has the phone has the link: it stays only if somebody says so."""

    keep_link: bool = False
    mail: bool = False


class TokenLifetime(BaseModel):
    days: Annotated[int, Field(ge=1, le=400)] = 30


@dataclass(frozen=True, slots=True)
class CardSearchResult:
    """The hits of a search. `more`: there are others; `exact`: the text names this one card."""

    cards: list[HeldCard]
    tickets: list[ListedTicket]
    more: bool = False
    exact: UUID | None = None


@router.get("")
async def listing(context: Reader, q: str = "", status: str = "", before: str = "") -> Response:
    text = q.strip()[:LONGEST_QUERY].replace("\0", "")
    if text:
        found = await _search(context, text)
        if found.exact:
            return context.go(f"cards/{found.exact}")
        return context.page("cards/found.html", q=text, found=found)
    wanted = OUT_OF_USE.get(status)
    async with context.db.autocommit() as tx:
        page = await cards.newest(tx, context.tenant_id, status=wanted, before=strict_uuid(before), limit=PAGE + 1)
    filters = {"status": wanted} if wanted else {}
    older = "?" + urlencode({**filters, "before": page[PAGE - 1].id}) if len(page) > PAGE else None
    newer = "?" + urlencode(filters) if strict_uuid(before) else None
    return context.page(
        "cards/list.html", q="", cards=page[:PAGE], of_status=wanted, older=older, newer=newer,
        fictional_event_id=sandbox.EVENT_ID,
    )  # fmt: skip


async def _search(context: Context, text: str) -> CardSearchResult:
    """By number or digits of it, id, external id; by words of a holder for those who may see holders."""
    id = strict_uuid(text)
    async with context.db.autocommit() as tx:
        if id is not None:
            return await _by_id(tx, context.tenant_id, id)
        card = await cards.find_by_number(tx, context.tenant_id, text)
        if card is not None:
            return CardSearchResult([card], [], exact=card.id)
        referred = await tickets.find_by_reference(tx, context.tenant_id, text, limit=PAGE)
        held = await cards.find_by_text(tx, context.tenant_id, text, sight=context.sight, limit=PAGE + 1)
    exact = referred[0].card_id if len(referred) == 1 and not held else None
    return CardSearchResult(held[:PAGE], referred, more=len(held) > PAGE, exact=exact)


async def _by_id(tx: Tx, organization_id: UUID, id: UUID) -> CardSearchResult:
    try:
        card = await cards.find(tx, organization_id, id)
        return CardSearchResult([card], [], exact=card.id)
    except CardNotFound:
        pass
    try:
        ticket = await tickets.find(tx, organization_id, id)
        return CardSearchResult([], [ticket], exact=ticket.card_id)
    except tickets.TicketNotFound:
        return CardSearchResult([], [])


@router.get("/{card_id}")
async def show(card_id: UUID, context: Reader, before: str = "") -> Response:
    return await _show(context, card_id, Form.of(), place=place_of(before))


async def _show(
    context: Context, card_id: UUID, form: Form, *, place: Place | None = None, act: str = "", status: int = 200
) -> Response:
    if context.mode is Mode.SANDBOX and card_id in sandbox.CARD_IDS.values():
        return RedirectResponse(context.path(f"events/{sandbox.EVENT_ID}/tickets"), 303)
    async with context.db.autocommit() as tx:
        card = await cards.find(tx, context.tenant_id, card_id)
        held = await tickets.of_card(tx, context.tenant_id, card_id)
        phone = await cards.find_phone(tx, context.tenant_id, card_id)
        maker = await imports.maker_of(tx, context.tenant_id, card_id)
        opened = await incidents.of_card(tx, context.tenant_id, card_id)
        open_events = await _open_events(tx, context.tenant_id, held, at=context.at)
        moments = await tickets.history(tx, context.tenant_id, card_id, before=place, limit=MOMENTS + 1)
        mails = phone is not None and context.studio.mailer.sends_for(context.tenant_id)
        reader = await mailings.recipient_of(tx, context.tenant_id, card_id) if mails else None
    last = moments[MOMENTS - 1] if len(moments) > MOMENTS else None
    return context.page(
        "cards/card.html", status=status, card=card, tickets=held, maker=maker, phone=phone, moments=moments[:MOMENTS],
        events={ticket.event_id: ticket.event_title for ticket in held},
        of_tickets={ticket.id: ticket for ticket in held},
        older="?" + urlencode({"before": place_text(Place(last.at, last.id))}) if last else None,
        is_first=place is None, form=form, act=act, REPLACED=tickets.REPLACED, REPLACES=tickets.REPLACES,
        MERGED=tickets.MERGED, MERGES=tickets.MERGES, incidents=opened, open_events=open_events,
        MEANINGS=incidents.MEANINGS, mails=reader is not None,
    )  # fmt: skip


async def _open_events(
    tx: Tx, organization_id: UUID, held: list[ListedTicket], *, at: datetime
) -> list[tuple[UUID, str]]:
    """The events to which a person may let this card in: published ones, those that it has a ticket for first."""
    wanted = EventFilter(status=EventStatus.PUBLISHED, order=EventOrder.LATEST)
    page = await events.list_events(tx, organization_id, wanted, after=None, limit=MOST_PUBLISHED, at=at)
    published = {entry.event.id: entry.event.title for entry in page.entries}
    own = {ticket.event_id: ticket.event_title for ticket in held if ticket.event_id in published}
    return list((own | published).items())[:MOST_OPEN]


@router.post("/{card_id}/suspend")
async def suspend(card_id: UUID, context: Writer) -> Response:
    return await _move(context, card_id, CardStatus.SUSPENDED, "The card is suspended. Gates refuse it from now on.")


@router.post("/{suspended_id}/resume")
async def resume(suspended_id: UUID, context: Writer) -> Response:
    return await _move(context, suspended_id, CardStatus.ACTIVE, "The card is in use again.")


@router.post("/{card_id}/revoke")
async def revoke(card_id: UUID, context: Writer) -> Response:
    return await _move(context, card_id, CardStatus.REVOKED, "The card is revoked, for good.")


async def _move(context: Context, card_id: UUID, to: CardStatus, flash: str) -> Response:
    async def move(tx: Tx, reason: str) -> UUID:
        await cards.change_status(tx, context.tenant_id, card_id, to, by=context.by, at=context.at, reason=reason)
        return card_id

    return await _act(context, card_id, to, move, flash)


@router.post("/{card_id}/replace")
async def replace(card_id: UUID, context: ConfirmedWriter) -> Response:
    async def replaced(tx: Tx, reason: str) -> UUID:
        new = await tickets.replace(tx, context.tenant_id, card_id, by=context.by, at=context.at, reason=reason)
        return new.id

    flash = "This is the new card. It has the holder and the unused tickets; the old card is revoked."
    return await _act(context, card_id, "replaced", replaced, flash)


async def _act(
    context: Context, card_id: UUID, act: str, work: Callable[[Tx, str], Awaitable[UUID]], flash: str
) -> Response:
    """Run `work` with the reason in the form; without one the page asks for it."""
    form = await context.form()
    wanted = form.read(Reason)
    if wanted is None:
        return await _show(context, card_id, form, act=act, status=422)
    async with context.tenant_transaction() as tx:
        at = await work(tx, wanted.reason)
    return context.go(f"cards/{at}", flash)


@router.post("/{card_id}/phone/end")
async def end_phone(card_id: UUID, context: ConfirmedWriter) -> Response:
    """The phone's codes are expired from now on. It has the link, and a wallet's pass by it, so that is changed too."""
    form = await context.form()
    wanted = form.read(EndedPhone)
    if wanted is None:
        return await _show(context, card_id, form, act="phone", status=422)
    settings, mailed = context.studio.settings, False
    try:
        async with context.tenant_transaction() as tx:
            await phones.end(tx, context.tenant_id, card_id, by=context.by, at=context.at, reason=wanted.reason)
            if not wanted.keep_link:
                place = (tx, context.tenant_id, card_id)
                await cards.change_link(*place, context.vault, settings.cell, by=context.by, at=context.at)
                if wanted.mail:
                    mailed = await mailings.mail_card(*place, mailings.CardLetters.of(settings), at=context.at)
    except PhoneNotEnrolled:
        return context.go(f"cards/{card_id}", "No phone shows the code of this card. Nothing was changed.")
    return context.go(f"cards/{card_id}", _told_of_phone(wanted, mailed=mailed))


def _told_of_phone(wanted: EndedPhone, *, mailed: bool) -> str:
    ended = "No phone shows the code of this card any more."
    if wanted.keep_link:
        return f"{ended} Its link is the same: whoever opens it may use another phone."
    rest = "The new one is on its way by mail." if mailed else "Give the guest the new one: the button Link shows it."
    return f"{ended} Its link is changed, and the one before shows nothing. {rest}"


@router.post("/{card_id}/print")
async def show_for_printing(card_id: UUID, context: ConfirmedWriter) -> Response:
    """Sign a token for the card. It admits anybody who has it, so the audit log records it."""
    wanted = (await context.form()).read(TokenLifetime) or TokenLifetime()
    expires_at = context.at + timedelta(days=wanted.days)
    async with context.tenant_transaction() as tx:
        card = await cards.find(tx, context.tenant_id, card_id)
        if card.status is not CardStatus.ACTIVE:
            raise NotAllowedFromHere(f"A card that is {card.status} is not printed: gates would refuse it.")
        sign = await cards.signer(tx, context.tenant_id, context.vault, at=context.at)
        await audit_log.record(
            tx, context.tenant_id, "card", card_id, "printed", by=context.by, at=context.at,
            becomes=f"token until {rfc3339(expires_at)}",
        )  # fmt: skip
    code = segno.make(sign(card.number, expires_at), error="m", micro=False)
    picture = code.svg_data_uri(scale=6, border=4, light="#fff", dark="#000")
    return context.page("cards/print.html", card=card, picture=picture, expires_at=expires_at)
