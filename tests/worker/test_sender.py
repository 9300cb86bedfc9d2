"""The sender against receivers of every kind, on both event loops: each attempt ends as documented, in time."""

import asyncio
import gzip
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import chain, repeat
from typing import Any, TypeVar

import pytest
import uvloop
from aiohttp.abc import AbstractResolver, ResolveResult
from hypothesis import given
from hypothesis import strategies as st

from gatepass import __version__
from gatepass.domain.webhooks.attempt import Attempt, AttemptError
from gatepass.domain.webhooks.guard import verifying_tls
from gatepass.worker.answer import HEAD, LARGEST_BODY, retry_after, text
from gatepass.worker.sender import Sender
from tests.postgres import free_port
from tests.receivers import Answer, Authority, Behaviour, Received, authority, hang, receiving, reset, status

T = TypeVar("T")
LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}
OK = b"HTTP/1.1 200 OK\r\n"


def run(loop: str, scenario: Coroutine[Any, Any, T]) -> T:
    """On a loop of this kind, in a thread of its own: the tests have a loop already."""

    def go() -> T:
        with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
            return runner.run(scenario)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(go).result()


def writes(*parts: bytes, pause: float = 0, then: Behaviour = hang, again: int = 0) -> Behaviour:
    """Writes these bytes piece by piece, the last of them `again` times more."""

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
    """A receiver, and what is written down of an attempt with it."""

    answer: Answer
    status: int | None
    error: AttemptError | None


# Without end, as far as anyone will wait.
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


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_bad_receiver(loop: str, bad: Bad) -> None:
    """What should end at once has all the time that there is, so that a busy machine changes nothing."""
    waits = bad.error is AttemptError.TIMEOUT

    async def scenario() -> None:
        async with receiving(otherwise=bad.answer) as receiver, sending(deadline=0.5 if waits else 15) as send:
            attempt = await send(receiver.url())
        assert (attempt.status, attempt.error) == (bad.status, bad.error)
        assert attempt.succeeded == (bad.status == 200 and bad.error is None)
        assert attempt.address == "127.0.0.1"
        # The clocks of the two loops differ by a little.
        assert 490 < attempt.total_ms < 10_000 if waits else attempt.total_ms < 10_000
        assert len(receiver.messages) == receiver.connections == 1

    run(loop, scenario())


@asynccontextmanager
async def sending(**options: Any) -> AsyncGenerator[Callable[[str], Awaitable[Attempt]]]:
    """Wherever it is told to, trusting the authority of the tests."""
    everything: dict[str, Any] = {"allow_private": True, "tls": authority().client(), **options}
    sender = Sender(**everything)
    try:
        yield lambda url: sender.send(url, lambda: {"content-type": "application/json"}, b'{"a":1}')
    finally:
        await sender.close()


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("names", [(), ("other.test",)], ids=["of a stranger", "of another host"])
def test_a_certificate_that_does_not_fit(loop: str, names: tuple[str, ...]) -> None:
    async def scenario() -> None:
        strange = (authority() if names else Authority()).server(*names)
        async with receiving(tls=strange) as receiver, sending() as send:
            attempt = await send(receiver.url())
        assert (attempt.status, attempt.error) == (None, AttemptError.TLS_FAILED)
        assert receiver.messages == []

    run(loop, scenario())


@pytest.mark.parametrize("loop", LOOPS)
def test_plain_text_where_tls_should_be(loop: str) -> None:
    async def scenario() -> None:
        async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\nThis port speaks TLS no more.")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server, sending() as send:
            attempt = await send(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        assert (attempt.status, attempt.error) == (None, AttemptError.TLS_FAILED)

    run(loop, scenario())


@pytest.mark.parametrize("loop", LOOPS)
def test_nobody_listens(loop: str) -> None:
    async def scenario() -> None:
        async with sending() as send:
            attempt = await send(f"https://127.0.0.1:{free_port()}/")
        assert (attempt.status, attempt.error) == (None, AttemptError.CONNECT_FAILED)
        assert attempt.address == "127.0.0.1"

    run(loop, scenario())


@pytest.mark.parametrize("loop", LOOPS)
def test_the_handshake_hangs(loop: str) -> None:
    async def scenario() -> None:
        async def nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await reader.read()
            finally:
                writer.close()

        server = await asyncio.start_server(nothing, "127.0.0.1", 0)
        async with server, sending(deadline=0.2) as send:
            attempt = await send(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        assert (attempt.status, attempt.error) == (None, AttemptError.TIMEOUT)

    run(loop, scenario())


class Unknown(AbstractResolver):
    """Knows no name, or never answers."""

    def __init__(self, *, hangs: bool) -> None:
        self._hangs = hangs

    async def resolve(self, *_: Any, **__: Any) -> list[ResolveResult]:
        if self._hangs:
            await asyncio.Event().wait()
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("hangs", [False, True])
@pytest.mark.parametrize("url", ["https://receiver.test/", "https://xn--a.test/"])
async def test_a_name_that_nobody_knows(url: str, hangs: bool) -> None:
    async with sending(resolver=Unknown(hangs=hangs), deadline=0.2 if hangs else 15) as send:
        attempts = await asyncio.gather(*[send(url) for _ in range(3)])
    expected = AttemptError.TIMEOUT if hangs else AttemptError.DNS_FAILED
    assert {(attempt.status, attempt.error, attempt.address) for attempt in attempts} == {(None, expected, None)}


@pytest.mark.parametrize("number", [301, 302, 303, 307, 308])
async def test_a_redirect_is_a_failure_and_is_not_followed(number: int) -> None:
    async with receiving() as inside, sending() as send:
        elsewhere = status(number, location=inside.url())
        async with receiving(otherwise=elsewhere) as receiver:
            attempt = await send(receiver.url())
    assert (attempt.status, attempt.error, attempt.succeeded) == (number, None, False)
    assert (len(receiver.messages), inside.connections) == (1, 0)


async def test_a_bomb_is_not_inflated() -> None:
    bomb = gzip.compress(b"." * 10_000_000)
    assert len(bomb) < LARGEST_BODY
    async with receiving(otherwise=status(200, bomb, content_encoding="gzip")) as receiver, sending() as send:
        attempt = await send(receiver.url())
    assert attempt.succeeded
    assert attempt.answer_head is None


@pytest.mark.parametrize("tls", [False, True])
async def test_what_arrives(tls: bool) -> None:
    context = authority().server() if tls else None
    async with receiving(tls=context, otherwise=status(200, b"thank you", set_cookie="a=b")) as receiver:
        path = "/a/../b%2Fc/?x=a+b%20&y[]=1"
        async with sending() as send:
            first, second = await send(receiver.url(path)), await send(receiver.url(path))
    assert first.succeeded
    assert second.succeeded
    for message in receiver.messages:
        assert (message.path, message.body) == (path, b'{"a":1}')
        assert message.headers == {
            "host": f"127.0.0.1:{receiver.port}",
            "user-agent": f"Gatepass-Webhooks/{__version__}",
            "accept": "*/*",
            "accept-encoding": "identity",
            "content-type": "application/json",
            "content-length": "7",
        }
    assert (first.answer_head, first.address, receiver.connections) == ("thank you", "127.0.0.1", 1)
    assert first.connect_ms is not None
    assert first.answer_ms is not None
    assert first.connect_ms + first.answer_ms <= first.total_ms
    assert (second.connect_ms, second.address) == (None, "127.0.0.1")


async def test_what_this_machine_trusts_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    async with receiving(tls=authority().server()) as receiver:
        async with sending(tls=None) as send:
            assert (await send(receiver.url())).error == AttemptError.TLS_FAILED
        monkeypatch.setenv("SSL_CERT_FILE", authority().pem)
        async with sending(tls=None) as send:
            assert (await send(receiver.url())).succeeded


def test_tls_is_new_and_checked() -> None:
    context = verifying_tls()
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


async def test_names_are_looked_up_once_and_kept() -> None:
    async with receiving(tls=authority().server()) as receiver, sending() as send:
        receiver.otherwise = status(200, connection="close")
        attempts = [await send(receiver.url(host="localhost")) for _ in range(3)]
    assert all(attempt.succeeded for attempt in attempts)
    assert [attempt.dns_ms is not None for attempt in attempts] == [True, False, False]
    assert receiver.connections == 3


async def test_the_environment_is_not_asked_for_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with receiving() as proxy, receiving() as receiver, sending() as send:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url(""))
        assert (await send(receiver.url())).succeeded
    assert (proxy.connections, receiver.connections) == (0, 1)


@pytest.mark.parametrize("size", [LARGEST_BODY, LARGEST_BODY + 1, 200_000])
async def test_of_a_long_body_a_beginning_is_kept(size: int) -> None:
    async with receiving(otherwise=status(202, b"." * size)) as receiver, sending() as send:
        attempts = [await send(receiver.url()) for _ in range(2)]
    for attempt in attempts:
        assert (attempt.status, attempt.error, attempt.answer_head) == (202, None, "." * HEAD)
    if size == LARGEST_BODY:
        assert receiver.connections == 1


async def test_the_headers_are_made_last_and_their_failure_is_ours() -> None:
    def failing() -> dict[str, str]:
        raise LookupError("no key opens this secret")

    async with receiving() as receiver:
        sender = Sender(allow_private=True)
        attempt = await sender.send(receiver.url(), failing, b"{}")
        await sender.close()
    assert (attempt.status, attempt.error, receiver.connections) == (None, AttemptError.INTERNAL, 0)


async def test_a_url_that_the_rules_no_longer_allow() -> None:
    async with receiving() as receiver:
        sender = Sender(allow_private=False)
        attempt = await sender.send(receiver.url(), dict, b"{}")
        await sender.close()
    assert (attempt.status, attempt.error, receiver.connections) == (None, AttemptError.ADDRESS_NOT_ALLOWED, 0)


async def test_who_is_cancelled_is_cancelled_and_the_connection_ends() -> None:
    came, ended = asyncio.Event(), asyncio.Event()

    async def watch(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        came.set()
        await reader.read()
        ended.set()
        writer.close()

    server = await asyncio.start_server(watch, "127.0.0.1", 0)
    async with server, sending() as send, asyncio.timeout(10):
        attempt = asyncio.ensure_future(send(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"))
        await came.wait()
        attempt.cancel()
        with pytest.raises(asyncio.CancelledError):
            await attempt
        await ended.wait()


async def test_more_than_there_are_connections_for() -> None:
    async with receiving() as receiver, sending(connections=2) as send:
        attempts = await asyncio.gather(*[send(receiver.url()) for _ in range(20)])
    assert all(attempt.succeeded for attempt in attempts)
    assert receiver.connections <= 2


NOW = datetime(2026, 9, 1, 12, 0, 0, tzinfo=UTC)


async def test_patience_that_a_receiver_asks_for() -> None:
    seconds = status(429, retry_after="120")
    date = status(503, retry_after=format_datetime(NOW + timedelta(minutes=5), usegmt=True))
    nonsense = status(429, retry_after="soon")
    async with receiving(answers=[seconds, date, nonsense, 429]) as receiver, sending(clock=lambda: NOW) as send:
        attempts = [await send(receiver.url()) for _ in range(4)]
    assert [attempt.status for attempt in attempts] == [429, 503, 429, 429]
    assert [attempt.retry_after for attempt in attempts] == [120, 300, None, None]
    assert {attempt.at for attempt in attempts} == {NOW}


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        ("0120", 120),
        ("9999999999", 9999999999),
        ("99999999999", None),
        ("-1", None),
        ("+5", None),
        ("1.5", None),
        ("1e3", None),
        ("1_0", None),
        (" 5", None),
        ("5\n", None),
        ("٣", None),
        ("", None),
        ("Tue, 01 Sep 2026 12:01:00 GMT", 60),
        ("Tue, 01 Sep 2026 11:00:00 GMT", 0),
        ("Tue, 01 Sep 2026 12:01:00 UTC", None),
        ("Tue, 01 Sep 2026 12:01:00 +0000", None),
        ("Tue, 31 Feb 2026 12:01:00 GMT", None),
        ("Tue, 01 Xyz 2026 12:01:00 GMT", None),
        ("Xxx, 01 Sep 0000 12:01:00 GMT", 0),
        ("Tuesday, 01-Sep-26 12:01:00 GMT", None),
        ("2026-09-01T12:01:00Z", None),
        ("Tue, 01 Sep 2026 24:01:00 GMT", None),
    ],
)
def test_how_patience_is_written(said: str, seconds: float | None) -> None:
    assert retry_after(said, NOW) == seconds


@given(st.binary(max_size=HEAD) | st.text(max_size=HEAD).map(lambda said: said.encode("utf-8", "surrogatepass")[:HEAD]))
def test_what_is_kept_of_a_body_can_be_kept_by_postgresql(body: bytes) -> None:
    kept = text(body)
    assert kept is None or ("\0" not in kept and kept.encode() in body.replace(b"\0", b""))


def test_a_character_that_is_cut_in_two_is_left_out() -> None:
    assert text("aé".encode()[:2]) == "a"
    assert text(b"\xff") is None
    assert text(b"\xed\xa0\x80") is None
    assert text(b"\0") is None


async def test_an_answer_that_came_unasked_is_not_taken_for_another_ones() -> None:
    """A second answer comes while the connection is idle; what is sent next must not be delivered by it."""
    came = asyncio.Event()

    async def one_too_many(received: Received, writer: asyncio.StreamWriter) -> None:
        await status(200)(received, writer)
        await came.wait()
        await status(200)(received, writer)

    async with receiving(answers=[one_too_many], otherwise=500) as receiver, sending() as send:
        assert (await send(receiver.url())).status == 200
        came.set()
        await asyncio.sleep(0.1)  # nothing tells when the other side has read it
        assert (await send(receiver.url())).status == 500
    assert receiver.connections == 2


async def test_a_line_break_in_a_header_is_not_sent() -> None:
    for value in ("a\r\nb: c", "a\nb", "a\rb"):
        async with receiving() as receiver:
            sender = Sender(allow_private=True)
            attempt = await sender.send(receiver.url(), lambda value=value: {"x": value}, b"{}")
            await sender.close()
        assert (attempt.error, receiver.connections) == (AttemptError.INTERNAL, 0)
