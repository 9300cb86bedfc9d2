"""No message reaches an internal address, however it is written and whatever its name resolves to.

Real sockets listen on every address of this machine, on a port that is allowed; none may ever be connected to.
"""

import asyncio
import fcntl
import json
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import IPv4Address, ip_address
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from gatepass.base.client_ip import Address
from gatepass.domain.webhooks.attempt_timing import ATTEMPT_TIMING, AttemptTiming
from gatepass.domain.webhooks.queue import Attempt, AttemptError
from gatepass.domain.webhooks.ssrf_guard import (
    UNASSIGNED,
    Allows,
    GuardedResolver,
    GuardedSockets,
    NotAllowed,
    SystemResolver,
    is_own,
)
from gatepass.domain.webhooks.url_policy import is_public
from gatepass.worker.sender import Sender

PORT = 8443
# Hosts of URLs that mean this machine, its network, or no valid target.
HOSTS = """
    127.0.0.1 127.0.0.2 127.255.255.254 127.1 127.0.1 2130706433 0x7f000001 0x7F.0.0.1 0x7f.1 0177.0.0.1 0177.1
    017700000001 127.0.0.1. 127.000.000.001 127.0.0.0x1 0.0.0.0 0 0x0 00.00.00.00 [::1] [::] [0:0:0:0:0:0:0:1]
    [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:0.0.0.0] [::127.0.0.1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1]
    [64:ff9b:1::127.0.0.1] [2002:7f00:1::] [2001:0:7f00:1::] [::1%25lo] [::1%lo] [fe80::1] [fe80::1%25lo] [fec0::1]
    [fd00::1] [fd00:ec2::254] [ff02::1] [5f00::1] [100::1] 10.0.0.1 172.16.0.1 192.168.0.1 169.254.169.254 100.64.0.1
    100.100.100.200 168.63.129.16 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255
    localhost LOCALHOST localhost. a.localhost localhost.localdomain ip6-localhost metadata.google.internal x.local
    user@127.0.0.1 example.com@127.0.0.1 127.0.0.1\\@example.com 127.0.0.1#@example.com 127。0。0。1 ①②⑦.⓪.⓪.① ⓛocalhost
    127.0.0.1%00.example.com 127.0.0.1%2f.example.com [127.0.0.1] 127.0.0.1:8443@example.com
""".split()
# Addresses that a name may resolve to.
ADDRESSES = """
    127.0.0.1 127.0.0.2 127.255.255.254 0.0.0.0 0.0.0.1 10.0.0.1 100.64.0.1 169.254.169.254 172.16.0.1 192.168.0.1
    192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255
    168.63.129.16 ::1 :: ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::7f00:1 2002:7f00:1::
    2001:0:7f00:1:: 2001:db8::1 3fff::1 5f00::1 100::1 fd00::1 fe80::1 fe80::1%1 fec0::1 ff02::1 localhost 127.1
    2130706433 0x7f.1
""".split()


class Listener:
    """Listens on all addresses of this machine. `reached` are the addresses that received a connection."""

    def __init__(self) -> None:
        self.reached: list[str] = []

    async def accept(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reached.append(writer.get_extra_info("sockname")[0])
        writer.transport.abort()


@pytest.fixture(scope="module")
def port_is_ours() -> Generator[None]:
    """There is one such port, and tests run in parallel."""
    with (Path(tempfile.gettempdir()) / f"gatepass-test-port-{PORT}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
async def everywhere(port_is_ours: None) -> AsyncGenerator[Listener]:
    listener = Listener()
    server = await asyncio.start_server(listener.accept, None, PORT)
    yield listener
    server.close()
    await server.wait_closed()


@pytest.fixture
def listener(everywhere: Listener) -> Listener:
    everywhere.reached.clear()
    return everywhere


class Names(AbstractResolver):
    """A resolver with fixed answers: each lookup gets the next one."""

    def __init__(self, answers: Iterable[Sequence[str]]) -> None:
        self._answers: Iterator[Sequence[str]] = iter(answers)
        self.looked_up = 0

    async def resolve(self, host: str, port: int = 0, family: Any = socket.AF_UNSPEC) -> list[ResolveResult]:
        self.looked_up += 1
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in next(self._answers)
        ]

    async def close(self) -> None:
        pass


@asynccontextmanager
async def sender_to(
    *answers: Sequence[str], allow_private: bool = False, allows: Allows | None = None
) -> AsyncGenerator[Sender]:
    """The last answer is repeated."""
    names = Names(chain(answers, repeat(answers[-1])))
    sender = Sender(allow_private=allow_private, resolver=names, allows=allows)
    try:
        yield sender
    finally:
        await sender.close()


async def send(sender: Sender, host: str = "receiver.test") -> Attempt:
    return await sender.send(f"https://{host}:{PORT}/hook", dict, b"{}")


@pytest.mark.parametrize("host", HOSTS)
async def test_no_spelling_of_an_inside_address_is_connected_to(host: str, listener: Listener) -> None:
    async with sender_to(["127.0.0.1"]) as sender:
        attempt = await send(sender, host)
    assert (attempt.error, attempt.status, listener.reached) == (AttemptError.ADDRESS_NOT_ALLOWED, None, [])


@pytest.mark.parametrize("address", ADDRESSES)
async def test_no_name_of_an_inside_address_is_connected_to(address: str, listener: Listener) -> None:
    async with sender_to([address]) as sender:
        attempt = await send(sender)
    assert (attempt.error, attempt.status, listener.reached) == (AttemptError.ADDRESS_NOT_ALLOWED, None, [])


async def test_this_machine_cannot_be_reached_by_its_addresses(listener: Listener) -> None:
    own = {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    assert own
    async with sender_to(*[[address] for address in own]) as sender:
        for address in own:
            host = f"[{address}]" if ":" in address else address
            assert (await send(sender, host)).error == AttemptError.ADDRESS_NOT_ALLOWED
            assert (await send(sender, f"a{abs(hash(address))}.test")).error == AttemptError.ADDRESS_NOT_ALLOWED
    assert listener.reached == []


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "[::1]", "[::ffff:127.0.0.1]", "receiver.test"])
async def test_the_listener_would_have_noticed(host: str, listener: Listener) -> None:
    async with sender_to(["127.0.0.1"], allow_private=True) as sender:
        await send(sender, host)
    assert listener.reached != []


def only_127_0_0_2(address: Address) -> bool:
    """Treats a loopback address as public, so that the tests stay on this machine."""
    return address == IPv4Address("127.0.0.2")


async def test_a_name_that_is_rebound_is_not_followed(listener: Listener) -> None:
    """DNS rebinding: public at the first lookup, internal from then on."""
    async with sender_to(["127.0.0.2"], ["127.0.0.1"], allows=only_127_0_0_2) as sender:
        first = await send(sender)
        connector = sender._connector
        assert isinstance(connector, aiohttp.TCPConnector)
        connector.clear_dns_cache()
        second = await send(sender)
    assert first.address == "127.0.0.2"
    assert second.error == AttemptError.ADDRESS_NOT_ALLOWED
    assert set(listener.reached) == {"127.0.0.2"}


@pytest.mark.parametrize("mixed", [["127.0.0.2", "127.0.0.1"], ["127.0.0.1", "127.0.0.2"], ["127.0.0.2", "::1"]])
async def test_a_name_with_one_foot_inside_is_refused_whole(mixed: list[str], listener: Listener) -> None:
    async with sender_to(mixed, allows=only_127_0_0_2) as sender:
        attempts = await asyncio.gather(*[send(sender) for _ in range(5)])
    assert {attempt.error for attempt in attempts} == {AttemptError.ADDRESS_NOT_ALLOWED}
    assert listener.reached == []


async def test_an_answer_that_is_kept_is_checked_again_at_the_socket(listener: Listener) -> None:
    """A lookup is cached for up to ten seconds, in which an address may have become our own."""
    allowed = True
    async with sender_to(["127.0.0.2"], allows=lambda _: allowed) as sender:
        await send(sender)
        assert listener.reached
        listener.reached.clear()
        allowed = False
        attempt = await send(sender)
    assert attempt.error == AttemptError.ADDRESS_NOT_ALLOWED
    assert attempt.dns_ms is None
    assert listener.reached == []


@pytest.mark.parametrize("answers", [["127.0.0.1"], ["127.0.0.1", "127.0.0.3"], ["::1", "127.0.0.1"]])
async def test_the_socket_alone_stops_what_a_lookup_lets_through(answers: list[str], listener: Listener) -> None:
    """Also with another resolver, when the client tries several addresses in parallel."""
    ATTEMPT_TIMING.set(AttemptTiming())
    connector = aiohttp.TCPConnector(resolver=Names(repeat(answers)), socket_factory=GuardedSockets(is_public))
    async with aiohttp.ClientSession(connector=connector) as session:
        for host in ("receiver.test", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"):
            with pytest.raises(aiohttp.ClientConnectorError):
                await session.post(f"https://{host}:{PORT}/")
    assert listener.reached == []


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_socket_is_made_for_an_inside_address(address: str) -> None:
    ATTEMPT_TIMING.set(AttemptTiming())
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with pytest.raises(NotAllowed):
        GuardedSockets(is_public)((family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, PORT)))


async def test_a_name_without_addresses_is_no_name() -> None:
    ATTEMPT_TIMING.set(AttemptTiming())
    with pytest.raises(OSError, match="no address"):
        await GuardedResolver(Names([[]]), is_public).resolve("receiver.test", PORT)


def test_our_own_addresses() -> None:
    assert all(is_own(ip_address(text)) for text in ("127.0.0.1", "127.0.0.2", "::1"))
    assert all(is_own(ip_address(info[4][0])) for info in socket.getaddrinfo(socket.gethostname(), None))
    assert not any(map(is_own, UNASSIGNED.values()))
    assert not is_own(ip_address("2606:4700:4700::1111"))


def test_a_public_address_of_this_machine_is_not_connected_to() -> None:
    """In a network namespace of its own, where this machine has a public address."""
    unshared = ["unshare", "--user", "--map-root-user", "--net", "--"]
    if subprocess.run([*unshared, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make a network namespace")
    program = [sys.executable, "-m", "tests.worker.own_address"]
    done = subprocess.run(
        [*unshared, *program], capture_output=True, check=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert json.loads(done.stdout) == {
        "guarded": [AttemptError.ADDRESS_NOT_ALLOWED, 0],
        "by the list alone": [AttemptError.CONNECT_FAILED, 1],
        "when anything can be bound to": [False, False],
    }


async def test_names_are_looked_up_by_the_system() -> None:
    found = await SystemResolver().resolve("localhost", PORT)
    assert {one["host"] for one in found} <= {"127.0.0.1", "::1"}
    assert found
    with pytest.raises(OSError, match="cannot be looked up"):
        await SystemResolver().resolve("a" * 70, PORT)


async def test_names_that_hang_do_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up, answered, look_up = threading.Semaphore(0), threading.Event(), socket.getaddrinfo

    def hanging(host: str, *rest: Any, **named: Any) -> Any:
        if host.startswith("hanging"):
            looked_up.release()
            answered.wait(60)
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return look_up(host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", hanging)
    lookup = SystemResolver()
    hang = [asyncio.create_task(lookup.resolve(f"hanging{number}.test")) for number in range(100)]
    try:
        for _ in hang:
            assert await asyncio.to_thread(looked_up.acquire, timeout=60)
        async with asyncio.timeout(60):
            assert await lookup.resolve("localhost", PORT)
    finally:
        answered.set()
    assert all(isinstance(one, socket.gaierror) for one in await asyncio.gather(*hang, return_exceptions=True))
