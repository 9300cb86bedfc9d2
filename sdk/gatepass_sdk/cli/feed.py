"""The feed as bytes: a message is forwarded in the very characters that the service signed and sent."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from gatepass_sdk._call import Answer, Call
from gatepass_sdk._reading import Unreadable
from gatepass_sdk._retrying import Patience
from gatepass_sdk._settings import Settings
from gatepass_sdk._sync.exchange import Exchange
from gatepass_sdk.cli.desk import Desk

BEGINNING: Final = re.compile(r'\s*\{\s*"data"\s*:\s*\[\s*')
BETWEEN: Final = re.compile(r"\s*,\s*")
MOST: Final = 100
# Whoever watches is told soon that nothing answers.
DEADLINE: Final = 5.0


@dataclass(frozen=True, slots=True)
class Message:
    body: bytes
    value: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.value.get("id"))

    @property
    def type(self) -> str:
        return str(self.value.get("type"))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some messages, and the cursor that goes on after them."""

    messages: tuple[Message, ...]
    has_more: bool
    cursor: str


class Feed:
    def __init__(self, desk: Desk) -> None:
        settings = Settings.of(desk.identity.api_key, desk.identity.base_url)
        self._exchange = Exchange(desk.http, settings, Patience(deadline=desk.timeout or DEADLINE))

    def after(self, cursor: str | None) -> Stretch:
        query = {"limit": str(MOST)} if cursor is None else {"limit": str(MOST), "after": cursor}
        return self._exchange.ask(Call("GET", "/webhook-events", _stretch, query=query))


def _stretch(answer: Answer) -> Stretch:
    page = answer.value
    items, cursor = page.get("data"), page.get("next_cursor")
    if not isinstance(items, list) or not isinstance(cursor, str):
        raise Unreadable("a page was expected")
    return Stretch(tuple(_messages(answer.content.decode(), items)), page.get("has_more") is True, cursor)


def _messages(text: str, items: list[Any]) -> list[Message]:
    """The messages with their own characters; written anew if the page is not written as it is today."""
    begins = BEGINNING.match(text)
    if begins is None:
        return [Message(json.dumps(item, ensure_ascii=False).encode(), item) for item in items]
    found: list[Message] = []
    read, place = json.JSONDecoder().raw_decode, begins.end()
    for _ in items:
        value, end = read(text, place)
        found.append(Message(text[place:end].encode(), value))
        comma = BETWEEN.match(text, end)
        place = comma.end() if comma else end
    return found
