"""HTTP as bytes on a socket: requests that no client library would send, and the responses to them."""

import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.processes import GatepassProcess

WITHIN = 60.0


@dataclass
class Response:
    status: int
    headers: dict[str, str]
    body: bytes = b""


@dataclass
class Exchange:
    """What came back on one connection. `closed` is whether the other side ended it."""

    responses: list[Response] = field(default_factory=list[Response])
    closed: bool = False

    @property
    def statuses(self) -> list[int]:
        return [one.status for one in self.responses]


def exchange(port: int, *segments: bytes, expect: int = 1, host: str = "127.0.0.1") -> Exchange:
    """Send these segments, and read until `expect` responses have come or the connection is closed."""
    found = Exchange()
    with socket.create_connection((host, port), timeout=WITHIN) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for segment in segments:
                connection.sendall(segment)
        except ConnectionError:
            found.closed = True
        received = b""
        while len(found.responses) < expect:
            try:
                piece = connection.recv(65536)
            except ConnectionError:
                piece = b""
            if not piece:
                found.closed = True
                break
            received += piece
            received = _take(received, found.responses, bodiless=segments[0].startswith(b"HEAD "))
    return found


def one(port: int, *segments: bytes, host: str = "127.0.0.1") -> Response:
    """The one response to these segments."""
    found = exchange(port, *segments, host=host)
    assert found.responses, "the connection was closed without a response"
    return found.responses[0]


def request(
    method: str,
    path: str,
    headers: Iterable[tuple[str, str]] = (),
    body: bytes = b"",
    *,
    trailers: Iterable[tuple[str, str]] | None = None,
    version: str = "1.1",
    host: str | None = "gatepass.test",
) -> bytes:
    """A request. With trailers its body is sent as one chunk, and they follow it."""
    lines = [f"{method} {path} HTTP/{version}"]
    if host is not None:
        lines.append(f"Host: {host}")
    lines += [f"{name}: {value}" for name, value in headers]
    if trailers is not None:
        lines.append("Transfer-Encoding: chunked")
        chunk = b"%x\r\n%s\r\n" % (len(body), body) if body else b""
        body = chunk + b"0\r\n" + _lines(trailers) + b"\r\n"
    elif body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def resident_kb(server: GatepassProcess) -> int:
    """The memory that the process has now, in KiB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


def _lines(headers: Iterable[tuple[str, str]]) -> bytes:
    return b"".join(f"{name}: {value}\r\n".encode("latin-1") for name, value in headers)


def _take(received: bytes, into: list[Response], *, bodiless: bool) -> bytes:
    """Parse whole responses; the rest."""
    while b"\r\n\r\n" in received:
        head, _, rest = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        named = [line.partition(":") for line in lines]
        response = Response(int(first.split(" ")[1]), {name.lower(): value.strip() for name, _, value in named})
        if response.headers.get("transfer-encoding") == "chunked":
            if not rest.endswith(b"0\r\n\r\n"):
                break
            response.body, rest = rest, b""
        else:
            length = 0 if bodiless else int(response.headers.get("content-length", "0"))
            if len(rest) < length:
                break
            response.body, rest = rest[:length], rest[length:]
        if response.status != 100:
            into.append(response)
        received = rest
    return received
