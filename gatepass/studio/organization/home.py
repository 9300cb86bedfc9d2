"""Home: what needs attention, a checklist, upcoming events, and a trial scan."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from gatepass.domain import attention, events, live, onboarding, webhooks
from gatepass.domain.attention import AttentionKind
from gatepass.domain.events import CatalogueEntry, Event, TicketCategory
from gatepass.domain.keys import Mode
from gatepass.domain.live import AlarmKind
from gatepass.domain.onboarding import Checklist
from gatepass.domain.staff import Permission
from gatepass.studio.organization.checklists import STEPS
from gatepass.studio.services.live_watcher import EventRef
from gatepass.studio.services.templates import indented_json, plural
from gatepass.studio.services.trial_scan import try_scan
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context

router = APIRouter(prefix="/home")


CHECKLISTS: Final = {Mode.LIVE: Checklist.ORGANIZER, Mode.SANDBOX: Checklist.INTEGRATOR}
READS: Final = {AttentionKind.ENDPOINT: Permission.WEBHOOKS_READ, AttentionKind.KEY: Permission.KEYS_READ}
TROUBLE: Final = (AlarmKind.STOPPED, AlarmKind.NOT_PUBLISHED)
# In seconds: how old the figures of a door may be.
SEEN_WITHIN: Final = 10.0
# The part of a category that is issued when it is nearly full.
NEARLY_FULL: Final = 0.95


@router.get("")
async def home(context: Annotated[Context, may(None)]) -> Response:
    checklist = CHECKLISTS[context.mode]
    async with context.db.autocommit() as tx:
        progress = await onboarding.progress(tx, context.organization_id)
        put_away = await onboarding.dismissed(tx, context.organization_id, context.session.person_id)
        coming = await events.published(tx, context.organization_id, limit=3)
        needed = await attention.needed(tx, context.organization_id, at=context.at)
    steps = STEPS[checklist](progress, context.root(Mode.LIVE), context.root(Mode.SANDBOX))
    steps = [step for step in steps if context.may(step.needs)]
    return context.page(
        "home/home.html",
        steps=[] if checklist in put_away else steps,
        coming=coming,
        needed=[one for one in needed if context.may(READS[one.kind])],
        gates=await _at_the_gates(context, coming),
        nearly_full=[(one, category) for one in coming for category in one.categories if _is_nearly_full(category)],
    )


@router.post("/dismiss")
async def dismiss(context: Annotated[Context, may(Permission.EVENTS_READ)]) -> Response:
    """Put the checklist of this page away, for this person. Every role may."""
    checklist = CHECKLISTS[context.mode]
    async with context.transaction() as tx:
        await onboarding.dismiss(tx, context.organization_id, context.session.person_id, checklist)
    return context.go("home", "The checklist is put away.")


async def _at_the_gates(context: Context, coming: list[CatalogueEntry]) -> list[tuple[Event, list[str]]]:
    """For each event that is on: gates that stopped, and scanners that fell silent."""
    found: list[tuple[Event, list[str]]] = []
    for one in coming:
        if not (context.may(Permission.LIVE_READ) and one.event.starts_at <= context.at <= one.event.ends_at):
            continue
        watcher = context.studio.live_hub.view(EventRef(context.organization_id, Mode.LIVE, one.event.id)).watcher
        await watcher.look(if_older_than=SEEN_WITHIN)
        if watcher.figures is not None:
            tally, now = watcher.figures.tally, watcher.figures.at
            words = [alarm.sentence for alarm in live.alarms(one.event, tally, now) if alarm.kind in TROUBLE]
            silent = live.silent_scanners(tally, now)
            words += [f"{plural(len(silent), 'scanner')} fell silent."] if silent else []
            found += [(one.event, words)] if words else []
    return found


def _is_nearly_full(category: TicketCategory) -> bool:
    return category.quantity_sold < category.quantity_total <= category.quantity_sold / NEARLY_FULL


@router.post("/try")
async def trial(context: Annotated[Context, may(Permission.KEYS_WRITE)]) -> Response:
    """Scan a card in the sandbox, and show the request, the response and the webhook side by side."""
    settings = context.studio.settings
    key = await context.studio.trial_keys.key_of(
        context.db, context.organization_id, cell=settings.cell, by=context.by, at=context.at
    )
    result = await try_scan(settings, key)
    return context.page(
        "home/trial.html", result=result, since=context.at.isoformat(), **await _trial_webhook(context, context.at)
    )


@router.get("/try/webhook")
async def trial_webhook(
    context: Annotated[Context, may(Permission.WEBHOOKS_READ)], since: Annotated[str, Query(max_length=64)] = ""
) -> Response:
    """The webhook of a trial scan; htmx polls until it is delivered."""
    return context.part("home/webhook.html", since=since, **await _trial_webhook(context, _moment(since, context.at)))


async def _trial_webhook(context: Context, since: datetime) -> dict[str, Any]:
    """The newest delivery to a sandbox endpoint since then, with its body."""
    async with context.db.autocommit() as tx:
        endpoints = await webhooks.endpoints_of(tx, context.organization_id, Mode.SANDBOX, after=None, limit=16)
        for endpoint in endpoints:
            found, _ = await webhooks.deliveries_of(tx, context.organization_id, endpoint, limit=1)
            if found and found[0].at >= since:
                body = await webhooks.body_of(tx, context.organization_id, endpoint, found[0])
                standing = found[0].status(endpoint)
                text = indented_json((body or b"").decode())
                return {
                    "endpoints": endpoints,
                    "endpoint": endpoint,
                    "delivery": found[0],
                    "standing": standing,
                    "body": text,
                }
    return {"endpoints": endpoints, "endpoint": None, "delivery": None, "standing": None, "body": ""}


def _moment(text: str, otherwise: datetime) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return otherwise
    return found if found.tzinfo else found.replace(tzinfo=UTC)
