# Made of _async/webhook_events.py by `make sdk-sync`. Change that one.
"""The feed: messages for whoever would rather ask than be told."""

from typing import TYPE_CHECKING

from gatepass_sdk._sync.pages import Pages
from gatepass_sdk.webhooks import WebhookEvent, event_of

if TYPE_CHECKING:
    from gatepass_sdk._sync.exchange import Exchange


class WebhookEvents:
    def __init__(self, exchange: "Exchange") -> None:
        self._exchange = exchange

    def list(self, *, after: str | None = None, limit: int | None = None) -> Pages[WebhookEvent]:
        """What has happened, oldest first, up to now. Keep a page's `next_cursor`, and go on with `after=` later."""
        query = {"after": after, "limit": limit}
        return Pages(self._exchange, "/webhook-events", event_of, query, cursor_name="after")
