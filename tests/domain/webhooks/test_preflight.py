"""Preflight goes as far as TLS, reports each step, and connects only where a message would go."""

import asyncio
import socket
from collections.abc import Sequence
from datetime import timedelta
from ipaddress import IPv4Address
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from gatepass.base.client_ip import Address
from gatepass.domain.webhooks.preflight import Outcome, Preflight, PreflightCheck, PreflightStep, preflight
from tests import factory
from tests.receivers import Receiver, authority, receiving


class Names(AbstractResolver):
    """A resolver with fixed answers."""

    def __init__(self, *addresses: str) -> None:
        self._addresses = addresses

    async def resolve(self, host: str, port: int = 0, family: Any = socket.AF_UNSPEC) -> list[ResolveResult]:
        if not self._addresses:
            raise OSError("no such name")
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in self._addresses
        ]

    async def close(self) -> None:
        pass


class Silence(Names):
    """A resolver that never answers."""

    async def resolve(self, host: str, port: int = 0, family: Any = socket.AF_UNSPEC) -> list[ResolveResult]:
        await asyncio.Event().wait()
        return await super().resolve(host, port, family)


def only_127_0_0_2(address: Address) -> bool:
    """Treats a loopback address as public, so that the tests stay on this machine."""
    return address == IPv4Address("127.0.0.2")


def outcomes(found: Preflight) -> dict[PreflightStep, Outcome]:
    return {check.step: check.outcome for check in found.checks}


def check(found: Preflight, step: PreflightStep) -> PreflightCheck:
    return next(check for check in found.checks if check.step is step)


def failed_at(step: PreflightStep) -> dict[PreflightStep, Outcome]:
    """The outcomes if this step fails: ok before it, skipped after it."""
    steps = list(PreflightStep)
    place = steps.index(step)
    return {
        one: Outcome.OK if n < place else Outcome.FAILED if n == place else Outcome.SKIPPED
        for n, one in enumerate(steps)
    }


async def test_a_good_receiver_passes_each_step_and_is_sent_nothing() -> None:
    async with receiving(tls=authority().server("receiver.test")) as receiver:
        found = await preflight(
            receiver.url(host="receiver.test"), allow_private=True, at=factory.now(), tls=authority().client(),
            resolver=Names("127.0.0.1"),
        )  # fmt: skip
        await receiver.wait_for(lambda: receiver.connections == 1)
    assert set(outcomes(found).values()) == {Outcome.OK}
    assert found.passed
    assert check(found, PreflightStep.NAME).details == ["127.0.0.1"]
    assert check(found, PreflightStep.TLS).sentence.startswith("TLS 1.3, ")
    assert "receiver.test" in " ".join(check(found, PreflightStep.TLS).details)
    assert all(
        check(found, step).milliseconds for step in (PreflightStep.NAME, PreflightStep.CONNECTION, PreflightStep.TLS)
    )
    assert receiver.messages == []


async def test_plain_http_where_it_is_allowed_has_no_tls() -> None:
    async with receiving() as receiver:
        found = await preflight(receiver.url(), allow_private=True, at=factory.now())
    assert outcomes(found) == dict(
        zip(PreflightStep, [Outcome.OK, Outcome.OK, Outcome.OK, Outcome.SKIPPED], strict=True)
    )
    assert found.passed


@pytest.mark.parametrize(
    "url", ["http://example.com/", "https://127.0.0.1/", "https://user@example.com/", "https://x.internal/", "nonsense"]
)
async def test_a_url_that_is_refused_is_not_looked_up(url: str) -> None:
    found = await preflight(url, allow_private=False, at=factory.now(), resolver=Silence())
    assert outcomes(found) == failed_at(PreflightStep.URL)
    assert not found.passed


async def test_a_name_without_an_address() -> None:
    found = await preflight("https://example.com/", allow_private=False, at=factory.now(), resolver=Names())
    assert outcomes(found) == failed_at(PreflightStep.NAME)


@pytest.mark.parametrize("addresses", [["10.0.0.5"], ["127.0.0.2", "10.0.0.5"], ["::1", "127.0.0.2"], ["fe80::1"]])
async def test_a_name_that_leads_inside_is_refused_with_its_addresses(addresses: Sequence[str]) -> None:
    async with receiving(host="127.0.0.2", port=0) as receiver:
        found = await preflight(
            "https://example.com:8443/", allow_private=False, at=factory.now(), resolver=Names(*addresses),
            allows=only_127_0_0_2,
        )  # fmt: skip
    assert outcomes(found) == failed_at(PreflightStep.NAME)
    inside = [address for address in addresses if address != "127.0.0.2"]
    assert all(address in check(found, PreflightStep.NAME).sentence for address in inside)
    assert receiver.connections == 0


async def test_an_address_that_becomes_our_own_meanwhile_is_stopped_at_the_socket() -> None:
    checked: list[Address] = []

    def once(address: Address) -> bool:
        checked.append(address)
        return len(checked) == 1

    found = await preflight(
        "https://example.com:8443/", allow_private=False, at=factory.now(), resolver=Names("127.0.0.1"), allows=once
    )
    assert outcomes(found) == failed_at(PreflightStep.CONNECTION)
    assert len(checked) == 2


async def test_an_address_in_the_url_is_checked_at_the_socket() -> None:
    found = await preflight("https://93.184.216.34/", allow_private=False, at=factory.now(), allows=lambda _: False)
    assert outcomes(found) == failed_at(PreflightStep.CONNECTION)


async def test_nobody_listens() -> None:
    async with receiving() as receiver:
        pass
    found = await preflight(receiver.url(), allow_private=True, at=factory.now())
    assert outcomes(found) == failed_at(PreflightStep.CONNECTION)


async def test_the_second_address_will_do() -> None:
    async with receiving(tls=authority().server()) as receiver:
        found = await preflight(
            receiver.url(host="receiver.test"), allow_private=True, at=factory.now(), tls=authority().client(),
            resolver=Names("127.0.0.9", "127.0.0.1"),
        )  # fmt: skip
    assert found.passed
    assert "127.0.0.1" in check(found, PreflightStep.CONNECTION).sentence


async def test_a_certificate_of_somebody_else_or_of_nobody_we_know() -> None:
    async with receiving(tls=authority().server("other.test")) as receiver:
        url = receiver.url(host="receiver.test")
        names = Names("127.0.0.1")
        wrong = await preflight(url, allow_private=True, at=factory.now(), tls=authority().client(), resolver=names)
        unknown = await preflight(url, allow_private=True, at=factory.now(), resolver=names)
    for found in (wrong, unknown):
        assert outcomes(found) == failed_at(PreflightStep.TLS)
        assert check(found, PreflightStep.TLS).sentence.startswith("The certificate is not to be trusted: ")
    assert "receiver.test" in check(wrong, PreflightStep.TLS).sentence


async def test_no_tls_on_a_port_that_should_have_it() -> None:
    async def speak_plainly(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.transport.abort()

    server = await asyncio.start_server(speak_plainly, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    found = await preflight(
        f"https://receiver.test:{port}/", allow_private=True, at=factory.now(), resolver=Names("127.0.0.1")
    )
    server.close()
    await server.wait_closed()
    assert outcomes(found) == failed_at(PreflightStep.TLS)
    assert check(found, PreflightStep.TLS).sentence.startswith("The handshake failed")


async def test_a_certificate_that_ends_soon_is_a_warning() -> None:
    async with receiving(tls=authority().server()) as receiver:
        ends_in_a_week = await _until(receiver) - timedelta(days=7)
        found = await preflight(
            receiver.url(host="receiver.test"), allow_private=True, at=ends_in_a_week, tls=authority().client(),
            resolver=Names("127.0.0.1"),
        )  # fmt: skip
    assert check(found, PreflightStep.TLS).outcome is Outcome.WARNING
    assert found.passed


async def _until(receiver: Receiver) -> Any:
    """When the receiver's certificate expires."""
    import ssl
    from datetime import UTC, datetime

    _, writer = await asyncio.open_connection("127.0.0.1", receiver.port, ssl=authority().client())
    certificate = writer.get_extra_info("peercert")
    writer.transport.abort()
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)


async def test_who_does_not_answer_in_time() -> None:
    at = factory.now()
    silent_name = await preflight("https://example.com/", allow_private=False, at=at, resolver=Silence(), deadline=0.05)
    assert outcomes(silent_name) == failed_at(PreflightStep.NAME)
    async with _mute() as port:
        silent = await preflight(
            f"https://receiver.test:{port}/", allow_private=True, at=at, resolver=Names("127.0.0.1"), deadline=0.3
        )
    assert outcomes(silent) == failed_at(PreflightStep.TLS)
    assert check(silent, PreflightStep.TLS).sentence == "No answer within 0.3 seconds."


class _mute:  # noqa: N801  read as a verb
    """A port that accepts connections and sends nothing."""

    async def __aenter__(self) -> int:
        self._listening = socket.create_server(("127.0.0.1", 0))
        return self._listening.getsockname()[1]

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()
