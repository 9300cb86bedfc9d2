"""The client matrix: the service or the fake, with a synchronous or an asynchronous client.

Tests are written once, for a synchronous client. An asynchronous client runs in a loop of its own, behind a proxy whose
calls block.
"""

import asyncio
import inspect
import re
import threading
import time
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from gatepass_sdk import APIStatusError, AsyncGatepass, AsyncPage, Gatepass, GatepassError
from gatepass_sdk.testing import FakeGatepass
from tests.sdk.stack import Stack

T = TypeVar("T")
WAIT_SECONDS = 60.0


class LoopThread:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(120)

    def blocking(self, client: AsyncGatepass) -> Gatepass:
        """The asynchronous client behind a proxy whose calls block."""
        return cast("Gatepass", _BlockingProxy(client, self))

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _BlockingProxy:
    def __init__(self, target: Any, loop: LoopThread) -> None:
        self._target = target
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        return self._blocking_value(getattr(self._target, name))

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._blocking_value(self._target(*arguments, **named))

    def __iter__(self) -> Iterator[Any]:
        items = aiter(self._target)
        while (item := self._loop.run(_next(items))) is not END:
            yield item

    def _blocking_value(self, value: Any) -> Any:
        if inspect.iscoroutine(value):
            return self._loop.run(value)
        is_ours = type(value).__module__.startswith("gatepass_sdk._async.") and not isinstance(value, AsyncPage)
        is_surface = is_ours or hasattr(value, "__aiter__") or inspect.ismethod(value)
        return _BlockingProxy(value, self._loop) if is_surface else value


END: Any = object()


async def _next(items: Any) -> Any:
    return await anext(items, END)


@dataclass(frozen=True)
class Card:
    card_number: str
    token: str
    tier: str
    category_name: str


@dataclass(frozen=True)
class ClientVariant:
    """One of the four combinations. `client(name)` and `key(name)` take the name of one of the demo's keys."""

    name: str
    key: Callable[[str], str]
    connect: Callable[[str], Gatepass]
    take_card: Callable[[], Card]
    event_id: str
    organization_id: str

    def client(self, name: str = "sandbox") -> Gatepass:
        return self.connect(self.key(name))


SCOPES = {
    "events_read": "events:read",
    "cards_verify": "cards:verify",
    "tickets_activate": "tickets:activate",
    "webhooks_read": "webhooks:read",
}


@contextmanager
def open_service_variants(stack: Stack, loop: LoopThread) -> Generator[list[ClientVariant]]:
    """The two variants of the service, with one client per key."""
    sync_clients: dict[str, Gatepass] = {}
    async_clients: dict[str, Gatepass] = {}

    def card() -> Card:
        found = stack.unused()
        return Card(found["card_number"], found["token"], found["tier"], found["category_name"])

    def blocking_client(key: str) -> Gatepass:
        if key not in async_clients:
            async_clients[key] = loop.blocking(AsyncGatepass(key, base_url=stack.base_url))
        return async_clients[key]

    def sync_client(key: str) -> Gatepass:
        if key not in sync_clients:
            sync_clients[key] = Gatepass(key, base_url=stack.base_url)
        return sync_clients[key]

    organization = stack.demo["organization_id"]
    yield [
        ClientVariant("service", stack.key, sync_client, card, stack.event_id, organization),
        ClientVariant("service, async", stack.key, blocking_client, card, stack.event_id, organization),
    ]
    for client in (*sync_clients.values(), *async_clients.values()):
        client.close()


def fake_variants(fake: FakeGatepass, loop: LoopThread) -> list[ClientVariant]:
    def key(name: str) -> str:
        if name == "revoked":
            return "svc_live_" + "r" * 37
        return fake.new_key(live="sandbox" not in name, scopes=[SCOPES.get(name, "admin")])

    def card() -> Card:
        found = fake.issue()
        return Card(found.card_number, found.token, found.tier, found.category_name)

    def blocking_client(key: str) -> Gatepass:
        return loop.blocking(fake.async_client(api_key=key))

    def sync_client(key: str) -> Gatepass:
        return fake.client(api_key=key)

    organization = str(fake.organization_id)
    return [
        ClientVariant("fake", key, sync_client, card, fake.event_id, organization),
        ClientVariant("fake, async", key, blocking_client, card, fake.event_id, organization),
    ]


def seen(call: Callable[[], Any]) -> Any:
    """The result of a call, or all fields of its error, as text without the parts that differ from call to call."""
    try:
        return normalized(shown(call()))
    except GatepassError as error:
        return normalized(_shown_error(error))
    except ValueError as error:
        return ("ValueError", str(error))


def shown(value: Any) -> Any:
    if hasattr(value, "raw"):
        fields = {name: shown(field) for name, field in vars(value).items() if name != "raw"}
        return (type(value).__name__, fields, value.raw)
    if type(value).__name__ in ("Page", "AsyncPage"):
        return ("Page", [shown(one) for one in value.data], value.has_more, value.next_cursor)
    return [shown(one) for one in value] if isinstance(value, list | tuple) else value


def _shown_error(error: GatepassError) -> Any:
    parts = [type(error).__name__, error.message, error.outcome_unknown, error.idempotency_key is not None]
    if isinstance(error, APIStatusError):
        parts += [error.status, error.code, error.param, dict(error.details), error.retry_after]
        parts += [str(error.request_id).startswith("req_")]
    return parts


# Patterns that differ in each call, and their replacements. Ids that begin with zeros are the sandbox's own.
VOLATILE = [
    (r"(?!00000000-0000)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<id>"),
    (r"(evt|req)_[0-9a-f]{32}", r"<\1>"),
    (r"whsec_[A-Za-z0-9+/=]{44}", "<secret>"),
    (r"202[5-9]-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
    (r"datetime\.datetime\(202[^)]*\)", "<moment>"),
    (r"SVC \d{4} \d{4} \d{4}", "<card>"),
    (r"SVC1\.[\w-]{22,28}\.\d{10}\.[\w-]{86}", "<token>"),
    (r"'etag': '\"[0-9a-f:]+\"'", "<etag>"),
    (r"'M[A-Za-z0-9_-]{48,80}'", "<cursor>"),
    # Names that a test makes to meet no other test.
    (r"~[0-9a-f]{8}", "~"),
]
SANDBOX_TIME = "2026-01-01T"


def normalized(value: Any) -> str:
    """The same text for the same answer. Times of the sandbox's own cards are kept."""
    text = repr(value).replace(SANDBOX_TIME, "<sandbox>")
    for pattern, name in VOLATILE:
        text = re.sub(pattern, name, text)
    return text


def eventually(holds: Callable[[], bool]) -> None:
    """Poll until it holds."""
    ends = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < ends, "It never came to hold."
        time.sleep(0.02)


@contextmanager
def endpoint(client: Gatepass, url: str = "https://example.com/hook", *types: str) -> Generator[Any]:
    """A webhook endpoint that is deleted afterwards."""
    made = client.webhook_endpoints.create(url=url, types=types or ("ticket.activated",))
    try:
        yield made
    finally:
        client.webhook_endpoints.delete(made.id)
