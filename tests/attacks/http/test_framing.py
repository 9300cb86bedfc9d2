"""Request smuggling and framing.

A request that two readers could read in two ways is refused, and nothing after it is parsed.
"""

import asyncio
import json

import pytest

from gatepass.base.settings import BASE_PATH
from tests.factory import Tenant
from tests.processes import GatepassProcess
from tests.server.raw_http import Exchange, exchange, one, request

EVENTS = BASE_PATH + "/events"
SCAN = BASE_PATH + "/scan"
# A request that must never be answered: it would be 404.
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: gatepass.test\r\n\r\n"
HOST = b"Host: gatepass.test\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"


def head(first: str, *lines: bytes) -> bytes:
    return first.encode() + b"\r\n" + b"".join(lines) + b"\r\n"


def get(*lines: bytes) -> bytes:
    return head(f"GET {EVENTS} HTTP/1.1", HOST, *lines)


def post(*lines: bytes) -> bytes:
    return head(f"POST {SCAN} HTTP/1.1", HOST, *lines)


# Two lines of each header that decides something: alike, and not.
TWICE: dict[str, tuple[bytes, bytes]] = {
    "Host": (b"gatepass.test", b"elsewhere.test"),
    "Authorization": (b"Bearer one", b"Bearer two"),
    "Idempotency-Key": (b"one", b"two"),
    "Cookie": (b"a=1", b"b=2"),
    "Origin": (b"http://one.test", b"http://two.test"),
    "Sec-Fetch-Site": (b"same-origin", b"cross-site"),
    "Content-Type": (b"application/json", b"text/plain"),
    "Content-Length": (b"2", b"3"),
    "Transfer-Encoding": (b"chunked", b"identity"),
    "Expect": (b"100-continue", b"nothing"),
}

MALFORMED: dict[str, bytes] = {
    "no host": head(f"GET {EVENTS} HTTP/1.1"),
    "a host that is a bracket": head(f"GET {EVENTS} HTTP/1.1", b"Host: [\r\n"),
    "a host with a space": head(f"GET {EVENTS} HTTP/1.1", b"Host: a b\r\n"),
    "two hosts in a line": head(f"GET {EVENTS} HTTP/1.1", b"Host: a.test, b.test\r\n"),
    "a host with a path": head(f"GET {EVENTS} HTTP/1.1", b"Host: a.test/b\r\n"),
    "a host with a user": head(f"GET {EVENTS} HTTP/1.1", b"Host: a@b.test\r\n"),
    "a host with a query": head(f"GET {EVENTS} HTTP/1.1", b"Host: a.test?b\r\n"),
    "a host with a fragment": head(f"GET {EVENTS} HTTP/1.1", b"Host: a.test#b\r\n"),
    "a host with a long port": head(f"GET {EVENTS} HTTP/1.1", b"Host: a.test:123456\r\n"),
    "a host that is not ASCII": head(f"GET {EVENTS} HTTP/1.1", b"Host: \xe9.test\r\n"),
    "HTTP/2.0": head(f"GET {EVENTS} HTTP/2.0", HOST),
    "HTTP/1.2": head(f"GET {EVENTS} HTTP/1.2", HOST),
    "HTTP/0.9": head(f"GET {EVENTS} HTTP/0.9", HOST),
    "HTTP/3.0": head(f"GET {EVENTS} HTTP/3.0", HOST),
    "HTTP/1.10": head(f"GET {EVENTS} HTTP/1.10", HOST),
    "HTTP/1": head(f"GET {EVENTS} HTTP/1", HOST),
    "http/1.1": head(f"GET {EVENTS} http/1.1", HOST),
    "no version": head(f"GET {EVENTS}", HOST),
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "chunks in HTTP/1.0": head(f"POST {SCAN} HTTP/1.0", HOST, CHUNKED) + b"0\r\n\r\n",
    "a length and chunks": post(b"Content-Length: 5\r\n", CHUNKED) + b"0\r\n\r\n",
    "chunks and a length": post(CHUNKED, b"Content-Length: 5\r\n") + b"0\r\n\r\n",
    "gzip and chunks": post(b"Transfer-Encoding: gzip, chunked\r\n") + b"0\r\n\r\n",
    "chunks twice in a line": post(b"Transfer-Encoding: chunked, chunked\r\n") + b"0\r\n\r\n",
    "chunks and identity": post(b"Transfer-Encoding: chunked, identity\r\n") + b"0\r\n\r\n",
    "identity": post(b"Transfer-Encoding: identity\r\n"),
    "almost chunked": post(b"Transfer-Encoding: xchunked\r\n") + b"0\r\n\r\n",
    "chunked with a parameter": post(b"Transfer-Encoding: chunked;q=1\r\n") + b"0\r\n\r\n",
    "chunked in quotes": post(b'Transfer-Encoding: "chunked"\r\n') + b"0\r\n\r\n",
    "chunked after a vertical tab": post(b"Transfer-Encoding: \x0bchunked\r\n") + b"0\r\n\r\n",
    "no transfer encoding": post(b"Transfer-Encoding:\r\n"),
    "a space before the colon": post(b"Transfer-Encoding : chunked\r\n") + b"0\r\n\r\n",
    "a folded transfer encoding": post(b"Transfer-Encoding:\r\n chunked\r\n") + b"0\r\n\r\n",
    "a length with a sign": post(b"Content-Length: +2\r\n") + b"{}",
    "a negative length": post(b"Content-Length: -2\r\n"),
    "a length in hexadecimal": post(b"Content-Length: 0x2\r\n") + b"{}",
    "two lengths in a line": post(b"Content-Length: 2, 2\r\n") + b"{}",
    "two numbers as a length": post(b"Content-Length: 2 2\r\n") + b"{}",
    "an empty length": post(b"Content-Length:\r\n"),
    "a length beyond 64 bits": post(b"Content-Length: 99999999999999999999999\r\n"),
    "a folded length": post(b"Content-Length:\r\n 2\r\n") + b"{}",
    "a header without a colon": get(b"Nothing\r\n"),
    "a header without a name": get(b": x\r\n"),
    "a name with a space": get(b"X Y: z\r\n"),
    "a name with NUL": get(b"X\x00Y: z\r\n"),
    "a value with NUL": get(b"X: a\x00b\r\n"),
    "a bare CR in a value": get(b"X: a\rY: b\r\n"),
    "a bare LF after a header": get(b"X: a\nY: b\r\n"),
    "a space before a header": get(b" X: a\r\n"),
    "a method that is none": head(f"BREW {EVENTS} HTTP/1.1", HOST),
    "a method in small letters": head(f"get {EVENTS} HTTP/1.1", HOST),
    "a space in the path": head("GET /a b HTTP/1.1", HOST),
    "a tab after the method": head(f"GET\t{EVENTS} HTTP/1.1", HOST),
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "a head of 70 KiB in a header": get(b"X: " + b"x" * 70_000 + b"\r\n"),
    "a head of 70 KiB in many headers": get(*[b"X-%d: x\r\n" % n for n in range(7_000)]),
    "a head of 70 KiB in its path": head("GET /" + "x" * 70_000 + " HTTP/1.1", HOST),
}

BROKEN_CHUNKS: dict[str, bytes] = {
    "no size": b"zz\r\n",
    "a size in C": b"0x2\r\n{}\r\n0\r\n\r\n",
    "a size with a sign": b"+2\r\n{}\r\n0\r\n\r\n",
    "a negative size": b"-2\r\n{}\r\n0\r\n\r\n",
    "a space before the size": b" 2\r\n{}\r\n0\r\n\r\n",
    "a space after the size": b"2 \r\n{}\r\n0\r\n\r\n",
    "a size beyond 64 bits": b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n",
    "a bare LF after the size": b"2\n{}\r\n0\r\n\r\n",
    "a bare LF after the chunk": b"2\r\n{}\n0\r\n\r\n",
    "more than its size": b"2\r\n{}x\r\n0\r\n\r\n",
    "nothing between two chunks": b"1\r\n{1\r\n}\r\n0\r\n\r\n",
    "an extension with a bare LF": b"2;a\n\r\n{}\r\n0\r\n\r\n",
    "a trailer without a colon": b"2\r\n{}\r\n0\r\nNothing\r\n\r\n",
    "a trailer with NUL": b"2\r\n{}\r\n0\r\nX: \x00\r\n\r\n",
}


def assert_refused(found: Exchange, name: str) -> None:
    """One response, 400 `invalid_request` as the API writes it, and then nothing more."""
    assert found.statuses == [400], name
    assert found.closed
    (response,) = found.responses
    assert json.loads(response.body)["code"] == "invalid_request"
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"].startswith("req_")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["x-svc-should-retry"] == "false"


@pytest.mark.finding(17)
@pytest.mark.parametrize("alike", [True, False], ids=["alike", "different"])
@pytest.mark.parametrize("name", TWICE)
def test_a_header_that_decides_counts_once(server: GatepassProcess, name: str, alike: bool) -> None:
    one, two = TWICE[name]
    lines = [b"%s: %s\r\n" % (name.encode(), one), b"%s: %s\r\n" % (name.lower().encode(), one if alike else two)]
    host = [] if name == "Host" else [HOST]
    raw = head(f"POST {SCAN} HTTP/1.1", *host, lines[0], b"X: between\r\n", lines[1])
    assert_refused(exchange(server.port, raw + SMUGGLED, expect=2), name)


@pytest.mark.finding(17)
@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_head_is_refused(server: GatepassProcess, name: str) -> None:
    assert_refused(exchange(server.port, MALFORMED[name] + SMUGGLED, expect=2), name)


@pytest.mark.parametrize("name", BROKEN_CHUNKS)
def test_a_broken_chunk_is_refused(server: GatepassProcess, name: str) -> None:
    found = exchange(server.port, post(CHUNKED) + BROKEN_CHUNKS[name] + SMUGGLED, expect=2)
    assert_refused(found, name)


@pytest.mark.parametrize("name", BROKEN_CHUNKS)
def test_a_broken_chunk_that_comes_later_answers_nothing_twice(server: GatepassProcess, name: str) -> None:
    """The request may be answered already when the chunk arrives: there is one response, its own or this one."""
    found = exchange(server.port, post(CHUNKED), BROKEN_CHUNKS[name] + SMUGGLED, expect=2)
    assert found.closed
    assert found.statuses in ([400], [401], [429])


@pytest.mark.finding(17)
def test_two_forwarded_addresses_are_refused_where_they_decide(
    server: GatepassProcess, behind_proxy: GatepassProcess
) -> None:
    raw = head("GET /livez HTTP/1.1", HOST, b"X-Forwarded-For: 10.0.0.1\r\n", b"x-forwarded-for: 10.0.0.2\r\n")
    assert_refused(exchange(behind_proxy.port, raw + SMUGGLED, expect=2), "X-Forwarded-For")
    assert one(server.port, raw).status == 200, "nobody reads it here"


@pytest.mark.parametrize("lines", [b"Cookie: a=1\r\nCookie: b=2\r\n", b"Sec-Fetch-Site: a\r\nSec-Fetch-Site: b\r\n"])
def test_a_page_is_refused_in_plain_text(server: GatepassProcess, lines: bytes) -> None:
    response = one(server.port, head("POST /studio/sign-in HTTP/1.1", HOST, lines))
    assert (response.status, response.headers["content-type"]) == (400, "text/plain; charset=utf-8")
    assert response.headers["x-request-id"].startswith("req_")


@pytest.mark.finding(17)
@pytest.mark.parametrize("size", [1_000, 20_000, 60_000])
def test_a_large_head_in_pieces_is_refused_too(server: GatepassProcess, size: int) -> None:
    raw = get(b"X: " + b"x" * 70_000 + b"\r\n")
    found = exchange(server.port, *[raw[at : at + size] for at in range(0, len(raw), size)], expect=2)
    assert found.closed
    assert found.statuses in ([400], []), "it may be cut off before it has sent everything"


@pytest.mark.parametrize("protocol", ["websocket", "h2c", "TLS/1.0"])
@pytest.mark.parametrize("later", [True, False], ids=["later", "at once"])
def test_the_body_of_an_upgrade_is_not_the_next_request(server: GatepassProcess, protocol: str, later: bool) -> None:
    """The parser takes no body from such a request, so what follows its head must not be parsed at all."""
    upgrade = f"Connection: Upgrade\r\nUpgrade: {protocol}\r\nContent-Length: {len(SMUGGLED)}\r\n".encode()
    raw = head("POST /livez HTTP/1.1", HOST, upgrade)
    segments = [raw, SMUGGLED] if later else [raw + SMUGGLED]
    found = exchange(server.port, *segments, expect=2)
    assert (found.statuses, found.closed) == ([405], True)


@pytest.mark.parametrize("method", ["GET", "OPTIONS", "DELETE", "POST", "PUT", "PATCH"])
def test_a_body_is_a_body_whatever_the_method(server: GatepassProcess, method: str) -> None:
    raw = request(method, "/docs/nothing", body=SMUGGLED) + b"GET /livez HTTP/1.1\r\nHost: gatepass.test\r\n\r\n"
    first, second = exchange(server.port, raw, expect=2).statuses
    assert first in (404, 405)
    assert second == 200, "the one after the body"


async def test_a_good_request_is_answered_before_a_malformed_one(server: GatepassProcess, tenant: Tenant) -> None:
    """In one segment. A scan that was activated must not be answered with the error of another request."""
    key = ("Authorization", f"Bearer {(await tenant.key()).text}")
    body = json.dumps({"event_id": str(tenant.event_id), "card_number": (await tenant.card()).number}).encode()
    scan = request("POST", SCAN, [key, ("Content-Type", "application/json")], body)
    found = await asyncio.to_thread(exchange, server.port, scan + MALFORMED["no host"] + SMUGGLED, expect=3)
    assert (found.statuses, found.closed) == ([200, 400], True)


def test_too_many_requests_at_once_are_refused(server: GatepassProcess) -> None:
    """Each costs memory before the first is answered, and a segment holds ten thousand."""
    found = exchange(server.port, (b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n") * 2_000, expect=2_000)
    assert found.closed
    assert set(found.statuses[:-1]) == {200}
    assert found.statuses[-1] == 400
    assert len(found.statuses) < 200
