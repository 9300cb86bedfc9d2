# Generated from _async/webhook_events.py by `make sdk-sync`. Change that file.
"""The feed: the same messages as by webhook, to be polled."""

from typing import TYPE_CHECKING

from gatepass_sdk._sync.pages import Pages
from gatepass_sdk.webhooks import event_of

if TYPE_CHECKING:
    from gatepass_sdk._sync.exchange import Exchange
    from gatepass_sdk.webhooks import WebhookEvent


class WebhookEvents:
    def __init__(self, exchange: "Exchange") -> None:
        self._exchange = exchange

    def list(self, *, after: str | None = None, limit: int | None = None) -> "Pages[WebhookEvent]":
        """Messages up to now, oldest first. Store a page's `next_cursor`, and continue with `after=` later."""
        query = {"after": after, "limit": limit}
        return Pages(self._exchange, "/webhook-events", event_of, query, cursor_name="after")
