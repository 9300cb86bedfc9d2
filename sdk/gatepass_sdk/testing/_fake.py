"""FakeGatepass: the sandbox's fictional event and eight test cards, and a live side with one event and no cards."""

import itertools
import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Final, Self
from uuid import UUID

import httpx2

from gatepass_sdk._async.client import AsyncGatepass
from gatepass_sdk._async.exchange import AsyncExchange
from gatepass_sdk._sync.client import Gatepass
from gatepass_sdk._sync.exchange import Exchange
from gatepass_sdk.testing._events import SANDBOX_EVENT, new_event
from gatepass_sdk.testing._http import REFUSALS, Refused
from gatepass_sdk.testing._messages import delivery_headers
from gatepass_sdk.testing._outbox import emit
from gatepass_sdk.testing._platform.people import new_card
from gatepass_sdk.testing._platform.records import DeviceRecord, FakeCard, FakeDevice, TicketRecord
from gatepass_sdk.testing._router import BASE_PATH, Caller, receive
from gatepass_sdk.testing._signer import TokenSigner
from gatepass_sdk.testing._state import LIVE, SANDBOX, FakeScan, Side, World
from gatepass_sdk.webhooks import WebhookEvent, event_of

BASE_URL: Final = "https://fake.gatepass.test" + BASE_PATH
LIVE_EVENT_ID: Final = "00000000-0000-0000-0000-00000000e7e8"
FIRST_ID: Final = 0x0197_0000_0000_7000_8000_0000_0000_0000


class FakeGatepass:
    """A Gatepass for unit tests. Pass a `clock` and `new_id` of your own to set the time and the ids.

    `allow_private` lets webhook endpoints have addresses that are not public, as on a developer's machine.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        new_id: Callable[[], UUID] | None = None,
        allow_private: bool = False,
    ) -> None:
        numbers = itertools.count(FIRST_ID)
        live_event = new_event(LIVE_EVENT_ID, title="Live Night", description=None)
        sides = {SANDBOX: Side(SANDBOX, [new_event(SANDBOX_EVENT["id"])]), LIVE: Side(LIVE, [live_event])}
        self._world = World(
            clock,
            new_id or (lambda: UUID(int=next(numbers))),
            allow_private=allow_private,
            sides=sides,
            signers={LIVE: TokenSigner()},
        )
        self._callers: dict[str, Caller] = {}
        self._lock = threading.Lock()
        self._https: list[httpx2.Client] = []
        self._offline = False
        self._to_lose = 0
        self._to_refuse: list[Refused] = []

    def client(
        self, *, live: bool = False, scopes: Iterable[str] = ("admin",), api_key: str | None = None, **options: Any
    ) -> Gatepass:
        """A client with a new key. With an `api_key` that the fake did not make, calls get 401. Retries do not wait."""
        http = httpx2.Client(transport=self.transport())
        self._https.append(http)
        key = api_key or self.new_key(live=live, scopes=scopes)
        return _Client(key, base_url=BASE_URL, http_client=http, **options)

    def async_client(
        self, *, live: bool = False, scopes: Iterable[str] = ("admin",), api_key: str | None = None, **options: Any
    ) -> AsyncGatepass:
        """The same, asynchronous."""
        http = httpx2.AsyncClient(transport=self.transport())
        key = api_key or self.new_key(live=live, scopes=scopes)
        return _AsyncClient(key, base_url=BASE_URL, http_client=http, **options)

    def transport(self) -> httpx2.MockTransport:
        """The transport that answers instead of a network, for an httpx2 client of your own."""
        return httpx2.MockTransport(self._answer)

    def new_key(self, *, live: bool = False, scopes: Iterable[str] = ("admin",)) -> str:
        key = f"svc_{'live' if live else 'test'}_f{len(self._callers) + 1:036d}"
        self._callers[key] = Caller(LIVE if live else SANDBOX, frozenset(scopes))
        return key

    def revoke_key(self, api_key: str) -> None:
        """From now on calls with this key get 401."""
        del self._callers[api_key]

    @property
    def organization_id(self) -> UUID:
        return self._world.organization_id

    # The live side.

    @property
    def event_id(self) -> str:
        """The live event that cards are issued for."""
        return LIVE_EVENT_ID

    def add_event(self, **fields: Any) -> dict[str, Any]:
        """Another live event; `fields` as they are on the wire."""
        event = new_event(str(self._world.new_id()), title="Another Night")
        for category in event["ticket_categories"]:
            category["id"] = str(self._world.new_id())
        self._world.sides[LIVE].events.append(event | fields)
        return self._world.sides[LIVE].events[-1]

    def issue(
        self,
        *,
        event_id: str = LIVE_EVENT_ID,
        tier: str = "standard",
        category_name: str = "General",
        status: str = "active",
        expires_at: datetime | None = None,
    ) -> FakeCard:
        """A card with a ticket, for clients made with `live=True`: 200 once, then 409."""
        world, side = self._world, self._world.sides[LIVE]
        categories = [one for event in side.events if event["id"] == event_id for one in event["ticket_categories"]]
        alike = (one for one in categories if (one["name"], one["tier"]) == (category_name, tier))
        other: dict[str, Any] = {"id": str(world.new_id()), "name": category_name, "tier": tier, "quantity_sold": 0}
        category = next(alike, other)
        category["quantity_sold"] += 1
        card = new_card(world, side, status=status)
        ticket = TicketRecord(world.new_id(), event_id, category, card, world.now())
        side.tickets.append(ticket)
        return FakeCard(
            world.signer(LIVE).token(card.number, expires_at or world.now() + timedelta(days=365)), card, ticket
        )

    def pair(self, *, name: str = "North 2", gate: str = "North", event_id: str = LIVE_EVENT_ID) -> FakeDevice:
        """A device for a live event, with the key that pairing gives it."""
        device = DeviceRecord(self._world.new_id(), name, UUID(event_id), gate, self._world.now())
        self._world.sides[LIVE].devices.append(device)
        key = self.new_key(live=True, scopes=("tickets:activate", "cards:verify", "events:read"))
        self._callers[key] = replace(self._callers[key], device=device)
        return FakeDevice(key, device)

    # Scans and messages.

    @property
    def scans(self) -> list[FakeScan]:
        """Every decided scan, replays too, in order."""
        return list(self._world.scans)

    @property
    def messages(self) -> list[WebhookEvent]:
        """Every message: those of the sandbox, then those of the live side."""
        found = [message for mode in (SANDBOX, LIVE) for message in self._world.sides[mode].messages]
        return [event_of(json.loads(message.body)) for message in found]

    def tell(self, type: str, *, live: bool = False, **data: Any) -> WebhookEvent:
        """Emit a message that no scan emits: `fake.tell("event.cancelled", event_id=…, …)`."""
        side = self._world.sides[LIVE if live else SANDBOX]
        message = emit(self._world, side, type, data)
        if message is None:
            raise ValueError("No endpoint asks for this type.")
        return event_of(json.loads(message.body))

    def signed(
        self, message: WebhookEvent, secret: str, *, next_secret: str | None = None
    ) -> tuple[bytes, dict[str, str]]:
        """The body and the headers of a delivery of this message, signed now."""
        body = json.dumps(message.raw, separators=(",", ":")).encode()
        delivery_id = self._world.new_id()
        return body, delivery_headers(body, secret, next_secret, delivery_id=delivery_id, at=self._world.now())

    # Faults.

    def lose_next_answer(self, times: int = 1) -> None:
        """The service carries out the call, and the connection breaks before the answer arrives."""
        self._to_lose += times

    def refuse_next(self, status: int = 503, *, times: int = 1, code: str | None = None) -> None:
        """The service does nothing and answers with this status."""
        named = code or next(code for code, (its, _) in REFUSALS.items() if its == status)
        self._to_refuse += [Refused(named, status=status)] * times

    def go_offline(self) -> None:
        """From now on no call reaches the service."""
        self._offline = True

    def go_online(self) -> None:
        self._offline = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for http in self._https:
            http.close()

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        if self._offline:
            raise httpx2.ConnectError("The fake is offline.", request=request)
        with self._lock:
            refused = self._to_refuse.pop(0) if self._to_refuse else None
            response = receive(self._world, self._callers, request, refused)
            if refused is None and self._to_lose:
                self._to_lose -= 1
                raise httpx2.ReadError("The fake lost its answer.", request=request)
            return response


class _ImmediateExchange(Exchange):
    """Retries without waiting."""

    def pause(self, seconds: float) -> None:
        pass


class _AsyncImmediateExchange(AsyncExchange):
    async def pause(self, seconds: float) -> None:
        pass


class _Client(Gatepass):
    def _use(self, exchange: Exchange) -> None:
        super()._use(_ImmediateExchange(exchange.http, exchange.settings, exchange.policy))


class _AsyncClient(AsyncGatepass):
    def _use(self, exchange: AsyncExchange) -> None:
        super()._use(_AsyncImmediateExchange(exchange.http, exchange.settings, exchange.policy))
