"""Hostile bytes against a real process: it refuses them or closes the connection, never fails, and serves on."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from gatepass.base.settings import BASE_PATH
from tests.factory import Tenant
from tests.faults.gates import wait_for
from tests.processes import GatepassProcess

BASE = BASE_PATH.encode()


@dataclass
class Wire:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, raw: bytes) -> None:
        self.writer.write(raw)
        await self.writer.drain()

    async def send_slowly(self, raw: bytes, times: int) -> None:
        for _ in range(times):
            await self.send(raw)

    async def status(self) -> int | None:
        """The status of the next answer; None if the process closed the connection."""
        try:
            line = await asyncio.wait_for(self.reader.readline(), 60)
        except ConnectionError:
            return None
        return int(line.split(b" ")[1]) if line else None


@asynccontextmanager
async def wire(server: GatepassProcess) -> AsyncGenerator[Wire]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()


@pytest.fixture
async def headers(tenant: Tenant) -> bytes:
    """A host and a good key, as header lines."""
    return f"Host: gatepass.test\r\nAuthorization: Bearer {(await tenant.key()).text}\r\n".encode()


async def assert_unharmed(server: GatepassProcess, since: int) -> None:
    """The process still answers, and has logged no fault since line `since`."""
    async with server.client() as client:
        answer = await client.get(server.url + "/livez")
    assert answer.status_code == 200
    await logged(server, since, answer.headers["x-request-id"])
    assert not [line for line in server.lines[since:] if "unhandled" in line or "Traceback" in line]


async def logged(server: GatepassProcess, since: int, text: str, times: int = 1) -> list[str]:
    """Wait until this text has been logged `times` times; the lines with it."""

    def found() -> list[str]:
        return [line for line in server.lines[since:] if text in line]

    async def is_logged() -> bool:
        return len(found()) >= times

    await wait_for(is_logged, within=60)
    return found()


async def ask(server: GatepassProcess, raw: bytes) -> int | None:
    since = len(server.lines)
    async with wire(server) as line:
        await line.send(raw)
        status = await line.status()
    await assert_unharmed(server, since)
    return status


REQUESTS: dict[str, tuple[bytes, set[int | None]]] = {
    "a good one": (b"GET " + BASE + b"/events HTTP/1.1\r\n%s\r\n", {200}),
    "HTTP/1.0": (b"GET " + BASE + b"/events HTTP/1.0\r\n%s\r\n", {200}),
    "a whole URL": (b"GET http://elsewhere.test" + BASE + b"/events HTTP/1.1\r\n%s\r\n", {200}),
    "two slashes": (b"GET /" + BASE + b"//events HTTP/1.1\r\n%s\r\n", {404}),
    "dots": (b"GET " + BASE + b"/events/../events HTTP/1.1\r\n%s\r\n", {404}),
    "a slash at the end": (b"GET " + BASE + b"/events/ HTTP/1.1\r\n%s\r\n", {404}),
    "a fragment": (b"GET " + BASE + b"/events#x HTTP/1.1\r\n%s\r\n", {200, 400}),
    "a path that is not ASCII": (b"GET " + BASE + b"/\xff\xfe HTTP/1.1\r\n%s\r\n", {400}),
    "a query that is not ASCII": (b"GET " + BASE + b"/events?cursor=\xff HTTP/1.1\r\n%s\r\n", {400}),
    "a path with NUL": (b"GET " + BASE + b"/a\x00b HTTP/1.1\r\n%s\r\n", {400}),
    "a host that is none": (b"GET " + BASE + b"/nowhere HTTP/1.1\r\nHost: [\r\n\r\n", {400}),
    "no host": (b"GET /nowhere HTTP/1.1\r\n\r\n", {400}),
    "an unknown method": (b"BREW " + BASE + b"/events HTTP/1.1\r\n%s\r\n", {400}),
    "a method in small letters": (b"get " + BASE + b"/events HTTP/1.1\r\n%s\r\n", {400}),
    "asterisk": (b"OPTIONS * HTTP/1.1\r\n%s\r\n", {404}),
    "CONNECT": (b"CONNECT gatepass.test:443 HTTP/1.1\r\n%s\r\n", {400}),
    "a header with NUL": (b"GET " + BASE + b"/events HTTP/1.1\r\n%sX: a\x00b\r\n\r\n", {400}),
    "an idempotency key with NUL": (
        b"POST " + BASE + b"/scan HTTP/1.1\r\n%sIdempotency-Key: \x00\r\n\r\n",
        {400},
    ),
    "a header without a name": (b"GET " + BASE + b"/events HTTP/1.1\r\n%s: x\r\n\r\n", {400}),
    "a folded header": (b"GET " + BASE + b"/events HTTP/1.1\r\n%sX: a\r\n b\r\n\r\n", {400}),
    "two lengths": (
        b"POST " + BASE + b"/scan HTTP/1.1\r\n%sContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
        {400},
    ),
    "a length and chunks": (
        b"POST "
        + BASE
        + b"/scan HTTP/1.1\r\n%sContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        {400},
    ),
    "a negative length": (b"POST " + BASE + b"/scan HTTP/1.1\r\n%sContent-Length: -1\r\n\r\n", {400}),
    "not HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", {400}),
    "another protocol": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400}),
    "an upgrade": (
        b"GET " + BASE + b"/events HTTP/1.1\r\n%sConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        {200},
    ),
}


@pytest.mark.parametrize("name", REQUESTS)
async def test_requests(server: GatepassProcess, headers: bytes, name: str) -> None:
    raw, expected = REQUESTS[name]
    assert await ask(server, raw.replace(b"%s", headers)) in expected


@pytest.mark.parametrize("size", [8_000, 70_000, 1_000_000])
async def test_large_headers(server: GatepassProcess, headers: bytes, size: int) -> None:
    for line in (b"X: " + b"x" * size, b"Authorization: Bearer " + b"x" * size, b"Idempotency-Key: " + b"x" * size):
        assert await ask(server, b"POST " + BASE + b"/scan HTTP/1.1\r\n%s%s\r\n\r\n" % (headers, line)) in {
            400,
            431,
            None,
        }
    many = b"".join(b"X-%d: x\r\n" % n for n in range(size // 20))
    assert await ask(server, b"GET " + BASE + b"/events HTTP/1.1\r\n%s%s\r\n" % (headers, many)) in {
        200,
        400,
        431,
        None,
    }


async def test_headers_without_end_are_cut_off(server: GatepassProcess) -> None:
    """No key has been checked yet, and the process keeps all headers in memory."""
    async with wire(server) as line:
        await line.send(b"GET /livez HTTP/1.1\r\nHost: gatepass.test\r\nX: ")
        with pytest.raises(ConnectionError):
            await line.send_slowly(b"x" * 100_000, times=160)


async def test_a_body_in_chunks_is_measured(server: GatepassProcess, headers: bytes) -> None:
    head = b"POST " + BASE + b"/scan HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n" % headers
    chunk = b"400\r\n" + b" " * 0x400 + b"\r\n"
    assert await ask(server, head + chunk * 16 + b"0\r\n\r\n") == 400
    assert await ask(server, head + chunk * 17 + b"0\r\n\r\n") == 413
    assert await ask(server, head + chunk * 17) == 413, "the answer must not wait for the rest"


async def test_a_chunk_without_a_size(server: GatepassProcess, headers: bytes) -> None:
    head = b"POST " + BASE + b"/scan HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n" % headers
    assert await ask(server, head + b"zz\r\n") == 400


async def test_a_length_alone_is_enough_to_refuse(server: GatepassProcess, headers: bytes) -> None:
    head = b"POST " + BASE + b"/scan HTTP/1.1\r\n%sContent-Length: 1000000\r\n\r\n" % headers
    assert await ask(server, head + b" " * 20_000) == 413


async def test_after_a_refused_body_the_connection_still_works_or_is_closed(
    server: GatepassProcess, headers: bytes
) -> None:
    """The rest of a body that was not read must never be parsed as the next request."""
    smuggled = b"GET " + BASE + b"/smuggled HTTP/1.1\r\n%s\r\n" % headers
    body = b" " * 20_000 + smuggled
    async with wire(server) as line:
        await line.send(
            b"POST " + BASE + b"/scan HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n" % (headers, len(body)) + body
        )
        assert await line.status() == 413
        await line.send(b"GET " + BASE + b"/events HTTP/1.1\r\n%sConnection: close\r\n\r\n" % headers)
        rest = await asyncio.wait_for(line.reader.read(), 60)
        assert rest.count(b"HTTP/1.1 ") <= 1
        assert b"404" not in rest.split(b"HTTP/1.1 ")[-1][:4]


async def test_a_caller_that_hangs_up_is_no_fault_of_ours(
    server: GatepassProcess, tenant: Tenant, headers: bytes
) -> None:
    """A gate's network breaks in the middle of a body."""
    since = len(server.lines)
    async with wire(server) as line:
        await line.send(b"POST " + BASE + b"/scan HTTP/1.1\r\n%sContent-Length: 100\r\n\r\n" % headers + b'{"event')
    for told in await logged(server, since, str(tenant.id)):
        assert json.loads(told)["status"] < 500
    await assert_unharmed(server, since)


async def test_callers_that_do_not_wait_for_the_answer(server: GatepassProcess, tenant: Tenant, headers: bytes) -> None:
    since = len(server.lines)
    for _ in range(20):
        async with wire(server) as line:
            await line.send(b"GET " + BASE + b"/events HTTP/1.1\r\n%s\r\n" % headers)
    await logged(server, since, str(tenant.id), 20)
    await assert_unharmed(server, since)


async def test_many_requests_in_one_breath(server: GatepassProcess, headers: bytes) -> None:
    """Pipelining: each is answered, in order."""
    since = len(server.lines)
    async with wire(server) as line:
        await line.send((b"GET " + BASE + b"/events HTTP/1.1\r\n%s\r\n" % headers) * 10)
        for _ in range(10):
            head = (await asyncio.wait_for(line.reader.readuntil(b"\r\n\r\n"), 60)).lower()
            assert head.startswith(b"http/1.1 200")
            await line.reader.readexactly(int(head.partition(b"content-length: ")[2].split(b"\r\n")[0]))
    await assert_unharmed(server, since)


# Two times in three; not strict for that.
async def test_many_requests_in_one_breath_and_then_nobody(
    server: GatepassProcess, tenant: Tenant, headers: bytes
) -> None:
    since = len(server.lines)
    async with wire(server) as line:
        await line.send((b"GET " + BASE + b"/events HTTP/1.1\r\n%s\r\n" % headers) * 10)
        assert await line.status() == 200
    await logged(server, since, str(tenant.id))
    await assert_unharmed(server, since)


async def test_an_answer_leaves_in_one_packet(server: GatepassProcess, headers: bytes) -> None:
    """With or without a body, and in pieces if it is larger than a packet."""
    async with wire(server) as line:
        await line.send(b"GET " + BASE + b"/events HTTP/1.1\r\n%s\r\n" % headers)
        head, _, body = (await asyncio.wait_for(line.reader.read(65536), 60)).partition(b"\r\n\r\n")
        assert int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]) == len(body) > 0
        await line.send(b"HEAD /livez HTTP/1.1\r\nHost: gatepass.test\r\n\r\n")
        assert (await asyncio.wait_for(line.reader.read(65536), 60)).endswith(b"\r\n\r\n")
        await line.send(
            b"POST " + BASE + b"/scan HTTP/1.1\r\n%sExpect: 100-continue\r\nContent-Length: 2\r\n\r\n" % headers
        )
        assert (await asyncio.wait_for(line.reader.read(65536), 60)).startswith(b"HTTP/1.1 100 ")
        await line.send(b"{}")
        assert await line.status() == 400
