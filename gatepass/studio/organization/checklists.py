"""The two checklists of home: for who runs an event, and for who connects a program.

`live` and `sandbox` are the beginnings of the addresses of the organization's pages.
"""

from dataclasses import dataclass
from typing import Final

from gatepass.domain.onboarding import Checklist, OnboardingProgress
from gatepass.domain.staff import Permission


@dataclass(frozen=True, slots=True)
class OnboardingStep:
    done: bool
    title: str
    words: str
    url: str
    button: str
    needs: Permission


def organizer_steps(progress: OnboardingProgress, live: str, sandbox: str) -> list[OnboardingStep]:
    """From an event to open doors, for who runs it."""
    events = f"{live}/events"
    event = f"{events}/{progress.only_event}" if progress.only_event else events
    return [
        OnboardingStep(
            progress.event, "Make your event", "When, where, and what tickets there are. It begins as a draft.",
            f"{live}/events/new", "Make an event", Permission.EVENTS_WRITE,
        ),
        OnboardingStep(
            progress.guests, "Bring your guests", "From a spreadsheet, one by one, or from your ticket shop.",
            f"{event}/tickets" if progress.only_event else events,
            "Go to the tickets" if progress.only_event else "Choose the event", Permission.TICKETS_WRITE,
        ),
        OnboardingStep(
            progress.cards or progress.live_scan,
            "Give them their cards", "Print a card, or let your shop send its code.",
            f"{live}/cards", "See the cards", Permission.TICKETS_WRITE,
        ),
        OnboardingStep(
            progress.live_key, "Set up a gate", "A key with the preset Gate has just what a scanner needs.",
            f"{live}/keys/new?preset=gate", "Make a key for a gate", Permission.KEYS_WRITE,
        ),
        OnboardingStep(
            progress.sandbox_scan, "Rehearse", "The sandbox answers as the gate will, and no ticket is used up.",
            f"{sandbox}/home#try", "Try a scan", Permission.KEYS_WRITE,
        ),
        OnboardingStep(
            progress.published, "Publish", "Gates let nobody in before. The page of the event says what is missing.",
            event, "Go to the event" if progress.only_event else "Go to events", Permission.EVENTS_WRITE,
        ),
        OnboardingStep(
            progress.live_scan, "Open the doors", "Watch the first guests arrive on the live page.",
            f"{event}/live" if progress.only_event else events, "Go to your event", Permission.LIVE_READ,
        ),
    ]  # fmt: skip


def integrator_steps(progress: OnboardingProgress, live: str, sandbox: str) -> list[OnboardingStep]:
    """From a first key to a live one, for who connects a program. Each URL has the mode of its step."""
    return [
        OnboardingStep(
            progress.sandbox_key, "Make a sandbox API key", "It works on a sandbox of its own.",
            f"{sandbox}/keys/new", "Make a key", Permission.KEYS_WRITE,
        ),
        OnboardingStep(
            progress.sandbox_scan, "Scan a test card", "TEST_VALID opens the gate every time.",
            f"{sandbox}/home#try", "Scan TEST_VALID now", Permission.KEYS_WRITE,
        ),
        OnboardingStep(
            progress.delivered, "Receive a webhook", "We tell your server of each scan, signed, at least once.",
            f"{sandbox}/webhooks/new" if not progress.webhook else f"{sandbox}/webhooks",
            "Add an endpoint" if not progress.webhook else "See your endpoints", Permission.WEBHOOKS_WRITE,
        ),
        OnboardingStep(
            progress.live_key, "Make a live key", "The preset Gate has just what a scanner needs.",
            f"{live}/keys/new", "Make a live key", Permission.KEYS_WRITE,
        ),
        OnboardingStep(
            progress.live_scan, "Open the door", "Watch the first real scan arrive on the live page.",
            f"{live}/events", "Go to your event", Permission.LIVE_READ,
        ),
    ]  # fmt: skip


STEPS: Final = {Checklist.ORGANIZER: organizer_steps, Checklist.INTEGRATOR: integrator_steps}
