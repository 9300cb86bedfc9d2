"""The feed: messages for whoever would rather ask than be told."""

from typing import TYPE_CHECKING

from gatepass_sdk._async.pages import AsyncPages
from gatepass_sdk.webhooks import WebhookEvent, event_of

if TYPE_CHECKING:
    from gatepass_sdk._async.exchange import AsyncExchange


class AsyncWebhookEvents:
    def __init__(self, exchange: "AsyncExchange") -> None:
        self._exchange = exchange

    def list(self, *, after: str | None = None, limit: int | None = None) -> AsyncPages[WebhookEvent]:
        """What has happened, oldest first, up to now. Keep a page's `next_cursor`, and go on with `after=` later."""
        query = {"after": after, "limit": limit}
        return AsyncPages(self._exchange, "/webhook-events", event_of, query, cursor_name="after")
