"""What we may connect to: decided when a name is looked up, and again at the socket.

The worker goes by it when it sends, and the studio when it looks at a URL before that is saved (`preflight.py`).
Only the second can be relied on. A name may answer with a public address when it is asked first and with 127.0.0.1
later; an address in a URL is never looked up; an answer may be kept for a while. But each connection begins with a
socket for one address, and `GuardedSockets` makes them all.
"""

import asyncio
import contextlib
import errno
import socket
import ssl
import threading
from collections.abc import Callable
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from time import perf_counter
from typing import Any, Final

from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult

from gatepass.base.address import Address
from gatepass.domain.webhooks.destination import is_public
from gatepass.domain.webhooks.progress import PROGRESS

Allows = Callable[[Address], bool]

# Lookups at a time. Each may hang for as long as the system's resolver lets it.
LOOKUPS: Final = 128
# For documentation: no machine has them.
NOBODY: Final = {4: IPv4Address("203.0.113.113"), 6: IPv6Address("2001:db8:113::113")}


class NotAllowed(OSError):  # noqa: N818  a refusal
    """An OSError, because to the HTTP client only that means that an address cannot be connected to."""


def is_elsewhere(address: Address) -> bool:
    """A public address of another machine. Behind our own ones are services that trust whoever comes from here."""
    return is_public(address) and not is_own(address)


def anywhere(_address: Address) -> bool:
    """For development and tests."""
    return True


def is_own(address: Address) -> bool:
    """Whether the address is one of this machine's at this moment: only then can a socket be bound to it."""
    if _binds_to_anything(address.version):
        return str(address) in _addresses_of_our_name()
    return _can_bind(address)


def _can_bind(address: Address) -> bool:
    with socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError as error:
            return error.errno != errno.EADDRNOTAVAIL
    return True


@cache
def _binds_to_anything(version: int) -> bool:
    """As machines with a floating address are told to (ip_nonlocal_bind); then binding tells nothing."""
    return _can_bind(NOBODY[version])


@cache
def _addresses_of_our_name() -> frozenset[str]:
    with contextlib.suppress(OSError):
        return frozenset(str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None))
    return frozenset()


def _require(text: str, allows: Allows) -> None:
    try:
        allowed = allows(ip_address(text))
    except ValueError:
        allowed = False
    if not allowed:
        PROGRESS.get().refused = True
        raise NotAllowed("this address is not allowed")


def verifying_tls() -> ssl.SSLContext:
    """TLS 1.2 or newer, checked against what this machine trusts, or what SSL_CERT_FILE names."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


class GuardedSockets:
    """Makes the socket of each connection; aiohttp calls it `socket_factory`."""

    def __init__(self, allows: Allows) -> None:
        self._allows = allows

    def __call__(self, info: AddrInfoType) -> socket.socket:  # pyright: ignore[reportUnknownParameterType]
        family, kind, protocol, _, where = info
        progress = PROGRESS.get()
        progress.address = str(where[0])
        progress.opened = progress.opened or perf_counter()
        _require(progress.address, self._allows)
        return socket.socket(family, kind, protocol)


class GuardedResolver(AbstractResolver):
    """Passes on what is allowed. A name that points inside with one of its addresses is refused with all of them."""

    def __init__(self, resolver: AbstractResolver, allows: Allows) -> None:
        self._resolver = resolver
        self._allows = allows

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        began = perf_counter()
        try:
            found = await self._resolver.resolve(host, port, family)
        finally:
            PROGRESS.get().dns_ms = (perf_counter() - began) * 1000
        if not found:
            raise OSError("the name has no address")
        for one in found:
            _require(one["host"], self._allows)
        return found

    async def close(self) -> None:
        await self._resolver.close()


class Lookup(AbstractResolver):
    """Asks the system's resolver, in threads of its own.

    The event loop's threads for this are two (uvloop) or six: as many names whose servers do not answer would stop all
    deliveries. And nobody waits for a thread that hangs when the worker stops.
    """

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(LOOKUPS)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        async with self._places:
            answer: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
            threading.Thread(target=_look_up, args=(host, port, family, answer), daemon=True).start()
            found = await answer
        return [
            ResolveResult(hostname=host, host=where[0], port=port, family=family, proto=protocol, flags=0)
            for family, _, protocol, _, where in found
        ]

    async def close(self) -> None:
        pass


def _look_up(host: str, port: int, family: int, answer: asyncio.Future[list[Any]]) -> None:
    found: list[Any] = []
    error: Exception | None = None
    try:
        found = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except (OSError, UnicodeError) as failed:
        error = failed if isinstance(failed, OSError) else OSError("the name cannot be looked up")

    def tell() -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(found)
        else:
            answer.set_exception(error)

    # The loop may have closed meanwhile: then nobody waits.
    with contextlib.suppress(RuntimeError):
        answer.get_loop().call_soon_threadsafe(tell)
