"""The API endpoints that each scope allows, and the people who may give a scope to a key.

A test compares the endpoints with the public routes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gatepass.domain.keys.key import Mode, Scope
from gatepass.domain.staff import MAY, SEES, Permission, Role
from gatepass.domain.visibility import GuestField


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
    Scope.EVENTS_WRITE: (
        ApiEndpoint("POST", "/events", "Create an event"),
        ApiEndpoint("PATCH", "/events/{id}", "Update an event"),
        ApiEndpoint("DELETE", "/events/{id}", "Delete an event"),
        ApiEndpoint("POST", "/events/{id}/publish", "Publish an event"),
        ApiEndpoint("POST", "/events/{id}/cancel", "Cancel an event"),
        ApiEndpoint("POST", "/events/{id}/end", "End an event"),
        ApiEndpoint("POST", "/events/{id}/reopen", "Reopen an event"),
        ApiEndpoint("POST", "/events/{id}/ticket-categories", "Create a ticket category"),
        ApiEndpoint("PATCH", "/ticket-categories/{id}", "Update a ticket category"),
        ApiEndpoint("DELETE", "/ticket-categories/{id}", "Delete a ticket category"),
    ),
    Scope.CARDS_VERIFY: (
        ApiEndpoint("GET", "/card/verify", "Verify a card"),
        ApiEndpoint("GET", "/card/keys", "List card keys"),
    ),
    Scope.CARDS_READ: (
        ApiEndpoint("GET", "/cards", "List cards"),
        ApiEndpoint("GET", "/cards/{id}", "Retrieve a card"),
    ),
    Scope.CARDS_WRITE: (
        ApiEndpoint("POST", "/cards", "Create a card"),
        ApiEndpoint("PATCH", "/cards/{id}", "Update a card"),
        ApiEndpoint("POST", "/cards/{id}/suspend", "Suspend a card"),
        ApiEndpoint("POST", "/cards/{id}/resume", "Resume a card"),
        ApiEndpoint("POST", "/cards/{id}/revoke", "Revoke a card"),
        ApiEndpoint("POST", "/cards/{id}/replace", "Replace a card"),
        ApiEndpoint("POST", "/cards/{id}/token", "Create a card token"),
        ApiEndpoint("POST", "/cards/{id}/link", "Get the link of a card's page"),
        ApiEndpoint("POST", "/card-tokens", "Create card tokens"),
    ),
    Scope.TICKETS_ACTIVATE: (ApiEndpoint("POST", "/scan", "Scan a card"),),
    Scope.TICKETS_READ: (
        ApiEndpoint("GET", "/tickets", "List tickets"),
        ApiEndpoint("GET", "/tickets/{id}", "Retrieve a ticket"),
        ApiEndpoint("GET", "/scans", "List scans"),
        ApiEndpoint("GET", "/incidents", "List incidents"),
        ApiEndpoint("GET", "/incidents/{id}", "Retrieve an incident"),
    ),
    Scope.TICKETS_WRITE: (
        ApiEndpoint("POST", "/tickets", "Issue a ticket"),
        ApiEndpoint("POST", "/tickets/batch", "Issue many tickets"),
        ApiEndpoint("POST", "/tickets/{id}/cancel", "Cancel a ticket"),
        ApiEndpoint("POST", "/tickets/{id}/transfer", "Transfer a ticket"),
    ),
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
        ApiEndpoint("GET", "/devices", "List devices"),
        ApiEndpoint("GET", "/devices/{id}", "Retrieve a device"),
        ApiEndpoint("PATCH", "/devices/{id}", "Update a device"),
        ApiEndpoint("POST", "/devices/{id}/retire", "Retire a device"),
        ApiEndpoint("POST", "/devices/{id}/revoke", "Revoke a device"),
    ),
}

PURPOSES: Final[Mapping[Scope, str]] = {
    Scope.EVENTS_READ: "Read the catalogue of events.",
    Scope.EVENTS_WRITE: "Make, change, publish and cancel events, and see drafts.",
    Scope.CARDS_VERIFY: "Check cards, online and offline. No ticket is used up.",
    Scope.CARDS_READ: "Read cards and their holders: names and addresses.",
    Scope.CARDS_WRITE: "Issue, change and replace cards, and sign their tokens. The answers name the holders.",
    Scope.TICKETS_ACTIVATE: "Let people in: each scan uses up a ticket.",
    Scope.TICKETS_READ: "Read tickets, scans and incidents.",
    Scope.TICKETS_WRITE: "Issue, transfer and cancel tickets.",
    Scope.WEBHOOKS_READ: "Read webhook endpoints, their deliveries and the feed of messages.",
    Scope.ADMIN: "Change webhook endpoints and devices. It also opens everything that the other scopes open.",
}

# The permissions that a person needs in the studio to give a scope to a live key, which does nothing that its maker may
# not do. For a gate it is enough to make keys. `admin` implies every scope, and changes where messages go.
SCOPE_PERMISSIONS: Final[Mapping[Scope, frozenset[Permission]]] = {
    Scope.EVENTS_READ: frozenset({Permission.EVENTS_READ}),
    Scope.EVENTS_WRITE: frozenset({Permission.EVENTS_READ, Permission.EVENTS_WRITE}),
    Scope.CARDS_VERIFY: frozenset({Permission.TICKETS_READ}),
    Scope.CARDS_READ: frozenset({Permission.TICKETS_READ}),
    Scope.CARDS_WRITE: frozenset({Permission.TICKETS_READ, Permission.TICKETS_WRITE}),
    Scope.TICKETS_ACTIVATE: frozenset(),
    Scope.TICKETS_READ: frozenset({Permission.TICKETS_READ}),
    Scope.TICKETS_WRITE: frozenset({Permission.TICKETS_READ, Permission.TICKETS_WRITE, Permission.TICKETS_IMPORT}),
    Scope.WEBHOOKS_READ: frozenset({Permission.WEBHOOKS_READ}),
    Scope.ADMIN: frozenset(Permission),
}

# The fields of guests in the answers of each scope. Who makes a live key sees the names and addresses that it reads;
# card numbers are what programs work with.
SCOPE_FIELDS: Final[Mapping[Scope, frozenset[GuestField]]] = {
    Scope.EVENTS_READ: frozenset(),
    Scope.EVENTS_WRITE: frozenset(),
    Scope.CARDS_VERIFY: frozenset({GuestField.NUMBER}),
    Scope.CARDS_READ: frozenset(GuestField),
    Scope.CARDS_WRITE: frozenset(GuestField),
    Scope.TICKETS_ACTIVATE: frozenset({GuestField.NUMBER}),
    Scope.TICKETS_READ: frozenset({GuestField.NUMBER}),
    Scope.TICKETS_WRITE: frozenset({GuestField.NUMBER}),
    Scope.WEBHOOKS_READ: frozenset({GuestField.NUMBER}),
    Scope.ADMIN: frozenset(GuestField),
}
NEEDED_BY_PROGRAMS: Final = frozenset({GuestField.NUMBER})

# The least that each job needs. None has `admin`: it must be chosen by hand.
PRESETS: Final[Mapping[str, Preset]] = {
    "gate": Preset(
        "Gate",
        "A scanner at the door.",
        frozenset({Scope.EVENTS_READ, Scope.CARDS_VERIFY, Scope.TICKETS_ACTIVATE}),
    ),
    "shop": Preset(
        "Ticket shop",
        "A shop or membership system that issues cards and tickets.",
        frozenset(
            {Scope.EVENTS_READ, Scope.CARDS_READ, Scope.CARDS_WRITE, Scope.TICKETS_READ, Scope.TICKETS_WRITE},
        ),
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


def withheld(mode: Mode, scopes: Iterable[str], role: Role) -> dict[str, str]:
    """The scopes among these that this role may not give to a key, and why. In the sandbox there are none.

    A scope that is not known here was made by a later version. Only an owner rolls a key with it.
    """
    if mode is not Mode.LIVE:
        return {}
    return {scope: why for scope in sorted(set(scopes)) if (why := _reason(scope, role)) is not None}


def _reason(scope: str, role: Role) -> str | None:
    if scope not in set(Scope) or scope == Scope.ADMIN:
        return None if role is Role.OWNER else "Only an owner makes a live key with it."
    lacking = SCOPE_PERMISSIONS[Scope(scope)] - MAY[role]
    unseen = SCOPE_FIELDS[Scope(scope)] - NEEDED_BY_PROGRAMS - SEES[role].fields
    first = next((one for one in (*Permission, *GuestField) if one in lacking | unseen), None)
    return None if first is None else f"Your role, {role.spoken}, may not {first}."


def endpoints_for(scopes: Iterable[str]) -> list[ApiEndpoint]:
    """Every endpoint that a key with these scopes may call; `admin` implies every other scope."""
    granted = set(scopes)
    if Scope.ADMIN in granted:
        granted = set(Scope)
    return [endpoint for scope, endpoints in SCOPE_ENDPOINTS.items() if scope in granted for endpoint in endpoints]
