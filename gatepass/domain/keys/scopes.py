"""What a scope opens. The public routes say the same; a test compares the two."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gatepass.domain.keys.key import Scope


@dataclass(frozen=True, slots=True)
class Opened:
    """An endpoint that a scope opens."""

    method: str
    path: str
    does: str


@dataclass(frozen=True, slots=True)
class Preset:
    """Scopes that go together, and what for."""

    name: str
    purpose: str
    scopes: frozenset[Scope]


OPENS: Final[Mapping[Scope, tuple[Opened, ...]]] = {
    Scope.EVENTS_READ: (
        Opened("GET", "/events", "List events"),
        Opened("GET", "/events/{id}", "Retrieve an event"),
    ),
    Scope.CARDS_VERIFY: (
        Opened("GET", "/card/verify", "Verify a card"),
        Opened("GET", "/card/keys", "List card keys"),
    ),
    Scope.TICKETS_ACTIVATE: (Opened("POST", "/scan", "Scan a card"),),
    Scope.WEBHOOKS_READ: (
        Opened("GET", "/webhooks", "List webhooks"),
        Opened("GET", "/webhooks/{id}", "Retrieve a webhook"),
        Opened("GET", "/webhooks/{id}/deliveries", "List deliveries"),
        Opened("GET", "/webhooks/{id}/deliveries/{delivery_id}", "Retrieve a delivery"),
        Opened("GET", "/webhooks/{id}/replay", "List replays"),
        Opened("GET", "/webhook-events", "List messages"),
    ),
    Scope.ADMIN: (
        Opened("POST", "/webhooks", "Create a webhook"),
        Opened("PATCH", "/webhooks/{id}", "Update a webhook"),
        Opened("DELETE", "/webhooks/{id}", "Delete a webhook"),
        Opened("POST", "/webhooks/{id}/test", "Test a webhook"),
        Opened("POST", "/webhooks/{id}/rotate-secret", "Rotate a webhook's secret"),
        Opened("POST", "/webhooks/{id}/replay", "Replay deliveries"),
    ),
}

PURPOSES: Final[Mapping[Scope, str]] = {
    Scope.EVENTS_READ: "Read the catalogue of events.",
    Scope.CARDS_VERIFY: "Check cards, online and offline. No ticket is used up.",
    Scope.TICKETS_ACTIVATE: "Let people in: each scan uses up a ticket.",
    Scope.WEBHOOKS_READ: "Read webhook endpoints, their deliveries and the feed of messages.",
    Scope.ADMIN: "Change webhook endpoints. It also opens everything that the other scopes open.",
}

# The least that each job needs. None has `admin`: whoever needs it should have to say so.
PRESETS: Final[Mapping[str, Preset]] = {
    "gate": Preset(
        "Gate",
        "A scanner at the door.",
        frozenset({Scope.EVENTS_READ, Scope.CARDS_VERIFY, Scope.TICKETS_ACTIVATE}),
    ),
    "reporting": Preset(
        "Reporting",
        "A dashboard that only looks.",
        frozenset({Scope.EVENTS_READ, Scope.WEBHOOKS_READ}),
    ),
    "integrator": Preset(
        "Integrator",
        "A partner's platform. It cannot change webhooks.",
        frozenset({Scope.EVENTS_READ, Scope.CARDS_VERIFY, Scope.TICKETS_ACTIVATE, Scope.WEBHOOKS_READ}),
    ),
}


def opened_by(scopes: Iterable[str]) -> list[Opened]:
    """Every endpoint that a key with these scopes may call; `admin` implies every other scope."""
    granted = set(scopes)
    if Scope.ADMIN in granted:
        granted = set(Scope)
    return [opened for scope, endpoints in OPENS.items() if scope in granted for opened in endpoints]
