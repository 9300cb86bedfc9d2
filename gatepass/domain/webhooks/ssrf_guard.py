"""The SSRF guard: which addresses we may connect to, checked at the DNS lookup and again at the socket.

The worker uses it to send, and the studio to check a URL before it is saved (`preflight.py`). Only the check at the
socket is reliable. A name may resolve to a public address first and to 127.0.0.1 later (DNS rebinding); an address in a
URL is never looked up; a lookup may be cached. But each connection begins with a socket for one address, and
`GuardedSockets` makes them all.
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

from gatepass.base.client_ip import Address
from gatepass.domain.webhooks.attempt_timing import ATTEMPT_TIMING
from gatepass.domain.webhooks.url_policy import is_public

Allows = Callable[[Address], bool]

# Concurrent lookups. Each may hang for as long as the system's resolver allows.
LOOKUPS: Final = 128
# Reserved for documentation: no machine has them.
UNASSIGNED: Final = {4: IPv4Address("203.0.113.113"), 6: IPv6Address("2001:db8:113::113")}


class NotAllowed(OSError):  # noqa: N818  a refusal
    """An OSError, because the HTTP client takes only that for a failed connection."""


def is_public_remote(address: Address) -> bool:
    """A public address of another machine. Services on our own may trust any local client."""
    return is_public(address) and not is_own(address)


def any_address(_address: Address) -> bool:
    """For development and tests."""
    return True


def is_own(address: Address) -> bool:
    """Whether this machine has the address now: only then can a socket be bound to it."""
    if _binds_to_any_address(address.version):
        return str(address) in _addresses_of_hostname()
    return _can_bind(address)


def _can_bind(address: Address) -> bool:
    with socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError as error:
            return error.errno != errno.EADDRNOTAVAIL
    return True


@cache
def _binds_to_any_address(version: int) -> bool:
    """Machines with a floating address are configured so (ip_nonlocal_bind); then a successful bind proves nothing."""
    return _can_bind(UNASSIGNED[version])


@cache
def _addresses_of_hostname() -> frozenset[str]:
    with contextlib.suppress(OSError):
        return frozenset(str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None))
    return frozenset()


def _require(text: str, allows: Allows) -> None:
    try:
        allowed = allows(ip_address(text))
    except ValueError:
        allowed = False
    if not allowed:
        ATTEMPT_TIMING.get().refused = True
        raise NotAllowed("this address is not allowed")


def verifying_tls() -> ssl.SSLContext:
    """TLS 1.2 or newer, verified against the CAs of this machine, or those in SSL_CERT_FILE."""
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
        timing = ATTEMPT_TIMING.get()
        timing.address = str(where[0])
        timing.opened = timing.opened or perf_counter()
        _require(timing.address, self._allows)
        return socket.socket(family, kind, protocol)


class GuardedResolver(AbstractResolver):
    """Refuses a name if any of its addresses is not allowed."""

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
            ATTEMPT_TIMING.get().dns_ms = (perf_counter() - began) * 1000
        if not found:
            raise OSError("the name has no address")
        for one in found:
            _require(one["host"], self._allows)
        return found

    async def close(self) -> None:
        await self._resolver.close()


class SystemResolver(AbstractResolver):
    """Uses the system's resolver, in threads of its own.

    The event loop has two (uvloop) or six threads for lookups: that many names whose DNS servers do not answer would
    stop all deliveries. These threads are daemons: a hanging one does not delay the end of the worker.
    """

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(LOOKUPS)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        async with self._slots:
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

    def resolve() -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(found)
        else:
            answer.set_exception(error)

    # If the loop is closed, no task waits for the result.
    with contextlib.suppress(RuntimeError):
        answer.get_loop().call_soon_threadsafe(resolve)
