"""The sender: requests, connections, TLS and headers."""

import asyncio
import ssl

import pytest

from gatepass import __version__
from gatepass.domain.webhooks.queue import AttemptError
from gatepass.domain.webhooks.ssrf_guard import verifying_tls
from gatepass.worker.sender import Sender
from tests.receivers import authority, receiving, status
from tests.worker.bad_receivers import sending


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
    async with server, sending() as send, asyncio.timeout(60):
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


async def test_a_line_break_in_a_header_is_not_sent() -> None:
    for value in ("a\r\nb: c", "a\nb", "a\rb"):
        async with receiving() as receiver:
            sender = Sender(allow_private=True)
            attempt = await sender.send(receiver.url(), lambda value=value: {"x": value}, b"{}")
            await sender.close()
        assert (attempt.error, receiver.connections) == (AttemptError.INTERNAL, 0)
