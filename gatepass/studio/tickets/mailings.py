"""Cards by mail: count who would get a letter, look at it, send, watch, stop."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from gatepass.base.errors import NotAllowedFromHere
from gatepass.base.ids import new_id, strict_uuid
from gatepass.base.language import Language
from gatepass.domain import mailings, organizations
from gatepass.domain.events import CatalogueEntry, EventStatus
from gatepass.domain.mail import Rendered
from gatepass.domain.mailings import MOST_CHOSEN, CardLetters, Mailing, MailingNotFound, Recipient
from gatepass.domain.staff import Permission
from gatepass.domain.visibility import GuestField
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.page_event import event_with_tickets

router = APIRouter(prefix="/events/{event_id}/mail")

Reader = Annotated[Context, may(Permission.TICKETS_IMPORT)]
# It writes to thousands of people.
Sender = Annotated[Context, may(Permission.TICKETS_IMPORT, confirmed=True)]
SHOWN: Final = 25
UNDELIVERED_SHOWN: Final = 100
NOBODY: Final = UUID(int=0)
EXAMPLE: Final = Recipient(NOBODY, NOBODY, "SVC 0000 0000 0000", "Ada", "ada@example.com", None, has_letter=False)


@router.get("")
async def compose(event_id: UUID, context: Reader, ticket: Annotated[list[str] | None, Query()] = None) -> Response:
    """Count, and show the letter. Nothing is written."""
    event = await event_with_tickets(context, event_id)
    chosen = _chosen(ticket)
    async with context.studio.counting, context.db.autocommit() as tx:
        audience = await mailings.count(tx, context.tenant_id, event_id, chosen)
    async with context.db.autocommit() as tx:
        done = await mailings.of_event(tx, context.tenant_id, event_id, limit=SHOWN)
    letters = CardLetters.of(context.studio.settings)
    return context.page(
        "mailings/compose.html", event=event.event, audience=audience, chosen=chosen, mailings=done, id=new_id(),
        enabled=letters.mailer.enabled, sends=letters.mailer.sends_for(context.tenant_id),
        published=event.event.status is EventStatus.PUBLISHED, zone=event.event.time_zone,
        query="".join(f"&ticket={one}" for one in chosen or []), languages=list(Language),
    )  # fmt: skip


@router.get("/letter")
async def letter(
    event_id: UUID, context: Reader, ticket: Annotated[list[str] | None, Query()] = None,
    language: Language | None = None,
) -> Response:  # fmt: skip
    """The letter alone, as its reader sees it, in the frame of the page that asks."""
    event = await event_with_tickets(context, event_id)
    shown = await _letter(context, event, _chosen(ticket), language)
    return HTMLResponse(shown.html, headers={"Content-Security-Policy": LETTER_POLICY})


@router.post("")
async def send(event_id: UUID, context: Sender) -> Response:
    event = await event_with_tickets(context, event_id)
    if not context.studio.mailer.sends_for(context.tenant_id):
        return context.go(f"events/{event_id}/mail", "No mail is sent from here.")
    if event.event.status is not EventStatus.PUBLISHED:
        raise NotAllowedFromHere("Publish the event first.")
    form = await context.form()
    mailing_id = strict_uuid(form.value("id"))
    if mailing_id is None:
        raise MailingNotFound
    chosen = _chosen(form.value("tickets").split()) if form.value("tickets") else None
    async with context.tenant_transaction() as tx:
        await mailings.begin(tx, context.tenant_id, mailing_id, event_id, chosen, by=context.by, at=context.at)
    return context.go(f"events/{event_id}/mail/{mailing_id}")


@router.get("/{mailing_id}")
async def show(event_id: UUID, mailing_id: UUID, context: Reader) -> Response:
    event = await event_with_tickets(context, event_id)
    mailing = await _mailing(context, event_id, mailing_id)
    async with context.db.autocommit() as tx:
        progress = await mailings.progress(tx, context.tenant_id, mailing_id)
        failed = await mailings.undelivered(tx, context.tenant_id, mailing_id, limit=UNDELIVERED_SHOWN)
    return context.page(
        "mailings/show.html", event=event.event, mailing=mailing, progress=progress, failed=failed,
        zone=event.event.time_zone,
    )  # fmt: skip


@router.post("/{mailing_id}/stop")
async def stop(event_id: UUID, mailing_id: UUID, context: Reader) -> Response:
    await _mailing(context, event_id, mailing_id)
    async with context.tenant_transaction() as tx:
        await mailings.stop(tx, context.tenant_id, mailing_id, by=context.by, at=context.at)
    return context.go(f"events/{event_id}/mail/{mailing_id}", "The mailing is stopped.")


def _chosen(tickets: list[str] | None) -> list[UUID] | None:
    """The selection in the URL or the form; None: everybody."""
    if tickets is None:
        return None
    found = [id for id in map(strict_uuid, tickets[: MOST_CHOSEN + 1]) if id is not None]
    if not 0 < len(found) <= MOST_CHOSEN:
        raise NotAllowedFromHere(f"Choose 1 to {MOST_CHOSEN:,} tickets.")
    return list(dict.fromkeys(found))


async def _mailing(context: Context, event_id: UUID, mailing_id: UUID) -> Mailing:
    async with context.db.autocommit() as tx:
        mailing = await mailings.find(tx, context.tenant_id, mailing_id)
    if mailing.event_id != event_id:
        raise MailingNotFound
    return mailing


async def _letter(
    context: Context, event: CatalogueEntry, chosen: list[UUID] | None, language: Language | None
) -> Rendered:
    async with context.db.autocommit() as tx:
        recipient = await mailings.example(tx, context.tenant_id, event.event.id, chosen) or EXAMPLE
        organization = await organizations.find(tx, context.organization_id)
    if not context.sight.sees(GuestField.EMAIL):
        recipient = EXAMPLE
    name = organization.name if organization else ""
    letters = CardLetters.of(context.studio.settings)
    return letters.shown(event.event, name, recipient, language or recipient.language)


# A letter has its styles within it, and nothing else: no script, no picture, no form.
LETTER_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox"
