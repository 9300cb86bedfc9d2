"""The sender against receivers of every kind, on both event loops: each attempt ends as documented, in time."""

import asyncio
import gzip

import pytest

from gatepass.domain.webhooks.queue import AttemptError
from gatepass.worker.response_reader import LARGEST_BODY
from tests.postgres import free_port
from tests.receivers import Authority, Received, authority, receiving, status
from tests.size import NIGHT
from tests.worker.bad_receivers import BAD, LOOPS, Bad, Unknown, run, sending


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_bad_receiver(loop: str, bad: Bad) -> None:
    """Attempts that should end at once have the full deadline, so that a busy machine changes nothing."""
    waits = bad.error is AttemptError.TIMEOUT

    async def scenario() -> None:
        async with receiving(otherwise=bad.answer) as receiver, sending(deadline=0.5 if waits else 15) as send:
            attempt = await send(receiver.url())
        assert (attempt.status, attempt.error) == (bad.status, bad.error)
        assert attempt.succeeded == (bad.status == 200 and bad.error is None)
        assert attempt.address == "127.0.0.1"
        # The clocks of the two loops differ slightly.
        assert attempt.total_ms > 490 or not waits
        if NIGHT:
            assert attempt.total_ms < 10_000
        assert len(receiver.messages) == receiver.connections == 1

    run(loop, scenario())


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


async def test_an_answer_that_came_unasked_is_not_taken_for_another_ones() -> None:
    """A second response arrives on an idle connection; the next message must not take it for its own."""
    came = asyncio.Event()

    async def one_too_many(received: Received, writer: asyncio.StreamWriter) -> None:
        await status(200)(received, writer)
        await came.wait()
        await status(200)(received, writer)

    async with receiving(answers=[one_too_many], otherwise=500) as receiver, sending() as send:
        assert (await send(receiver.url())).status == 200
        came.set()
        await asyncio.sleep(0.1)  # there is no signal that the other side has read it
        assert (await send(receiver.url())).status == 500
    assert receiver.connections == 2
