"""One event: its page, and what moves it through its life."""

from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.refusals import InvalidRequest
from gatepass.domain import changes, events, sandbox
from gatepass.domain.actors import actors_named
from gatepass.domain.events import Check, EventStatus, Listing, Where
from gatepass.domain.events.calling_off import LONGEST_REASON
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Permission
from gatepass.studio.entrance import may
from gatepass.studio.event_pages import live_only, show
from gatepass.studio.form import Form
from gatepass.studio.visit import Visit

router = APIRouter(prefix="/events")

# What the newest changes of an event's page are cut to; the audit has them all.
CHANGES_SHOWN: Final = 12
# Where each item of the checklist is mended, after the mode's root.
MENDED_AT: Final = {
    Where.DETAILS: "events/{id}/edit",
    Where.CATEGORIES: "events/{id}/categories",
    Where.SIGNING_KEYS: "settings",
    Where.API_KEYS: "keys",
}

Reader = Annotated[Visit, may(Permission.EVENTS_READ)]
Writer = Annotated[Visit, may(Permission.EVENTS_WRITE)]


@router.get("/{event_id}")
async def overview(event_id: UUID, visit: Reader) -> Response:
    """Status, what is sold, what comes next, and what was changed."""
    if visit.mode is Mode.SANDBOX:
        listing = sandbox.find(event_id)
        return show(visit, "events/sandbox_event.html", listing=listing, cards=sandbox.CARDS)
    async with visit.db.reading() as tx:
        listing = await events.find(tx, visit.organization_id, event_id)
        history = await changes.of_subject(tx, visit.organization_id, event_id)
        checks = await events.checklist(tx, visit.organization_id, event_id, at=visit.at)
        actors = await actors_named(tx, visit.organization_id, (one.actor for one in history[:CHANGES_SHOWN]))
    return show(
        visit,
        "events/event.html",
        listing=listing,
        history=history[:CHANGES_SHOWN],
        actors=actors,
        **_checked(checks, listing),
    )


def _checked(checks: list[Check], listing: Listing) -> dict[str, Any]:
    at = {where: path.format(id=listing.event.id) for where, path in MENDED_AT.items()}
    return {"checks": checks, "mended_at": at, "blockers": events.blockers(checks)}


# ---- publishing ------------------------------------------------------------------------------------------------


@router.get("/{draft_id}/publish")
async def look_before_publishing(draft_id: UUID, visit: Writer) -> Response:
    live_only(visit, draft_id)
    async with visit.db.reading() as tx:
        listing = await events.find(tx, visit.organization_id, draft_id)
        checks = await events.checklist(tx, visit.organization_id, draft_id, at=visit.at)
    if listing.event.status is not EventStatus.DRAFT:
        return visit.go(f"events/{draft_id}")
    return show(visit, "events/publish.html", listing=listing, **_checked(checks, listing))


@router.post("/{draft_id}/publish")
async def publish(draft_id: UUID, visit: Writer) -> Response:
    live_only(visit, draft_id)
    async with visit.transaction() as tx:
        await events.publish(tx, visit.organization_id, draft_id, by=visit.by, at=visit.at)
    return visit.go(f"events/{draft_id}", "The event is published. Gates can scan for it from now on.")


# ---- cancelling and ending -------------------------------------------------------------------------------------


@router.get("/{event_id}/cancel")
async def look_before_cancelling(event_id: UUID, visit: Writer) -> Response:
    return await _cancel_page(event_id, visit, Form.of())


@router.post("/{event_id}/cancel")
async def cancel(event_id: UUID, visit: Writer) -> Response:
    live_only(visit, event_id)
    form = await visit.form()
    try:
        async with visit.transaction() as tx:
            reason = form.value("reason")
            await events.cancel(tx, visit.organization_id, event_id, reason=reason, by=visit.by, at=visit.at)
    except InvalidRequest as refusal:
        form.refuse(refusal)
        return await _cancel_page(event_id, visit, form, status=422)
    return visit.go(
        f"events/{event_id}", "The event is cancelled. Its tickets follow in a moment, with their messages."
    )


async def _cancel_page(event_id: UUID, visit: Visit, form: Form, *, status: int = 200) -> Response:
    live_only(visit, event_id)
    async with visit.db.reading() as tx:
        listing = await events.find(tx, visit.organization_id, event_id)
        means = await events.consequences(tx, visit.organization_id, event_id)
    if listing.event.status in (EventStatus.CANCELLED, EventStatus.ENDED):
        return visit.go(f"events/{event_id}")
    facts = {"listing": listing, "means": means, "form": form, "longest_reason": LONGEST_REASON}
    return show(visit, "events/cancel.html", status=status, **facts)


@router.post("/{event_id}/end")
async def end(event_id: UUID, visit: Writer) -> Response:
    live_only(visit, event_id)
    async with visit.transaction() as tx:
        await events.move(tx, visit.organization_id, event_id, EventStatus.ENDED, by=visit.by, at=visit.at)
    return visit.go(f"events/{event_id}", "The event has ended. Its gates are closed.")
