"""The feed: the same messages as by webhook, to be polled."""

from typing import TYPE_CHECKING

from gatepass_sdk._async.pages import AsyncPages
from gatepass_sdk.webhooks import event_of

if TYPE_CHECKING:
    from gatepass_sdk._async.exchange import AsyncExchange
    from gatepass_sdk.webhooks import WebhookEvent


class AsyncWebhookEvents:
    def __init__(self, exchange: "AsyncExchange") -> None:
        self._exchange = exchange

    def list(self, *, after: str | None = None, limit: int | None = None) -> "AsyncPages[WebhookEvent]":
        """Messages up to now, oldest first. Store a page's `next_cursor`, and continue with `after=` later."""
        query = {"after": after, "limit": limit}
        return AsyncPages(self._exchange, "/webhook-events", event_of, query, cursor_name="after")
