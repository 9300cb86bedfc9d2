"""What an application sends leaves in the bytes that uvicorn would send."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from gatepass.base.settings import Settings
from gatepass.server import run
from gatepass.server.connections import Connections

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEAD = GET.replace(b"GET", b"HEAD")
CLOSING = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
OLD = b"GET / HTTP/1.0\r\n\r\n"
LARGE = b"x" * 300_000

Message = dict[str, Any]


@dataclass
class Script:
    """An application that sends these messages, whatever the request."""

    messages: list[Message]

    async def __call__(self, _scope: Message, _receive: Any, send: Any) -> None:
        for message in self.messages:
            await send(message)


def start(status: int, *headers: tuple[bytes, bytes]) -> Message:
    return {"type": "http.response.start", "status": status, "headers": list(headers)}


def body(part: bytes, *, more: bool = False) -> Message:
    return {"type": "http.response.body", "body": part, "more_body": more}


def length(part: bytes) -> tuple[bytes, bytes]:
    return b"Content-Length", b"%d" % len(part)


def ours(app: Any) -> uvicorn.Config:
    return run.config(app, Connections.of(Settings()))


def uvicorns(app: Any) -> uvicorn.Config:
    return uvicorn.Config(app, http="httptools", ws="none", lifespan="off", log_config=None)


async def answered(configured: Callable[[Any], uvicorn.Config], app: Any, request: bytes) -> bytes:
    """All bytes until the server closes the connection: of one response, and of the one to a second request."""
    config = configured(app)
    config.load()
    state = ServerState()
    state.default_headers = [(b"date", b"today")]

    def protocol() -> asyncio.Protocol:
        return config.http_protocol_class(config=config, server_state=state, app_state={})  # type: ignore[return-value]

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
    async with server, asyncio.timeout(60):
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(request + CLOSING)
        received = await reader.read()
        writer.close()
    return received


RESPONSES = {
    "a body": [start(200, length(b"yes"), (b"X-Name", b"value")), body(b"yes")],
    "a tab in a value": [start(200, length(b"yes"), (b"x-tab", b"a\tb")), body(b"yes")],
    "a large body": [start(200, length(LARGE)), body(LARGE)],
    "two parts": [start(200, length(b"yesno")), body(b"yes", more=True), body(b"no")],
    "chunks": [start(200), body(b"yes", more=True), body(b"", more=True), body(b"no")],
    "chunks that are announced": [start(200, (b"transfer-encoding", b"Chunked")), body(b"yes")],
    "no body": [start(204), body(b"")],
    "not modified": [start(304, (b"etag", b'"1"')), body(b"")],
    "an empty body": [start(200, length(b"")), body(b"")],
    "the last one": [start(200, length(b"yes"), (b"Connection", b"close")), body(b"yes")],
    "longer than its length": [start(200, length(b"y")), body(b"yes")],
    "shorter than its length": [start(200, length(b"yes!")), body(b"yes")],
    "never started": [body(b"yes")],
    "started twice": [start(200, length(b"")), start(200, length(b"")), body(b"")],
    "nothing": [],
}
# Of a response that breaks off, uvicorn sends a part. We send as much or less: it is of no use to the caller.
BROKEN = {"longer than its length", "shorter than its length", "started twice"}


@pytest.mark.parametrize("name", RESPONSES)
@pytest.mark.parametrize("request_", [GET, HEAD, OLD], ids=["get", "head", "http/1.0"])
async def test_the_bytes_are_those_of_uvicorn(name: str, request_: bytes) -> None:
    app = Script(RESPONSES[name])
    sent, expected = await answered(ours, app, request_), await answered(uvicorns, app, request_)
    if name in BROKEN:
        assert expected.startswith(sent)
    else:
        assert sent == expected


@pytest.mark.parametrize(
    "header",
    [
        (b"x-name", b"a\r\nset-cookie: b"),
        (b"x-name", b"a\x00"),
        (b"x-name", b"a\x7f"),
        (b"x name", b"yes-no"),
        (b"x\n", b"yes-no"),
    ],
)
async def test_a_header_that_would_be_two_is_never_sent(header: tuple[bytes, bytes]) -> None:
    sent = await answered(ours, Script([start(200, length(b"yes"), header), body(b"yes")]), CLOSING)
    assert sent.startswith(b"HTTP/1.1 500 ")
    assert header[1] not in sent
    assert b"set-cookie" not in sent
