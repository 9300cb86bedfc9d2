"""A request as the two hot endpoints see it: its headers, its query, its body, and nothing built in advance."""

from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from gatepass.api.errors import RequestTooLarge

LARGEST_BODY: Final = 16 * 1024


class Incoming:
    __slots__ = ("_receive", "_scope")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._scope = scope
        self._receive = receive

    def header(self, name: bytes) -> str | None:
        """The first header of this name."""
        for found, value in self._scope["headers"]:
            if found == name:
                return value.decode("latin-1")
        return None

    def parameter(self, name: str) -> str | None:
        """The last query parameter of this name, as FastAPI takes it."""
        value = None
        for found, text in parse_qsl(self._scope["query_string"].decode("latin-1"), keep_blank_values=True):
            if found == name:
                value = text
        return value

    async def body(self) -> bytes:
        """The body, up to the limit; what is longer is not read."""
        message = await self._receive()
        parts, size = [], 0
        while True:
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            part = message.get("body", b"")
            size += len(part)
            if size > LARGEST_BODY:
                raise RequestTooLarge
            parts.append(part)
            if not message.get("more_body", False):
                return parts[0] if len(parts) == 1 else b"".join(parts)
            message = await self._receive()
