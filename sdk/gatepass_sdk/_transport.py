"""One request, one answer, within a time limit: the only file in which the two clients differ by hand.

httpx2 limits each wait for the network, not their sum. So each step gets the time that is left, the time is checked
after each part of a body, and the asynchronous client has a timeout for the whole. The synchronous client cannot limit
two things: headers that come byte by byte, and a name resolver that does not answer.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final

import httpx2

from gatepass_sdk._call import Answer
from gatepass_sdk._retry import refusal_of

# A page of 100 events is a tenth of this.
LARGEST_ANSWER: Final = 16 * 1024 * 1024
# Seconds without a sign of life after which a stream is dead.
SILENCE: Final = 45.0
OK: Final = 200
# Plain http goes to this machine, not to the proxy that HTTP_PROXY names: it would read the key.
DIRECT: Final = {"http://": None}

sleep = time.sleep
async_sleep = asyncio.sleep


def send(http: httpx2.Client, request: httpx2.Request, within: float) -> Answer:
    """The answer, or httpx2's reason why there is none."""
    ends = time.monotonic() + within
    # The service redirects nobody. Whoever does may not have the key and the token of a card.
    response = http.send(_bounded(request, within), stream=True, follow_redirects=False)
    try:
        content = bytearray()
        for part in _parts(response.iter_bytes(), ends, request):
            content += part
            _refuse_endless(content, request)
    finally:
        response.close()
    return Answer(response.status_code, response.headers, bytes(content))


async def async_send(http: httpx2.AsyncClient, request: httpx2.Request, within: float) -> Answer:
    """The answer, or httpx2's reason why there is none."""
    try:
        async with asyncio.timeout(within):
            response = await http.send(_bounded(request, within), stream=True, follow_redirects=False)
            try:
                content = bytearray()
                async for part in response.aiter_bytes():
                    content += part
                    _refuse_endless(content, request)
            finally:
                await response.aclose()
    except TimeoutError:
        raise _too_late(request) from None
    return Answer(response.status_code, response.headers, bytes(content))


def events(http: httpx2.Client, request: httpx2.Request) -> Iterator[tuple[str, str]]:
    """The names and the data of server-sent events. It ends with the connection, and raises what ended it."""
    response = http.send(_followed(request), stream=True, follow_redirects=False)
    try:
        if response.status_code != OK:
            response.read()
            raise refusal_of(Answer(response.status_code, response.headers, response.content))
        name = ""
        for line in response.iter_lines():
            name, data = _event(line, name)
            if data is not None:
                yield name, data
    finally:
        response.close()


async def async_events(http: httpx2.AsyncClient, request: httpx2.Request) -> AsyncIterator[tuple[str, str]]:
    """The names and the data of server-sent events. It ends with the connection, and raises what ended it."""
    response = await http.send(_followed(request), stream=True, follow_redirects=False)
    try:
        if response.status_code != OK:
            await response.aread()
            raise refusal_of(Answer(response.status_code, response.headers, response.content))
        name = ""
        async for line in response.aiter_lines():
            name, data = _event(line, name)
            if data is not None:
                yield name, data
    finally:
        await response.aclose()


def _event(line: str, name: str) -> tuple[str, str | None]:
    """The name of the event that is being read, and its data, which the service sends in one line."""
    if line.startswith("event: "):
        return line.removeprefix("event: "), None
    return name, line.removeprefix("data: ") if line.startswith("data: ") else None


def _followed(request: httpx2.Request) -> httpx2.Request:
    """Without a deadline, but for silence: the service gives a sign of life each 20 seconds."""
    request.extensions = {**request.extensions, "timeout": dict.fromkeys(("pool", "connect", "write", "read"), SILENCE)}
    return request


def _parts(parts: Iterator[bytes], ends: float, request: httpx2.Request) -> Iterator[bytes]:
    for part in parts:
        yield part
        if time.monotonic() > ends:
            raise _too_late(request)


def _bounded(request: httpx2.Request, within: float) -> httpx2.Request:
    request.extensions = {**request.extensions, "timeout": _TimeLeft(time.monotonic() + within)}
    return request


class _TimeLeft(Mapping[str, float]):
    """httpx2 reads it at the start of each step: a step may take the time that the steps before it left."""

    def __init__(self, ends: float) -> None:
        self._ends = ends

    def __getitem__(self, step: str) -> float:
        return max(self._ends - time.monotonic(), 0.001)

    def __iter__(self) -> Iterator[str]:
        return iter(("pool", "connect", "write", "read"))

    def __len__(self) -> int:
        return 4


def _too_late(request: httpx2.Request) -> httpx2.ReadTimeout:
    return httpx2.ReadTimeout("The answer was not complete in time.", request=request)


def _refuse_endless(content: bytearray, request: httpx2.Request) -> None:
    if len(content) > LARGEST_ANSWER:
        raise httpx2.ReadError("The answer is too large.", request=request)


__all__ = ["DIRECT", "async_send", "async_sleep", "send", "sleep"]
