"""The client."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from gatepass_sdk._async.card_tokens import AsyncCardTokens
from gatepass_sdk._async.cards import AsyncCards
from gatepass_sdk._async.devices import AsyncDevices
from gatepass_sdk._async.events import AsyncEvents
from gatepass_sdk._async.incidents import AsyncIncidents
from gatepass_sdk._async.manifests import AsyncManifests
from gatepass_sdk._async.scans import AsyncScans
from gatepass_sdk._async.ticket_categories import AsyncTicketCategories
from gatepass_sdk._async.tickets import AsyncTickets
from gatepass_sdk._async.webhook_endpoints import AsyncWebhookEndpoints
from gatepass_sdk._async.webhook_events import AsyncWebhookEvents
from gatepass_sdk._settings import Settings
from gatepass_sdk.webhooks import Webhooks

if TYPE_CHECKING:
    import httpx2

    from gatepass_sdk._async.exchange import AsyncExchange


class AsyncGatepass:
    """Gatepass for one API key. Make one client and reuse it: it keeps its connections open.

    `deadline` and `scan_deadline` are the seconds that a call and a scan may take in all, with every retry. Pass an
    `http_client` of your own for proxies, certificates or tests; then you close it yourself. `allow_http` lets the key
    be sent in plain text to other machines: only where something else encrypts, such as a service mesh.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        allow_http: bool = False,
        deadline: float | None = None,
        scan_deadline: float | None = None,
        max_retries: int | None = None,
        http_client: "httpx2.AsyncClient | None" = None,
    ) -> None:
        # It imports httpx2, which takes longer than all the rest: programs that make no client do not need it.
        from gatepass_sdk._async.exchange import AsyncExchange  # noqa: PLC0415

        exchange = AsyncExchange.create(http_client, Settings.of(api_key, base_url, allow_http=allow_http))
        self._owns_http = http_client is None
        self._use(exchange.with_policy(deadline=deadline, scan_deadline=scan_deadline, max_retries=max_retries))

    def _use(self, exchange: "AsyncExchange") -> None:
        self._exchange = exchange
        self.events = AsyncEvents(exchange)
        self.ticket_categories = AsyncTicketCategories(exchange)
        self.cards = AsyncCards(exchange)
        self.card_tokens = AsyncCardTokens(exchange)
        self.tickets = AsyncTickets(exchange)
        self.scans = AsyncScans(exchange)
        self.devices = AsyncDevices(exchange)
        self.incidents = AsyncIncidents(exchange)
        self.manifests = AsyncManifests(exchange)
        self.webhook_endpoints = AsyncWebhookEndpoints(exchange)
        self.webhook_events = AsyncWebhookEvents(exchange)
        self.webhooks = Webhooks()

    @property
    def is_sandbox(self) -> bool:
        """Whether the key is a sandbox key."""
        return self._exchange.settings.is_sandbox

    def with_options(
        self, *, deadline: float | None = None, scan_deadline: float | None = None, max_retries: int | None = None
    ) -> Self:
        """The same client over the same connections, with other deadlines and retries."""
        changed = object.__new__(type(self))
        changed._owns_http = False
        exchange = self._exchange
        changed._use(exchange.with_policy(deadline=deadline, scan_deadline=scan_deadline, max_retries=max_retries))
        return changed

    async def close(self) -> None:
        """Close the connections."""
        if self._owns_http:
            await self._exchange.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        mode = "sandbox" if self.is_sandbox else "live"
        return f"AsyncGatepass({mode}, base_url={self._exchange.settings.base_url!r})"
