"""Sending one message to one receiver, whatever that receiver does: within 15 seconds there is an `Attempt` of it.

One deadline covers looking the name up, connecting, TLS, writing and reading. No redirect is followed, no proxy and no
cookie is used, and nothing is sent twice: what a receiver got is never more than the attempts that we count.

aiohttp keeps the connections, speaks TLS and parses answers. Its session is not used: it makes a request out of parts,
each time anew, and takes twice as long for that as for all the rest. Ours differ in a few headers and the body.
"""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from time import perf_counter
from typing import Final, NamedTuple

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from gatepass import __version__
from gatepass.base.clock import Clock, system_clock
from gatepass.base.log import logger
from gatepass.base.refusals import InvalidRequest
from gatepass.domain.webhooks.attempt import Attempt, AttemptError
from gatepass.domain.webhooks.destination import require_allowed
from gatepass.domain.webhooks.guard import (
    Allows,
    GuardedResolver,
    GuardedSockets,
    Lookup,
    NotAllowed,
    anywhere,
    is_elsewhere,
    verifying_tls,
)
from gatepass.domain.webhooks.progress import PROGRESS, Progress
from gatepass.worker.answer import LARGEST_BODY, LARGEST_LINE, Answer, BadAnswer, retry_after, text

# A claim lasts longer than this, so that no message is in two hands.
DEADLINE: Final = 15.0
# Servers commonly close after 5 idle seconds. Who writes at that moment loses the message, and must send it again.
KEEPALIVE: Final = 3.0
# The socket is guarded, so that an answer of a name server may be kept.
DNS_SECONDS: Final = 10
# URLs whose reading is remembered.
URLS: Final = 4096

HEADERS: Final = f"user-agent: Gatepass-Webhooks/{__version__}\r\naccept: */*\r\naccept-encoding: identity\r\n"
# The client's own; ours is over all of them.
NO_TIMEOUTS: Final = aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None)

log = logger(__name__)


class Sender:
    """Made inside the event loop that uses it. `allow_private` is for development and tests."""

    def __init__(
        self,
        *,
        allow_private: bool,
        connections: int = 1000,
        clock: Clock = system_clock,
        resolver: AbstractResolver | None = None,
        tls: ssl.SSLContext | None = None,
        allows: Allows | None = None,
        deadline: float = DEADLINE,
    ) -> None:
        allows = allows or (anywhere if allow_private else is_elsewhere)
        self._clock = clock
        self._deadline = deadline
        self._destination = lru_cache(URLS)(partial(_destination, allow_private=allow_private))
        self._connector = aiohttp.TCPConnector(
            limit=connections,
            ssl=tls or verifying_tls(),
            resolver=GuardedResolver(resolver or Lookup(), allows),
            ttl_dns_cache=DNS_SECONDS,
            socket_factory=GuardedSockets(allows),
            keepalive_timeout=KEEPALIVE,
        )

    async def send(self, url: str, headers: Callable[[], Mapping[str, str]], body: bytes) -> Attempt:
        """Post the body once. `headers` is asked last, so that what it signs is fresh. Raises only when cancelled."""
        at, progress, answer = self._clock(), Progress(), Answer()
        PROGRESS.set(progress)
        error = None
        try:
            async with asyncio.timeout(self._deadline):
                to = self._destination(url)
                await self._exchange(to, to.head + _rest(headers(), body), answer, progress)
        except Exception as failed:  # noqa: BLE001  whatever it is, the attempt is over and must be recorded
            error = _error(failed, progress)
        wait = answer.retry_after
        return Attempt(
            at=at,
            status=answer.status,
            error=error,
            address=progress.address,
            dns_ms=progress.dns_ms,
            connect_ms=progress.connect_ms,
            answer_ms=progress.answer_ms,
            total_ms=(perf_counter() - progress.began) * 1000,
            answer_head=text(answer.head) if answer.head else None,
            retry_after=retry_after(wait, self._clock()) if wait else None,
        )

    async def _exchange(self, to: "Destination", request: bytes, answer: Answer, progress: Progress) -> None:
        connection = await self._connect(to)
        try:
            progress.connected = perf_counter()
            protocol, transport = connection.protocol, connection.transport
            if protocol is None or transport is None:
                raise aiohttp.ClientConnectionError("the connection has gone")
            progress.address = transport.get_extra_info("peername")[0]
            protocol.set_response_params(
                auto_decompress=False,
                read_until_eof=True,
                read_bufsize=LARGEST_BODY,
                max_line_size=LARGEST_LINE,
                max_field_size=LARGEST_LINE,
            )
            transport.write(request)
            await self._read(protocol, answer, progress)
        except BaseException:
            connection.close()
            raise
        # One whose answer was not read to its end is closed by this.
        connection.release()

    async def _connect(self, to: "Destination") -> Connection:
        """A connection that is at hand, or a new one."""
        while True:
            connection = await self._connector.connect(to.request, traces=[], timeout=NO_TIMEOUTS)
            # What came unasked while it was at hand would be taken for the answer to this message.
            if connection.protocol is not None and not connection.protocol.should_close:
                return connection
            connection.close()

    async def _read(self, protocol: ResponseHandler, answer: Answer, progress: Progress) -> None:
        await answer.read(protocol, progress)

    async def close(self) -> None:
        await self._connector.close()


class Destination(NamedTuple):
    """Where a URL leads: what the connector asks for, and how each request to it begins."""

    request: aiohttp.ClientRequest
    head: bytes


def _destination(url: str, *, allow_private: bool) -> Destination:
    """Asked at each sending too: an endpoint may be older than the rules."""
    try:
        require_allowed(url, allow_private=allow_private)
    except InvalidRequest:
        raise NotAllowed("this URL is not allowed") from None
    read = URL(url, encoded=True)
    head = f"POST {read.raw_path_qs} HTTP/1.1\r\nhost: {read.host_port_subcomponent}\r\n{HEADERS}"
    return Destination(aiohttp.ClientRequest("POST", read, loop=asyncio.get_running_loop()), head.encode("ascii"))


def _rest(headers: Mapping[str, str], body: bytes) -> bytes:
    """The request from our own headers on."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    if not lines.count("\r") == lines.count("\n") == len(headers):
        raise ValueError("a header with a line break")
    return f"{lines}content-length: {len(body)}\r\n\r\n".encode("ascii") + body


def _error(failed: Exception, progress: Progress) -> AttemptError:
    # Who waited for somebody else's lookup finds the refusal only inside the error.
    if progress.refused or isinstance(getattr(failed, "os_error", failed), NotAllowed):
        return AttemptError.ADDRESS_NOT_ALLOWED
    for kind, error in ERRORS:
        if isinstance(failed, kind):
            return error
    log.error("could not send", error=type(failed).__name__)
    return AttemptError.INTERNAL


# The first that fits.
ERRORS: Final[tuple[tuple[type[Exception], AttemptError], ...]] = (
    (TimeoutError, AttemptError.TIMEOUT),
    (aiohttp.ClientConnectorDNSError, AttemptError.DNS_FAILED),
    (aiohttp.ClientSSLError, AttemptError.TLS_FAILED),
    (aiohttp.ClientConnectorError, AttemptError.CONNECT_FAILED),
    (aiohttp.ClientConnectionError, AttemptError.CONNECTION_LOST),
    (aiohttp.ClientPayloadError, AttemptError.CONNECTION_LOST),
    (HttpProcessingError, AttemptError.BAD_ANSWER),
    (BadAnswer, AttemptError.BAD_ANSWER),
    (OSError, AttemptError.CONNECTION_LOST),
)
