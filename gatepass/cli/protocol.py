"""uvicorn's HTTP protocol, with an end to what a stranger may send, and answers that leave in one piece."""

import asyncio
import math
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# Request line and headers together. A card token in a query has less than one of these.
LARGEST_HEAD: Final = 64 * 1024
END_OF_HEAD: Final = b"\r\n\r\n"
CONTINUE: Final = b"HTTP/1.1 100 "


class WholeAnswers:
    """A transport that keeps the head of an answer until its body comes: one system call and one packet, not two."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""

    def write(self, data: bytes) -> None:
        if self._head:
            data, self._head = self._head + data, b""
        elif data.endswith(END_OF_HEAD) and not data.startswith(CONTINUE):
            self._head = data
            return
        self._transport.write(data)

    def flush(self) -> None:
        """An answer without a body has only a head."""
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Protocol(HttpToolsProtocol):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._unfinished: float = 0
        self._answers: WholeAnswers

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._answers = WholeAnswers(transport)
        super().connection_made(self._answers)  # type: ignore[arg-type]

    def on_response_complete(self) -> None:
        self._answers.flush()
        super().on_response_complete()

    def data_received(self, data: bytes) -> None:
        """The headers are kept in memory for somebody who has shown no key yet, so they must end."""
        super().data_received(data)
        self._unfinished += len(data)
        if self._unfinished > LARGEST_HEAD:
            self.transport.abort()

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        # What follows is a body, which its endpoint measures, until the next message begins.
        self._unfinished = -math.inf

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._unfinished = 0
