"""One event: its page, and publishing, deleting, cancelling, ending and reopening it."""

from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.errors import InvalidRequest
from gatepass.domain import audit_log, events, sandbox
from gatepass.domain.actors import find_actors
from gatepass.domain.events import CatalogueEntry, CheckArea, EventStatus, PublicationCheck
from gatepass.domain.events.cancellation import LONGEST_REASON
from gatepass.domain.staff import Permission
from gatepass.studio.events.announcements import is_announceable, page_after_change
from gatepass.studio.events.view import show
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form
from gatepass.studio.web.page_event import editable_event, event_of_page, is_fictional, require_changeable

router = APIRouter(prefix="/events")

# The newest changes on an event's page; the audit log has all.
CHANGES_SHOWN: Final = 12
# The page on which each item of the checklist is fixed, below the mode's root.
FIX_PATHS: Final = {
    CheckArea.DETAILS: "events/{id}/edit",
    CheckArea.CATEGORIES: "events/{id}/categories",
    CheckArea.SIGNING_KEYS: "settings",
    CheckArea.API_KEYS: "keys",
}

Reader = Annotated[Context, may(Permission.EVENTS_READ)]
Writer = Annotated[Context, may(Permission.EVENTS_WRITE)]
# It cancels every ticket of the event.
ConfirmedWriter = Annotated[Context, may(Permission.EVENTS_WRITE, confirmed=True)]


@router.get("/{event_id}")
async def overview(event_id: UUID, context: Reader) -> Response:
    """Status, tickets issued, checklist, and the newest changes."""
    listing = await event_of_page(context, event_id)
    if is_fictional(context, event_id):
        return show(context, "events/sandbox_event.html", listing=listing, cards=sandbox.CARDS)
    async with context.db.autocommit() as tx:
        history = await audit_log.of_subject(tx, context.tenant_id, event_id)
        checks = await events.checklist(tx, context.tenant_id, event_id, at=context.at)
        actors = await find_actors(tx, context.organization_id, (one.actor for one in history[:CHANGES_SHOWN]))
    return show(
        context,
        "events/event.html",
        listing=listing,
        history=history[:CHANGES_SHOWN],
        actors=actors,
        announceable=is_announceable(context, listing.event),
        reopenable=events.has_ended_by_itself(history),
        **_checked(checks, listing),
    )


def _checked(checks: list[PublicationCheck], listing: CatalogueEntry) -> dict[str, Any]:
    at = {where: path.format(id=listing.event.id) for where, path in FIX_PATHS.items()}
    return {"checks": checks, "fix_paths": at, "blockers": events.blockers(checks)}


# ---- publishing ------------------------------------------------------------------------------------------------


@router.get("/{draft_id}/publish")
async def look_before_publishing(draft_id: UUID, context: Writer) -> Response:
    listing = await editable_event(context, draft_id)
    async with context.db.autocommit() as tx:
        checks = await events.checklist(tx, context.tenant_id, draft_id, at=context.at)
    if listing.event.status is not EventStatus.DRAFT:
        return context.go(f"events/{draft_id}")
    return show(context, "events/publish.html", listing=listing, **_checked(checks, listing))


@router.post("/{draft_id}/publish")
async def publish(draft_id: UUID, context: Writer) -> Response:
    require_changeable(context, draft_id)
    async with context.tenant_transaction() as tx:
        await events.publish(tx, context.tenant_id, draft_id, by=context.by, at=context.at)
    return context.go(f"events/{draft_id}", "The event is published. Gates can scan for it from now on.")


@router.post("/{draft_id}/delete")
async def delete(draft_id: UUID, context: Writer) -> Response:
    require_changeable(context, draft_id)
    async with context.tenant_transaction() as tx:
        draft = await events.delete(tx, context.tenant_id, draft_id, by=context.by, at=context.at)
    return context.go("events", f"The draft of {draft.title} is deleted.")


# ---- cancelling and ending -------------------------------------------------------------------------------------


@router.get("/{event_id}/cancel")
async def look_before_cancelling(event_id: UUID, context: ConfirmedWriter) -> Response:
    return await _cancel_page(event_id, context, Form.of())


@router.post("/{event_id}/cancel")
async def cancel(event_id: UUID, context: ConfirmedWriter) -> Response:
    require_changeable(context, event_id)
    form = await context.form()
    try:
        async with context.tenant_transaction() as tx:
            reason = form.value("reason")
            await events.cancel(tx, context.tenant_id, event_id, reason=reason, by=context.by, at=context.at)
    except InvalidRequest as refusal:
        form.refuse(refusal)
        return await _cancel_page(event_id, context, form, status=422)
    told = "The event is cancelled. Its tickets follow in a moment, with their messages."
    return context.go(await page_after_change(context, event_id), told)


async def _cancel_page(event_id: UUID, context: Context, form: Form, *, status: int = 200) -> Response:
    listing = await editable_event(context, event_id)
    async with context.db.autocommit() as tx:
        means = await events.consequences(tx, context.tenant_id, event_id)
    if listing.event.status in (EventStatus.CANCELLED, EventStatus.ENDED):
        return context.go(f"events/{event_id}")
    facts = {"listing": listing, "means": means, "form": form, "longest_reason": LONGEST_REASON}
    return show(context, "events/cancel.html", status=status, **facts)


@router.post("/{event_id}/end")
async def end(event_id: UUID, context: Writer) -> Response:
    require_changeable(context, event_id)
    async with context.tenant_transaction() as tx:
        await events.change_status(tx, context.tenant_id, event_id, EventStatus.ENDED, by=context.by, at=context.at)
    return context.go(f"events/{event_id}", "The event has ended. Its gates are closed.")


@router.post("/{past_id}/reopen")
async def reopen(past_id: UUID, context: Writer) -> Response:
    require_changeable(context, past_id)
    async with context.tenant_transaction() as tx:
        await events.reopen(tx, context.tenant_id, past_id, by=context.by, at=context.at)
    told = "The event is open again, for six hours at least. If it goes on for longer, give it another end."
    return context.go(f"events/{past_id}", told)
