"""The feed as bytes: a message is forwarded in the exact bytes that the service signed and sent."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from gatepass_sdk._call import Answer, Call
from gatepass_sdk._decode import Unreadable
from gatepass_sdk._retry import RetryPolicy
from gatepass_sdk._settings import Settings
from gatepass_sdk._sync.exchange import Exchange
from gatepass_sdk.cli.context import Context

BEGINNING: Final = re.compile(r'\s*\{\s*"data"\s*:\s*\[\s*')
BETWEEN: Final = re.compile(r"\s*,\s*")
PAGE_SIZE: Final = 100
# Short, so that the user soon reads that the service does not answer.
DEADLINE: Final = 5.0


@dataclass(frozen=True, slots=True)
class RawMessage:
    body: bytes
    value: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.value.get("id"))

    @property
    def type(self) -> str:
        return str(self.value.get("type"))


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Some messages, and the cursor after them."""

    messages: tuple[RawMessage, ...]
    has_more: bool
    cursor: str


class Feed:
    def __init__(self, context: Context) -> None:
        settings = Settings.of(context.identity.api_key, context.identity.base_url)
        self._exchange = Exchange(context.http, settings, RetryPolicy(deadline=context.timeout or DEADLINE))

    def after(self, cursor: str | None) -> FeedPage:
        query = {"limit": str(PAGE_SIZE)} if cursor is None else {"limit": str(PAGE_SIZE), "after": cursor}
        return self._exchange.ask(Call("GET", "/webhook-events", _page, query=query))


def _page(answer: Answer) -> FeedPage:
    page = answer.value
    items, cursor = page.get("data"), page.get("next_cursor")
    if not isinstance(items, list) or not isinstance(cursor, str):
        raise Unreadable("a page was expected")
    return FeedPage(tuple(_messages(answer.content.decode(), items)), page.get("has_more") is True, cursor)


def _messages(text: str, items: list[Any]) -> list[RawMessage]:
    """The messages with their original bytes. They are serialized again if the page has an unexpected form."""
    begins = BEGINNING.match(text)
    if begins is None:
        return [RawMessage(json.dumps(item, ensure_ascii=False).encode(), item) for item in items]
    found: list[RawMessage] = []
    read, start = json.JSONDecoder().raw_decode, begins.end()
    for _ in items:
        value, end = read(text, start)
        found.append(RawMessage(text[start:end].encode(), value))
        comma = BETWEEN.match(text, end)
        start = comma.end() if comma else end
    return found
