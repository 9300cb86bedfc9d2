"""A bad network on loopback: between a client and the service, each request meets a fault, or none.

`python -m tests.sdk.fault_proxy UPSTREAM_PORT SEED` prints its port, works until its input is closed, then prints how
often it did what. Which fault a request meets depends on the seed, the scan and the number of its try alone, so that a
run can be had again whatever the order in which requests come.
"""

import asyncio
import contextlib
import json
import random
import socket
import struct
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

# Longer than a try of the tests' clients may take.
TOO_LONG = 1.0
# Set on answers that were handed on whole and at once: whoever got one has no reason to ask again.
UNTOUCHED = b"x-fault: none\r\n"


@dataclass
class Exchange:
    """One request of a client, and the way to the service."""

    request: bytes
    # A synchronous client cannot bound headers that trickle.
    trickles_headers: bool
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    upstream: "Upstream"

    async def answer(self) -> bytes:
        """What the service says, whole."""
        return await self.upstream.ask(self.request)

    async def say(self, raw: bytes) -> None:
        self.writer.write(raw)
        await self.writer.drain()

    async def wait_until_they_give_up(self) -> None:
        await self.reader.read()

    def reset(self) -> None:
        """Hang up without a goodbye."""
        raw: socket.socket = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


@dataclass
class Upstream:
    """A connection to the service, opened when it is first needed."""

    port: int
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> bytes:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._streams
        writer.write(request)
        return await message(reader)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()


async def message(reader: asyncio.StreamReader) -> bytes:
    """One request or answer, head and body."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
    )
    return head + await reader.readexactly(length)


def split(answer: bytes) -> tuple[bytes, bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return head + b"\r\n\r\n", body


# Each fault ends with True if the connection can carry another request.
Fault = Callable[[Exchange], Awaitable[bool]]


async def passed(it: Exchange) -> bool:
    await it.say((await it.answer()).replace(b"\r\n", b"\r\n" + UNTOUCHED, 1))
    return True


async def closed_before(it: Exchange) -> bool:
    return False


async def reset_before(it: Exchange) -> bool:
    it.reset()
    return False


async def reset_while_served(it: Exchange) -> bool:
    answering = asyncio.ensure_future(it.answer())
    # One turn of the loop: the request is on its way.
    await asyncio.sleep(0)
    it.reset()
    await answering
    return False


async def reset_after(it: Exchange) -> bool:
    await it.answer()
    it.reset()
    return False


async def swallowed(it: Exchange) -> bool:
    await it.answer()
    await it.wait_until_they_give_up()
    return False


async def ignored(it: Exchange) -> bool:
    await it.wait_until_they_give_up()
    return False


async def a_little_late(it: Exchange) -> bool:
    answer = await it.answer()
    await asyncio.sleep(0.05)
    await it.say(answer)
    return True


async def too_late(it: Exchange) -> bool:
    """The request goes on late, too: the client may have asked again meanwhile."""
    await asyncio.sleep(TOO_LONG)
    await it.say(await it.answer())
    return False


async def cut_in_headers(it: Exchange) -> bool:
    head, _ = split(await it.answer())
    await it.say(head[: len(head) // 2])
    return False


async def cut_in_body(it: Exchange) -> bool:
    head, body = split(await it.answer())
    await it.say(head + body[: len(body) // 2])
    return False


async def half_in_headers(it: Exchange) -> bool:
    head, _ = split(await it.answer())
    await it.say(head[: len(head) // 2])
    await it.wait_until_they_give_up()
    return False


async def half_in_body(it: Exchange) -> bool:
    head, body = split(await it.answer())
    await it.say(head + body[: len(body) // 2])
    await it.wait_until_they_give_up()
    return False


async def trickled(it: Exchange, *, bytes_at_once: int, pause: float) -> bool:
    head, body = split(await it.answer())
    if not it.trickles_headers:
        await it.say(head)
    rest = head + body if it.trickles_headers else body
    for at in range(0, len(rest), bytes_at_once):
        await it.say(rest[at : at + bytes_at_once])
        await asyncio.sleep(pause)
    return True


async def trickled_in_time(it: Exchange) -> bool:
    return await trickled(it, bytes_at_once=16, pause=0.001)


async def trickled_endlessly(it: Exchange) -> bool:
    return await trickled(it, bytes_at_once=1, pause=0.02)


async def answered_then_closed(it: Exchange) -> bool:
    await it.say(await it.answer())
    return False


async def answered_then_stale(it: Exchange) -> bool:
    """A kept connection that is gone just when the next request is written."""
    await it.say(await it.answer())
    await it.reader.read(1)
    it.reset()
    return False


def instead(status: str, kind: str, body: str, *headers: str) -> Fault:
    """Answered here: the service never hears of it."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers, "", body]
    raw = "\r\n".join(lines).encode()

    async def answered_here(it: Exchange) -> bool:
        await it.say(raw)
        return True

    return answered_here


def on_top(status: str, body: str) -> Fault:
    """The service did its work, and a gateway says that it did not."""
    gateway = instead(status, "text/html", body)

    async def hidden(it: Exchange) -> bool:
        await it.answer()
        return await gateway(it)

    return hidden


BUSY = '{"error": "Too many scans are waiting.", "code": "overloaded"}'
LIMITED = '{"error": "Too many calls.", "code": "rate_limited"}'
PORTAL = "<html><body>Welcome to Stadium WiFi. Accept the terms to go on.</body></html>"

# Of a hundred requests, how many meet which; the others pass.
FAULTS: dict[str, tuple[float, Fault]] = {
    "closed before it was sent on": (2, closed_before),
    "reset before it was sent on": (2, reset_before),
    "reset while it was served": (4, reset_while_served),
    "reset after it was served": (4, reset_after),
    "answer swallowed, then silence": (2, swallowed),
    "not sent on, then silence": (1, ignored),
    "answer 50 ms late": (3, a_little_late),
    "request and answer too late": (2, too_late),
    "cut in the headers": (3, cut_in_headers),
    "cut in the body": (3, cut_in_body),
    "half the headers, then silence": (1, half_in_headers),
    "half the body, then silence": (1, half_in_body),
    "trickled, in time": (1, trickled_in_time),
    "trickled, endlessly": (1, trickled_endlessly),
    "connection closed after the answer": (3, answered_then_closed),
    "kept connection gone at the next request": (3, answered_then_stale),
    "502, HTML": (2, instead("502 Bad Gateway", "text/html", "<h1>502</h1>")),
    "503, HTML, Retry-After": (1, instead("503 Busy", "text/html", "<h1>503</h1>", "Retry-After: 1")),
    "503, JSON of a stranger": (2, instead("503 Busy", "application/json", '{"message": "no healthy upstream"}')),
    "503, overloaded": (2, instead("503 Busy", "application/json", BUSY, "x-svc-should-retry: true")),
    "504 on top of an answer": (2, on_top("504 Gateway Timeout", "<h1>504</h1>")),
    "429, Retry-After": (1, instead("429 Slow", "application/json", LIMITED, "Retry-After: 1")),
    "429, HTML": (1, instead("429 Slow", "text/html", "<h1>429</h1>")),
    "408": (1, instead("408 Request Timeout", "text/plain", "")),
    "portal, 200 HTML": (2, instead("200 OK", "text/html", PORTAL)),
    "portal, 200 JSON": (1, instead("200 OK", "application/json", '{"data": {"portal": "sign in"}}')),
    "portal, 302": (1, instead("302 Found", "text/html", "", "Location: http://127.0.0.1:9/portal")),
}


@dataclass
class Network:
    upstream_port: int
    seed: str
    done: Counter[str] = field(default_factory=Counter[str])
    tries: Counter[str] = field(default_factory=Counter[str])
    # Streams that were reset no longer hold the task that serves them.
    serving: "set[asyncio.Task[None]]" = field(default_factory=set["asyncio.Task[None]"])

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self.serve(reader, writer))
        self.serving.add(task)
        task.add_done_callback(self.serving.discard)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream = Upstream(self.upstream_port)
        # Clients hang up whenever they like.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self.carry(Exchange(await message(reader), False, reader, writer, upstream)):
                pass
        upstream.close()
        writer.close()

    async def carry(self, it: Exchange) -> bool:
        body = json.loads(split(it.request)[1])
        it.trickles_headers = body["scanner_id"] == "async"
        scan = f"{body['card_number']} {body['gate']}"
        self.tries[scan] += 1
        name = self.fault_of(f"{self.seed} {scan} {self.tries[scan]}")
        self.done[name] += 1
        return await (FAULTS[name][1] if name in FAULTS else passed)(it)

    def fault_of(self, request: str) -> str:
        at = random.Random(request).uniform(0, 100)
        for name, (share, _) in FAULTS.items():
            at -= share
            if at < 0:
                return name
        return "passed"


async def main(upstream_port: int, seed: str) -> None:
    network = Network(upstream_port, seed)
    server = await asyncio.start_server(network.connected, "127.0.0.1", 0, backlog=512)
    port = server.sockets[0].getsockname()[1]
    print(port, flush=True)
    stopping = asyncio.ensure_future(asyncio.to_thread(sys.stdin.read))
    while not stopping.done():
        await asyncio.wait([stopping], timeout=0.5)
        server.close()
        network.done["nobody listens, for 30 ms"] += 1
        await asyncio.sleep(0.03)
        server = await asyncio.start_server(network.connected, "127.0.0.1", port, backlog=512)
    server.close()
    # What is under way arrives before anybody counts.
    async with asyncio.timeout(10):
        await asyncio.gather(*network.serving)
    print(json.dumps(network.done), flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
