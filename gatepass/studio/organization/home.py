"""Home: the steps of onboarding, upcoming events, and a trial scan."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from gatepass.domain import events, onboarding, webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.onboarding import OnboardingProgress
from gatepass.domain.staff import Permission
from gatepass.studio.services.templates import indented_json
from gatepass.studio.services.trial_scan import try_scan
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context

router = APIRouter(prefix="/home")


@dataclass(frozen=True, slots=True)
class OnboardingStep:
    done: bool
    title: str
    words: str
    url: str
    button: str
    needs: Permission


@router.get("")
async def home(context: Annotated[Context, may(None)]) -> Response:
    async with context.db.autocommit() as tx:
        progress = await onboarding.progress(tx, context.organization_id)
        coming = await events.published(tx, context.organization_id, after=None, limit=3)
    steps = [step for step in steps_of(progress) if context.may(step.needs)]
    return context.page("home/home.html", steps=steps, progress=progress, coming=coming)


def steps_of(progress: OnboardingProgress) -> list[OnboardingStep]:
    """In the order in which an integrator goes live. Each URL has the mode to which its step belongs."""
    return [
        OnboardingStep(
            progress.sandbox_key, "Make a sandbox API key", "It answers for a fictional event and five cards.",
            "/studio/sandbox/keys/new", "Make a key", Permission.KEYS_WRITE,
        ),
        OnboardingStep(
            progress.sandbox_scan, "Scan a test card", "TEST_VALID opens the gate every time.",
            "/studio/sandbox/home#try", "Scan TEST_VALID now", Permission.KEYS_WRITE,
        ),
        OnboardingStep(
            progress.delivered, "Receive a webhook", "We tell your server of each scan, signed, at least once.",
            "/studio/sandbox/webhooks/new" if not progress.webhook else "/studio/sandbox/webhooks",
            "Add an endpoint" if not progress.webhook else "See your endpoints", Permission.WEBHOOKS_WRITE,
        ),
        OnboardingStep(
            progress.published, "Publish an event", "The checklist says what is still missing.",
            "/studio/live/events", "Go to events", Permission.EVENTS_WRITE,
        ),
        OnboardingStep(
            progress.live_key, "Make a live key for your gates", "The preset Gate has just what a scanner needs.",
            "/studio/live/keys/new", "Make a live key", Permission.KEYS_WRITE,
        ),
        OnboardingStep(
            progress.live_scan, "Open the door", "Watch the first real scan arrive on the live page.",
            "/studio/live/events", "Go to your event", Permission.LIVE_READ,
        ),
    ]  # fmt: skip


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
