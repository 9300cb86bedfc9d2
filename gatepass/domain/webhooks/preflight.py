"""A look at a URL before it is saved: would a message get there?

Each step is what the sender would do, under the sender's own guard: the URL's form, its name, a connection, TLS. There
it ends. No HTTP request is made: receivers take any request for a message, an answer to HEAD or OPTIONS says nothing
about POST, and what stands behind somebody's URL is not ours to read. A test message, which is signed, tells the rest.
"""

import asyncio
import socket
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from ipaddress import ip_address
from time import perf_counter
from typing import Any, Final

from aiohttp.abc import AbstractResolver

from gatepass.base.address import Address
from gatepass.base.refusals import InvalidRequest
from gatepass.domain.webhooks.destination import URL, require_allowed
from gatepass.domain.webhooks.guard import (
    Allows,
    GuardedSockets,
    Lookup,
    NotAllowed,
    anywhere,
    is_elsewhere,
    verifying_tls,
)
from gatepass.domain.webhooks.progress import PROGRESS, Progress

# For all of it: a person waits.
DEADLINE: Final = 5.0
# A certificate that ends sooner is worth a word.
SOON: Final = timedelta(days=14)
# Of a name with more addresses than that the rest is not looked at.
MOST_ADDRESSES: Final = 16


class Step(StrEnum):
    URL = "url"
    NAME = "name"
    CONNECTION = "connection"
    TLS = "tls"


class Outcome(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Check:
    step: Step
    outcome: Outcome
    sentence: str
    milliseconds: float | None = None
    details: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Preflight:
    url: str
    checks: list[Check]

    @property
    def passed(self) -> bool:
        return all(check.outcome is not Outcome.FAILED for check in self.checks)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a URL leads, by its form alone."""

    host: str
    port: int
    is_https: bool
    address: Address | None


class _Failed(Exception):  # noqa: N818  an outcome
    def __init__(self, sentence: str, details: Sequence[str] = ()) -> None:
        super().__init__(sentence)
        self.details = details


async def preflight(
    url: str,
    *,
    allow_private: bool,
    at: datetime,
    resolver: AbstractResolver | None = None,
    tls: ssl.SSLContext | None = None,
    allows: Allows | None = None,
    deadline: float = DEADLINE,
) -> Preflight:
    """Go as far as TLS, and say how each step went. It answers within the deadline, and raises only when cancelled."""
    allows = allows or (anywhere if allow_private else is_elsewhere)
    look = _Look(allows, resolver or Lookup(), tls or verifying_tls(), at)
    PROGRESS.set(Progress())
    try:
        async with asyncio.timeout(deadline):
            await look.go(url, allow_private=allow_private)
    except _Failed as failed:
        look.note(Outcome.FAILED, str(failed), details=failed.details)
    except TimeoutError:
        look.note(Outcome.FAILED, f"No answer within {deadline:g} seconds.")
    for _ in range(len(Step) - len(look.checks)):
        look.note(Outcome.SKIPPED, "Not tried, because a step before it failed.")
    return Preflight(url, look.checks)


class _Look:
    """The steps in their order; each notes itself, or raises `_Failed`."""

    def __init__(self, allows: Allows, resolver: AbstractResolver, tls: ssl.SSLContext, at: datetime) -> None:
        self.checks: list[Check] = []
        self._allows = allows
        self._resolver = resolver
        self._tls = tls
        self._at = at
        self._began = perf_counter()

    def note(self, outcome: Outcome, sentence: str, *, timed: bool = False, details: Sequence[str] = ()) -> None:
        took = (perf_counter() - self._began) * 1000 if timed else None
        self.checks.append(Check(list(Step)[len(self.checks)], outcome, sentence, took, details))
        self._began = perf_counter()

    async def go(self, url: str, *, allow_private: bool) -> None:
        place = self._read(url, allow_private=allow_private)
        addresses = await self._look_up(place)
        connected = await self._connect(place, addresses)
        try:
            await self._shake_hands(place, connected)
        finally:
            connected.close()

    def _read(self, url: str, *, allow_private: bool) -> _Place:
        try:
            require_allowed(url, allow_private=allow_private)
        except InvalidRequest as refused:
            raise _Failed(str(refused)) from None
        found = URL.fullmatch(url)
        assert found is not None  # noqa: S101  it was allowed
        place = _place(found.groupdict())
        sentence = "The URL is one that we can send to."
        self.note(Outcome.OK, sentence if place.is_https else "Plain http: this service allows it for development.")
        return place

    async def _look_up(self, place: _Place) -> list[str]:
        if place.address is not None:
            self.note(Outcome.OK, "The URL names an address, so there is no name to look up.")
            return [str(place.address)]
        try:
            found = await self._resolver.resolve(place.host, place.port, socket.AF_UNSPEC)
        except OSError:
            found = []
        addresses = list(dict.fromkeys(one["host"] for one in found))[:MOST_ADDRESSES]
        if not addresses:
            raise _Failed(f"The name {place.host} has no address.")
        # As the sender does: one address that is not allowed refuses them all.
        if inside := [address for address in addresses if not _is_allowed(address, self._allows)]:
            told = f"{place.host} leads to {', '.join(inside)}"
            raise _Failed(f"{told}. We send to public addresses only, and to no name that leads elsewhere too.")
        count = "1 address" if len(addresses) == 1 else f"{len(addresses)} addresses"
        self.note(Outcome.OK, f"{place.host} has {count}.", timed=True, details=addresses)
        return addresses

    async def _connect(self, place: _Place, addresses: list[str]) -> socket.socket:
        """To the first address that takes a connection."""
        for address in addresses:
            try:
                made = await self._connected(address, place.port)
            except NotAllowed:
                raise _Failed(f"{address} is an address where we do not send.") from None
            except OSError:
                continue
            self.note(Outcome.OK, f"Connected to {address}, port {place.port}.", timed=True)
            return made
        raise _Failed(f"Nobody takes connections on port {place.port}.")

    async def _connected(self, address: str, port: int) -> socket.socket:
        """`GuardedSockets` looks at the address again, as it does for the sender."""
        family = socket.AF_INET if ip_address(address).version == 4 else socket.AF_INET6
        made = GuardedSockets(self._allows)((family, socket.SOCK_STREAM, 0, "", (address, port)))
        try:
            made.setblocking(False)
            await asyncio.get_running_loop().sock_connect(made, (address, port))
        except BaseException:
            made.close()
            raise
        return made

    async def _shake_hands(self, place: _Place, connected: socket.socket) -> None:
        if not place.is_https:
            self.note(Outcome.SKIPPED, "Plain http has no TLS. What is sent can be read on its way.")
            return
        try:
            # The transport owns its socket, and `connected` is closed by whoever made it.
            _, writer = await asyncio.open_connection(sock=connected.dup(), ssl=self._tls, server_hostname=place.host)
        except ssl.SSLCertVerificationError as failed:
            raise _Failed(f"The certificate is not to be trusted: {failed.verify_message}.") from None
        except (OSError, ssl.SSLError):
            raise _Failed("The handshake failed: no common version of TLS, or no TLS at all on this port.") from None
        try:
            session: ssl.SSLObject = writer.get_extra_info("ssl_object")
            self._note_certificate(session.version() or "TLS", session.getpeercert() or {})
        finally:
            writer.transport.abort()

    def _note_certificate(self, version: str, certificate: Mapping[str, Any]) -> None:
        ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
        details = [f"Certificate for {_subject(certificate)}", f"Valid until {ends:%Y-%m-%d %H:%M} UTC"]
        version = version.replace("TLSv", "TLS ")
        if ends - self._at < SOON:
            sentence = f"{version}. The certificate ends within {SOON.days} days: see that it is renewed."
            self.note(Outcome.WARNING, sentence, timed=True, details=details)
        else:
            self.note(Outcome.OK, f"{version}, with a certificate that we trust.", timed=True, details=details)


def _place(found: Mapping[str, str | None]) -> _Place:
    is_https = found["scheme"] == "https"
    host = (found["v6"] or found["host"] or "").lower()
    port = int(found["port"] or (443 if is_https else 80))
    try:
        return _Place(host, port, is_https, ip_address(host))
    except ValueError:
        return _Place(host, port, is_https, None)


def _is_allowed(text: str, allows: Allows) -> bool:
    try:
        return allows(ip_address(text))
    except ValueError:
        return False


def _subject(certificate: Mapping[str, Any]) -> str:
    """Its names; browsers and we go by them, not by the subject proper."""
    names = [value for kind, value in certificate.get("subjectAltName", ()) if kind in ("DNS", "IP Address")]
    if not names:
        names = [value for part in certificate.get("subject", ()) for key, value in part if key == "commonName"]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return (", ".join(names[:3]) or "no name") + more
