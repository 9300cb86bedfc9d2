"""Preflight: the checks of a URL before it is saved. Would a message reach it?

Each step does what the sender does, under the same SSRF guard: URL policy, DNS, connection, TLS. It ends there, without
an HTTP request: receivers take any request for a message, a response to HEAD or OPTIONS says nothing about POST, and
the content behind a URL is not ours to read. A test message, which is signed, checks the rest.
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

from gatepass.base.client_ip import Address
from gatepass.base.errors import InvalidRequest
from gatepass.domain.webhooks.attempt_timing import ATTEMPT_TIMING, AttemptTiming
from gatepass.domain.webhooks.ssrf_guard import (
    Allows,
    GuardedSockets,
    NotAllowed,
    SystemResolver,
    any_address,
    is_public_remote,
    verifying_tls,
)
from gatepass.domain.webhooks.url_policy import URL, require_allowed

# For all steps together: a person waits.
DEADLINE: Final = 5.0
# A certificate that expires sooner gets a warning.
SOON: Final = timedelta(days=14)
# Further addresses of a name are not checked.
MOST_ADDRESSES: Final = 16


class PreflightStep(StrEnum):
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
class PreflightCheck:
    step: PreflightStep
    outcome: Outcome
    sentence: str
    milliseconds: float | None = None
    details: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Preflight:
    url: str
    checks: list[PreflightCheck]

    @property
    def passed(self) -> bool:
        return all(check.outcome is not Outcome.FAILED for check in self.checks)


@dataclass(frozen=True, slots=True)
class _Target:
    """The parts of a URL, without a lookup."""

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
    """Run all steps and report each. It returns within the deadline, and raises only when cancelled."""
    allows = allows or (any_address if allow_private else is_public_remote)
    run = _Run(allows, resolver or SystemResolver(), tls or verifying_tls(), at)
    ATTEMPT_TIMING.set(AttemptTiming())
    try:
        async with asyncio.timeout(deadline):
            await run.steps(url, allow_private=allow_private)
    except _Failed as failed:
        run.add(Outcome.FAILED, str(failed), details=failed.details)
    except TimeoutError:
        run.add(Outcome.FAILED, f"No answer within {deadline:g} seconds.")
    for _ in range(len(PreflightStep) - len(run.checks)):
        run.add(Outcome.SKIPPED, "Not tried, because a step before it failed.")
    return Preflight(url, run.checks)


class _Run:
    """The steps in their order; each adds its check, or raises `_Failed`."""

    def __init__(self, allows: Allows, resolver: AbstractResolver, tls: ssl.SSLContext, at: datetime) -> None:
        self.checks: list[PreflightCheck] = []
        self._allows = allows
        self._resolver = resolver
        self._tls = tls
        self._at = at
        self._began = perf_counter()

    def add(self, outcome: Outcome, sentence: str, *, timed: bool = False, details: Sequence[str] = ()) -> None:
        took = (perf_counter() - self._began) * 1000 if timed else None
        self.checks.append(PreflightCheck(list(PreflightStep)[len(self.checks)], outcome, sentence, took, details))
        self._began = perf_counter()

    async def steps(self, url: str, *, allow_private: bool) -> None:
        target = self._read(url, allow_private=allow_private)
        addresses = await self._look_up(target)
        connected = await self._connect(target, addresses)
        try:
            await self._shake_hands(target, connected)
        finally:
            connected.close()

    def _read(self, url: str, *, allow_private: bool) -> _Target:
        try:
            require_allowed(url, allow_private=allow_private)
        except InvalidRequest as refused:
            raise _Failed(str(refused)) from None
        found = URL.fullmatch(url)
        assert found is not None  # noqa: S101  it was allowed
        target = _target(found.groupdict())
        sentence = "The URL is one that we can send to."
        self.add(Outcome.OK, sentence if target.is_https else "Plain http: this service allows it for development.")
        return target

    async def _look_up(self, target: _Target) -> list[str]:
        if target.address is not None:
            self.add(Outcome.OK, "The URL names an address, so there is no name to look up.")
            return [str(target.address)]
        try:
            found = await self._resolver.resolve(target.host, target.port, socket.AF_UNSPEC)
        except OSError:
            found = []
        addresses = list(dict.fromkeys(one["host"] for one in found))[:MOST_ADDRESSES]
        if not addresses:
            raise _Failed(f"The name {target.host} has no address.")
        # As in the sender: one address that is not allowed refuses the name.
        if inside := [address for address in addresses if not _is_allowed(address, self._allows)]:
            sentence = f"{target.host} leads to {', '.join(inside)}"
            raise _Failed(f"{sentence}. We send to public addresses only, and to no name that leads elsewhere too.")
        count = "1 address" if len(addresses) == 1 else f"{len(addresses)} addresses"
        self.add(Outcome.OK, f"{target.host} has {count}.", timed=True, details=addresses)
        return addresses

    async def _connect(self, target: _Target, addresses: list[str]) -> socket.socket:
        """A connection to the first address that accepts one."""
        for address in addresses:
            try:
                made = await self._connected(address, target.port)
            except NotAllowed:
                raise _Failed(f"{address} is an address where we do not send.") from None
            except OSError:
                continue
            self.add(Outcome.OK, f"Connected to {address}, port {target.port}.", timed=True)
            return made
        raise _Failed(f"Nobody takes connections on port {target.port}.")

    async def _connected(self, address: str, port: int) -> socket.socket:
        """`GuardedSockets` checks the address again, as for the sender."""
        family = socket.AF_INET if ip_address(address).version == 4 else socket.AF_INET6
        made = GuardedSockets(self._allows)((family, socket.SOCK_STREAM, 0, "", (address, port)))
        try:
            made.setblocking(False)
            await asyncio.get_running_loop().sock_connect(made, (address, port))
        except BaseException:
            made.close()
            raise
        return made

    async def _shake_hands(self, target: _Target, connected: socket.socket) -> None:
        if not target.is_https:
            self.add(Outcome.SKIPPED, "Plain http has no TLS. What is sent can be read on its way.")
            return
        try:
            # The transport closes its own socket; the caller closes `connected`.
            _, writer = await asyncio.open_connection(sock=connected.dup(), ssl=self._tls, server_hostname=target.host)
        except ssl.SSLCertVerificationError as failed:
            raise _Failed(f"The certificate is not to be trusted: {failed.verify_message}.") from None
        except (OSError, ssl.SSLError):
            raise _Failed("The handshake failed: no common version of TLS, or no TLS at all on this port.") from None
        try:
            session: ssl.SSLObject = writer.get_extra_info("ssl_object")
            self._add_certificate(session.version() or "TLS", session.getpeercert() or {})
        finally:
            writer.transport.abort()

    def _add_certificate(self, version: str, certificate: Mapping[str, Any]) -> None:
        ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
        details = [f"Certificate for {_subject(certificate)}", f"Valid until {ends:%Y-%m-%d %H:%M} UTC"]
        version = version.replace("TLSv", "TLS ")
        if ends - self._at < SOON:
            sentence = f"{version}. The certificate ends within {SOON.days} days: see that it is renewed."
            self.add(Outcome.WARNING, sentence, timed=True, details=details)
        else:
            self.add(Outcome.OK, f"{version}, with a certificate that we trust.", timed=True, details=details)


def _target(found: Mapping[str, str | None]) -> _Target:
    is_https = found["scheme"] == "https"
    host = (found["v6"] or found["host"] or "").lower()
    port = int(found["port"] or (443 if is_https else 80))
    try:
        return _Target(host, port, is_https, ip_address(host))
    except ValueError:
        return _Target(host, port, is_https, None)


def _is_allowed(text: str, allows: Allows) -> bool:
    try:
        return allows(ip_address(text))
    except ValueError:
        return False


def _subject(certificate: Mapping[str, Any]) -> str:
    """The alternative names, which decide in browsers and here; the common name only if there are none."""
    names = [value for kind, value in certificate.get("subjectAltName", ()) if kind in ("DNS", "IP Address")]
    if not names:
        names = [value for part in certificate.get("subject", ()) for key, value in part if key == "commonName"]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return (", ".join(names[:3]) or "no name") + more
