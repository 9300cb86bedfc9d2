"""The client."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from gatepass_sdk._async.cards import AsyncCards
from gatepass_sdk._async.events import AsyncEvents
from gatepass_sdk._async.scans import AsyncScans
from gatepass_sdk._async.webhook_endpoints import AsyncWebhookEndpoints
from gatepass_sdk._async.webhook_events import AsyncWebhookEvents
from gatepass_sdk._settings import Settings
from gatepass_sdk.webhooks import Webhooks

if TYPE_CHECKING:
    import httpx2

    from gatepass_sdk._async.exchange import AsyncExchange


class AsyncGatepass:
    """Gatepass for one API key. Make one and keep it: it keeps its connections.

    `deadline` and `scan_deadline` are seconds that a call and a scan may take in all, with every retry. Bring an
    `http_client` of your own for proxies, certificates or tests; you close it then.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        deadline: float | None = None,
        scan_deadline: float | None = None,
        max_retries: int | None = None,
        http_client: "httpx2.AsyncClient | None" = None,
    ) -> None:
        # httpx2 comes with it, which takes longer to import than all the rest: whoever makes no client goes without.
        from gatepass_sdk._async.exchange import AsyncExchange  # noqa: PLC0415

        exchange = AsyncExchange.over(http_client, Settings.of(api_key, base_url))
        self._owns_http = http_client is None
        self._use(exchange.but(deadline=deadline, scan_deadline=scan_deadline, max_retries=max_retries))

    def _use(self, exchange: "AsyncExchange") -> None:
        self._exchange = exchange
        self.events = AsyncEvents(exchange)
        self.cards = AsyncCards(exchange)
        self.scans = AsyncScans(exchange)
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
        """The same client, over the same connections, with other patience."""
        changed = object.__new__(type(self))
        changed._owns_http = False
        exchange = self._exchange
        changed._use(exchange.but(deadline=deadline, scan_deadline=scan_deadline, max_retries=max_retries))
        return changed

    async def close(self) -> None:
        """Let go of the connections."""
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
