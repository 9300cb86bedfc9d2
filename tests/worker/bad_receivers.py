"""Receivers that misbehave, with the attempt that each must give; and a sender for tests, on either event loop."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, TypeVar

import uvloop
from aiohttp.abc import AbstractResolver, ResolveResult

from gatepass.domain.webhooks.queue import Attempt, AttemptError
from gatepass.worker.sender import Sender
from tests.receivers import Answer, Behaviour, Received, authority, hang, reset

T = TypeVar("T")

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}

OK = b"HTTP/1.1 200 OK\r\n"


def run(loop: str, scenario: Coroutine[Any, Any, T]) -> T:
    """Run on a loop of this kind, in a thread of its own: the tests have a loop already."""

    def go() -> T:
        with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
            return runner.run(scenario)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(go).result()


@asynccontextmanager
async def sending(**options: Any) -> AsyncGenerator[Callable[[str], Awaitable[Attempt]]]:
    """A sender that may connect anywhere, and trusts the CA of the tests."""
    everything: dict[str, Any] = {"allow_private": True, "tls": authority().client(), **options}
    sender = Sender(**everything)
    try:
        yield lambda url: sender.send(url, lambda: {"content-type": "application/json"}, b'{"a":1}')
    finally:
        await sender.close()


def writes(*parts: bytes, pause: float = 0, then: Behaviour = hang, again: int = 0) -> Behaviour:
    """Writes these parts one by one, the last of them `again` times more."""

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        for part in chain(parts, repeat(parts[-1], again)):
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)
        await then(received, writer)

    return answer


async def ends(_received: Received, _writer: asyncio.StreamWriter) -> None:
    """Closes the connection."""
    raise ConnectionAbortedError


@dataclass(frozen=True)
class Bad:
    """A receiver, and the recorded result of an attempt."""

    answer: Answer
    status: int | None
    error: AttemptError | None


# Practically endless.
MANY = 10_000_000

BAD = {
    "hangs": Bad(hang, None, AttemptError.TIMEOUT),
    "resets": Bad(reset, None, AttemptError.CONNECTION_LOST),
    "closes": Bad(ends, None, AttemptError.CONNECTION_LOST),
    "closes in the status line": Bad(writes(b"HTTP/1.1 20", then=ends), None, AttemptError.CONNECTION_LOST),
    "closes in the headers": Bad(writes(OK + b"x: y\r\n", then=ends), None, AttemptError.CONNECTION_LOST),
    "closes in the body": Bad(
        writes(OK + b"content-length: 9\r\n\r\nhal", pause=0.01, then=ends), 200, AttemptError.CONNECTION_LOST
    ),
    "resets in the body": Bad(
        writes(OK + b"content-length: 9\r\n\r\nhal", pause=0.01, then=reset), 200, AttemptError.CONNECTION_LOST
    ),
    "closes in a chunk": Bad(
        writes(OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhal", pause=0.01, then=ends),
        200,
        AttemptError.CONNECTION_LOST,
    ),
    "stops in the headers": Bad(writes(OK + b"x: y\r\n"), None, AttemptError.TIMEOUT),
    "stops in the body": Bad(writes(OK + b"content-length: 9\r\n\r\nhal"), 200, AttemptError.TIMEOUT),
    "stops before the last chunk": Bad(
        writes(OK + b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"), 200, AttemptError.TIMEOUT
    ),
    "drips headers": Bad(writes(OK, b"x: y\r\n", pause=0.02, again=MANY), None, AttemptError.TIMEOUT),
    "drips the status line": Bad(writes(b"HTTP/1.1 200 ", b"O", pause=0.02, again=MANY), None, AttemptError.TIMEOUT),
    "drips its body": Bad(writes(OK + b"\r\n", b".", pause=0.02, again=MANY), 200, AttemptError.TIMEOUT),
    "endless body": Bad(writes(OK + b"\r\n", b"." * 65536, again=MANY), 200, None),
    "endless chunks": Bad(
        writes(OK + b"transfer-encoding: chunked\r\n\r\n", b"1\r\n.\r\n" * 1000, again=MANY), 200, None
    ),
    "endless failure": Bad(writes(b"HTTP/1.1 500 No\r\n\r\n", b"." * 65536, again=MANY), 500, None),
    "endless headers": Bad(writes(OK, b"x: y\r\n" * 1000, again=MANY), None, AttemptError.BAD_ANSWER),
    "endless status line": Bad(writes(b"HTTP/1.1 200 ", b"O" * 1000, again=MANY), None, AttemptError.BAD_ANSWER),
    "endless trailers": Bad(
        writes(OK + b"transfer-encoding: chunked\r\n\r\n0\r\n" + b"x: y\r\n" * 1000, again=MANY),
        None,
        AttemptError.BAD_ANSWER,
    ),
    "endless interim answers": Bad(
        writes(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, again=MANY), None, AttemptError.BAD_ANSWER
    ),
    "huge header": Bad(writes(OK + b"x: " + b"y" * 100_000 + b"\r\n\r\n"), None, AttemptError.BAD_ANSWER),
    "not HTTP": Bad(writes(b"220 mail.example ESMTP\r\n"), None, AttemptError.BAD_ANSWER),
    "a status of four digits": Bad(writes(b"HTTP/1.1 2000 OK\r\n\r\n"), None, AttemptError.BAD_ANSWER),
    "two lengths": Bad(writes(OK + b"content-length: 1\r\ncontent-length: 2\r\n\r\nab"), None, AttemptError.BAD_ANSWER),
    "NUL in a header": Bad(writes(OK + b"x: \0\r\n\r\n"), None, AttemptError.BAD_ANSWER),
    "changes the protocol": Bad(
        writes(b"HTTP/1.1 101 Now\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n", b"." * 65536, again=MANY), 101, None
    ),
    "500": Bad(500, 500, None),
    "503": Bad(503, 503, None),
    "410": Bad(410, 410, None),
    "404": Bad(404, 404, None),
}


class Unknown(AbstractResolver):
    """A resolver that knows no name, or never answers."""

    def __init__(self, *, hangs: bool) -> None:
        self._hangs = hangs

    async def resolve(self, *_: Any, **__: Any) -> list[ResolveResult]:
        if self._hangs:
            await asyncio.Event().wait()
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async def close(self) -> None:
        pass
