"""Every endpoint, read from the application, so that a new one is tested too."""

import re
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import httpx2

from gatepass.api.app import ApiState, routes
from gatepass.base.settings import BASE_PATH, Settings
from gatepass.domain.keys import Scope

# Query parameters that a valid call needs.
QUERIES: Final = {"/card/verify": {"token": "SVC1.TEST_VALID.0.0"}}


@dataclass(frozen=True)
class Endpoint:
    method: str
    path: str

    async def call(self, client: httpx2.AsyncClient, **options: Any) -> httpx2.Response:
        """A well-formed call with ids that do not exist."""
        if self.method in ("POST", "PUT", "PATCH") and "content" not in options:
            options.setdefault("json", {"event_id": str(uuid4()), "card_number": "SVC 0000 0000 0000"})
        options.setdefault("params", QUERIES.get(self.path, {}))
        return await client.request(self.method, re.sub("{[a-z_]+}", str(uuid4()), self.path), **options)

    @property
    def wrong_scope(self) -> Scope:
        """A scope that is not enough for this endpoint."""
        return Scope.EVENTS_READ if self.path.startswith("/webhook") else Scope.WEBHOOKS_READ

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def _endpoints() -> tuple[Endpoint, ...]:
    app = routes(ApiState(Settings()))
    return tuple(
        Endpoint(method.upper(), path.removeprefix(BASE_PATH))
        for path, methods in app.openapi()["paths"].items()
        for method in methods
    )


ENDPOINTS: Final = _endpoints()
SCAN: Final = Endpoint("POST", "/scan")
# These open to the keys of devices alone.
FOR_DEVICES: Final = tuple(
    endpoint
    for endpoint in ENDPOINTS
    if endpoint.path in ("/scans/batch", "/devices/heartbeat") or "/manifest" in endpoint.path
)
# Under the base path these are calls too: they need a key, count, and are logged.
UNKNOWN_PATH: Final = Endpoint("GET", "/nowhere")
WRONG_METHOD: Final = Endpoint("DELETE", "/events")
ALL: Final = (*ENDPOINTS, UNKNOWN_PATH, WRONG_METHOD)
