# Generated from _async/client.py by `make sdk-sync`. Change that file.
"""The client."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from gatepass_sdk._settings import Settings
from gatepass_sdk._sync.card_tokens import CardTokens
from gatepass_sdk._sync.cards import Cards
from gatepass_sdk._sync.devices import Devices
from gatepass_sdk._sync.events import Events
from gatepass_sdk._sync.incidents import Incidents
from gatepass_sdk._sync.manifests import Manifests
from gatepass_sdk._sync.scans import Scans
from gatepass_sdk._sync.ticket_categories import TicketCategories
from gatepass_sdk._sync.tickets import Tickets
from gatepass_sdk._sync.webhook_endpoints import WebhookEndpoints
from gatepass_sdk._sync.webhook_events import WebhookEvents
from gatepass_sdk.webhooks import Webhooks

if TYPE_CHECKING:
    import httpx2

    from gatepass_sdk._sync.exchange import Exchange


class Gatepass:
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
        http_client: "httpx2.Client | None" = None,
    ) -> None:
        # It imports httpx2, which takes longer than all the rest: programs that make no client do not need it.
        from gatepass_sdk._sync.exchange import Exchange  # noqa: PLC0415

        exchange = Exchange.create(http_client, Settings.of(api_key, base_url, allow_http=allow_http))
        self._owns_http = http_client is None
        self._use(exchange.with_policy(deadline=deadline, scan_deadline=scan_deadline, max_retries=max_retries))

    def _use(self, exchange: "Exchange") -> None:
        self._exchange = exchange
        self.events = Events(exchange)
        self.ticket_categories = TicketCategories(exchange)
        self.cards = Cards(exchange)
        self.card_tokens = CardTokens(exchange)
        self.tickets = Tickets(exchange)
        self.scans = Scans(exchange)
        self.devices = Devices(exchange)
        self.incidents = Incidents(exchange)
        self.manifests = Manifests(exchange)
        self.webhook_endpoints = WebhookEndpoints(exchange)
        self.webhook_events = WebhookEvents(exchange)
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

    def close(self) -> None:
        """Close the connections."""
        if self._owns_http:
            self._exchange.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        mode = "sandbox" if self.is_sandbox else "live"
        return f"Gatepass({mode}, base_url={self._exchange.settings.base_url!r})"
