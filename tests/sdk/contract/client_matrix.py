"""Four ways to the same answers: the service or the fake, by a synchronous or an asynchronous client.

Tests are written once, as if every client were synchronous: an asynchronous one is steered from outside its loop.
"""

import asyncio
import inspect
import json
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
PATIENCE = 20.0


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(120)

    def steer(self, client: AsyncGatepass) -> Gatepass:
        """The asynchronous client, as if it were synchronous."""
        return cast("Gatepass", _Steered(client, self))

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Steered:
    def __init__(self, target: Any, loop: Loop) -> None:
        self._target = target
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        return self._plain(getattr(self._target, name))

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._plain(self._target(*arguments, **named))

    def __iter__(self) -> Iterator[Any]:
        items = aiter(self._target)
        while (item := self._loop.run(_next(items))) is not END:
            yield item

    def _plain(self, value: Any) -> Any:
        if inspect.iscoroutine(value):
            return self._loop.run(value)
        is_ours = type(value).__module__.startswith("gatepass_sdk._async.") and not isinstance(value, AsyncPage)
        is_surface = is_ours or hasattr(value, "__aiter__") or inspect.ismethod(value)
        return _Steered(value, self._loop) if is_surface else value


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
class Way:
    """`client(name)` by the names of the demo's keys; `key(name)` is the key itself."""

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
def ways_to_service(stack: Stack, loop: Loop) -> Generator[list[Way]]:
    """One client for each key, as a gate has one."""
    plain_clients: dict[str, Gatepass] = {}
    steered_clients: dict[str, Gatepass] = {}

    def card() -> Card:
        found = stack.unused()
        return Card(found["card_number"], found["token"], found["tier"], found["category_name"])

    def steered(key: str) -> Gatepass:
        if key not in steered_clients:
            steered_clients[key] = loop.steer(AsyncGatepass(key, base_url=stack.base_url))
        return steered_clients[key]

    def plain(key: str) -> Gatepass:
        if key not in plain_clients:
            plain_clients[key] = Gatepass(key, base_url=stack.base_url)
        return plain_clients[key]

    organization = stack.demo["organization_id"]
    yield [
        Way("service", stack.key, plain, card, stack.event_id, organization),
        Way("service, async", stack.key, steered, card, stack.event_id, organization),
    ]
    for client in (*plain_clients.values(), *steered_clients.values()):
        client.close()


def ways_to_fake(fake: FakeGatepass, loop: Loop) -> list[Way]:
    def key(name: str) -> str:
        if name == "revoked":
            return "svc_live_" + "r" * 37
        return fake.new_key(live=name != "sandbox", scopes=[SCOPES.get(name, "admin")])

    def card() -> Card:
        found = fake.issue()
        return Card(found.card_number, found.token, found.tier, found.category_name)

    def steered(key: str) -> Gatepass:
        return loop.steer(fake.async_client(api_key=key))

    def plain(key: str) -> Gatepass:
        return fake.client(api_key=key)

    organization = str(fake.organization_id)
    return [
        Way("fake", key, plain, card, fake.event_id, organization),
        Way("fake, async", key, steered, card, fake.event_id, organization),
    ]


def seen(call: Callable[[], Any]) -> Any:
    """What a caller sees: the result, or everything about the error, without what differs from call to call."""
    try:
        return normal(shown(call()))
    except GatepassError as error:
        return normal(_shown_error(error))
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
    told = [type(error).__name__, error.message, error.outcome_unknown, error.idempotency_key is not None]
    if isinstance(error, APIStatusError):
        told += [error.status, error.code, error.param, dict(error.details), error.retry_after]
        told += [str(error.request_id).startswith("req_")]
    return told


# What is new in each call, and how it is told here. Ids that begin with zeros are the sandbox's own.
CHANGING = [
    (r"(?!00000000-0000)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<id>"),
    (r"(evt|req)_[0-9a-f]{32}", r"<\1>"),
    (r"whsec_[A-Za-z0-9+/=]{44}", "<secret>"),
    (r"202[5-9]-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
    (r"datetime\.datetime\(202[^)]*\)", "<moment>"),
    (r"SVC \d{4} \d{4} \d{4}", "<card>"),
]
KEPT = "2026-01-01T"


def normal(value: Any) -> str:
    """The same text for the same answer. Times of the sandbox's own cards are kept."""
    text = repr(value).replace(KEPT, "<sandbox>")
    for pattern, name in CHANGING:
        text = re.sub(pattern, name, text)
    return text


def eventually(holds: Callable[[], bool]) -> None:
    """Ask until it does."""
    ends = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < ends, "It never came to hold."
        time.sleep(0.02)


@contextmanager
def endpoint(client: Gatepass, url: str = "https://example.com/hook", *types: str) -> Generator[Any]:
    """A webhook endpoint, gone afterwards."""
    made = client.webhook_endpoints.create(url=url, types=types or ("ticket.activated",))
    try:
        yield made
    finally:
        client.webhook_endpoints.delete(made.id)


def as_json(value: bytes) -> Any:
    return json.loads(value)
