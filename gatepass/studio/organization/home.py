"""Home: how far the organization has come, what to do next, and a scan to try."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from gatepass.domain import events, onboarding, webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.onboarding import Progress
from gatepass.domain.staff import Permission
from gatepass.studio.entrance import may
from gatepass.studio.trial import indented, try_scan
from gatepass.studio.visit import Visit

router = APIRouter(prefix="/home")


@dataclass(frozen=True, slots=True)
class Step:
    done: bool
    title: str
    words: str
    url: str
    button: str
    needs: Permission


@router.get("")
async def home(visit: Annotated[Visit, may(None)]) -> Response:
    async with visit.db.reading() as tx:
        progress = await onboarding.progress(tx, visit.organization_id)
        coming = await events.published(tx, visit.organization_id, after=None, limit=3)
    steps = [step for step in steps_of(progress) if visit.may(step.needs)]
    return visit.page("home/home.html", steps=steps, progress=progress, coming=coming)


def steps_of(progress: Progress) -> list[Step]:
    """In the order in which an integrator goes live. Addresses without a mode lead to where the step belongs."""
    return [
        Step(
            progress.sandbox_key, "Make a sandbox API key", "It answers for a fictional event and five cards.",
            "/studio/sandbox/keys/new", "Make a key", Permission.KEYS_WRITE,
        ),
        Step(
            progress.sandbox_scan, "Scan a test card", "TEST_VALID opens the gate every time.",
            "/studio/sandbox/home#try", "Scan TEST_VALID now", Permission.KEYS_WRITE,
        ),
        Step(
            progress.delivered, "Receive a webhook", "We tell your server of each scan, signed, at least once.",
            "/studio/sandbox/webhooks/new" if not progress.webhook else "/studio/sandbox/webhooks",
            "Add an endpoint" if not progress.webhook else "See your endpoints", Permission.WEBHOOKS_WRITE,
        ),
        Step(
            progress.published, "Publish an event", "The checklist says what is still missing.",
            "/studio/live/events", "Go to events", Permission.EVENTS_WRITE,
        ),
        Step(
            progress.live_key, "Make a live key for your gates", "The preset Gate has just what a scanner needs.",
            "/studio/live/keys/new", "Make a live key", Permission.KEYS_WRITE,
        ),
        Step(
            progress.live_scan, "Open the door", "Watch the first real scan arrive on the live door.",
            "/studio/live/events", "Go to your event", Permission.DOOR_READ,
        ),
    ]  # fmt: skip


@router.post("/try")
async def trial(visit: Annotated[Visit, may(Permission.KEYS_WRITE)]) -> Response:
    """Make a scan in the sandbox and show the request, the answer and the webhook side by side."""
    settings = visit.studio.settings
    key = await visit.studio.trial_keys.key_of(visit.db, visit.organization_id, cell=settings.cell, at=visit.at)
    tried = await try_scan(settings, key)
    return visit.page("home/tried.html", tried=tried, since=visit.at.isoformat(), **await _told(visit, visit.at))


@router.get("/try/webhook")
async def told(
    visit: Annotated[Visit, may(Permission.WEBHOOKS_READ)], since: Annotated[str, Query(max_length=64)] = ""
) -> Response:
    """The webhook of a trial, as far as it has come; htmx asks until it has arrived."""
    return visit.part("home/webhook.html", since=since, **await _told(visit, _moment(since, visit.at)))


async def _told(visit: Visit, since: datetime) -> dict[str, Any]:
    """The newest delivery of a sandbox endpoint since then, with its body."""
    async with visit.db.reading() as tx:
        endpoints = await webhooks.endpoints_of(tx, visit.organization_id, Mode.SANDBOX, after=None, limit=16)
        for endpoint in endpoints:
            found, _ = await webhooks.deliveries_of(tx, visit.organization_id, endpoint, limit=1)
            if found and found[0].at >= since:
                body = await webhooks.body_of(tx, visit.organization_id, endpoint, found[0])
                standing = found[0].status(endpoint)
                text = indented((body or b"").decode())
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
