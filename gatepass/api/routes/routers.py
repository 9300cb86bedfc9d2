"""The public routes, in the order of their description: one list, for the application and for what describes it."""

from collections import defaultdict
from typing import Final

from fastapi import APIRouter
from fastapi.routing import APIRoute

from gatepass.api import card, events, scan, webhook_deliveries, webhook_events, webhook_replays, webhooks

ROUTERS: Final[tuple[APIRouter, ...]] = (
    events.router,
    card.router,
    scan.router,
    webhooks.router,
    webhook_deliveries.router,
    webhook_replays.router,
    webhook_events.router,
)
ROUTES: Final = tuple(route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute))


def _methods() -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for route in ROUTES:
        found[route.path].update(route.methods or ())
    return found


# What each path takes. Where several routes share one, Starlette would name only the methods of the first.
METHODS: Final = _methods()
