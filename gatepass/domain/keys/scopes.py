"""The API endpoints that each scope allows. A test compares them with the public routes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gatepass.domain.keys.key import Mode, Scope


@dataclass(frozen=True, slots=True)
class ApiEndpoint:
    """An endpoint of the public API."""

    method: str
    path: str
    does: str


@dataclass(frozen=True, slots=True)
class Preset:
    """Scopes that go together for a purpose."""

    name: str
    purpose: str
    scopes: frozenset[Scope]


SCOPE_ENDPOINTS: Final[Mapping[Scope, tuple[ApiEndpoint, ...]]] = {
    Scope.EVENTS_READ: (
        ApiEndpoint("GET", "/events", "List events"),
        ApiEndpoint("GET", "/events/{id}", "Retrieve an event"),
    ),
    Scope.CARDS_VERIFY: (
        ApiEndpoint("GET", "/card/verify", "Verify a card"),
        ApiEndpoint("GET", "/card/keys", "List card keys"),
    ),
    Scope.TICKETS_ACTIVATE: (ApiEndpoint("POST", "/scan", "Scan a card"),),
    Scope.WEBHOOKS_READ: (
        ApiEndpoint("GET", "/webhooks", "List webhooks"),
        ApiEndpoint("GET", "/webhooks/{id}", "Retrieve a webhook"),
        ApiEndpoint("GET", "/webhooks/{id}/deliveries", "List deliveries"),
        ApiEndpoint("GET", "/webhooks/{id}/deliveries/{delivery_id}", "Retrieve a delivery"),
        ApiEndpoint("GET", "/webhooks/{id}/replay", "List replays"),
        ApiEndpoint("GET", "/webhook-events", "List messages"),
    ),
    Scope.ADMIN: (
        ApiEndpoint("POST", "/webhooks", "Create a webhook"),
        ApiEndpoint("PATCH", "/webhooks/{id}", "Update a webhook"),
        ApiEndpoint("DELETE", "/webhooks/{id}", "Delete a webhook"),
        ApiEndpoint("POST", "/webhooks/{id}/test", "Test a webhook"),
        ApiEndpoint("POST", "/webhooks/{id}/rotate-secret", "Rotate a webhook's secret"),
        ApiEndpoint("POST", "/webhooks/{id}/replay", "Replay deliveries"),
    ),
}

PURPOSES: Final[Mapping[Scope, str]] = {
    Scope.EVENTS_READ: "Read the catalogue of events.",
    Scope.CARDS_VERIFY: "Check cards, online and offline. No ticket is used up.",
    Scope.TICKETS_ACTIVATE: "Let people in: each scan uses up a ticket.",
    Scope.WEBHOOKS_READ: "Read webhook endpoints, their deliveries and the feed of messages.",
    Scope.ADMIN: "Change webhook endpoints. It also opens everything that the other scopes open.",
}

# The least that each job needs. None has `admin`: it must be chosen by hand.
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


def needs_owner(mode: Mode, scopes: Iterable[str]) -> bool:
    """Whether only an owner may make such a key: it changes where the messages of real guests go."""
    return mode is Mode.LIVE and Scope.ADMIN in set(scopes)


def endpoints_for(scopes: Iterable[str]) -> list[ApiEndpoint]:
    """Every endpoint that a key with these scopes may call; `admin` implies every other scope."""
    granted = set(scopes)
    if Scope.ADMIN in granted:
        granted = set(Scope)
    return [endpoint for scope, endpoints in SCOPE_ENDPOINTS.items() if scope in granted for endpoint in endpoints]
