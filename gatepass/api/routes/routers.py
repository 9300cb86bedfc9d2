"""The public routes in the order of the interface description: one list for the application and for the description."""

from collections import defaultdict
from typing import Final

from fastapi import APIRouter
from fastapi.routing import APIRoute

from gatepass.api.request import UNKNOWN_PATH
from gatepass.api.routes import (
    card_links,
    card_registry,
    card_tokens,
    cards,
    event_changes,
    events,
    scan_list,
    scans,
    ticket_categories,
    tickets,
    webhook_deliveries,
    webhook_endpoints,
    webhook_messages,
    webhook_replays,
)
from gatepass.api.routes.devices import heartbeats, registry
from gatepass.api.routes.gate import incidents, manifest, scan_batch

ROUTERS: Final[tuple[APIRouter, ...]] = (
    events.router,
    event_changes.router,
    ticket_categories.router,
    cards.router,
    card_registry.router,
    card_tokens.router,
    card_links.router,
    tickets.router,
    scans.router,
    scan_list.router,
    scan_batch.router,
    incidents.router,
    heartbeats.router,
    registry.router,
    manifest.router,
    webhook_endpoints.router,
    webhook_deliveries.router,
    webhook_replays.router,
    webhook_messages.router,
)
ROUTES: Final = tuple(route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute))


def _methods() -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for route in ROUTES:
        found[route.path].update(route.methods or ())
    return found


def _hidden() -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in METHODS:
        for route in ROUTES:
            if "{" not in path and "{" in route.path and route.path_regex.match(path):
                found[path].update((route.methods or set()) - METHODS[path])
    return found


# The methods of each path. Where several routes share a path, Starlette would name only those of the first.
METHODS: Final = _methods()
# A path without a parameter that a path with one matches too: the methods that only the other one has. Without them
# `GET /tickets/batch` would be answered as `GET /tickets/{id}`.
HIDDEN: Final = _hidden()


def template_of(method: str, path: str) -> str:
    """The template of a path below the base path, by which a call is logged that no route has seen."""
    if path in METHODS:
        return path
    matching = (route.path for route in ROUTES if route.path_regex.match(path) and method in (route.methods or ()))
    return next(matching, UNKNOWN_PATH)
