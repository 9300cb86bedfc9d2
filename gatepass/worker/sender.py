"""The sender: posts one message to one receiver. It always returns an `Attempt` within 15 seconds.

One deadline covers DNS, connection, TLS, writing and reading. No redirect is followed, no proxy and no cookie is used,
and nothing is sent twice: a receiver never gets more requests than the attempts that we count.

aiohttp pools the connections, speaks TLS and parses responses. Its session is not used: it builds each request from
parts, which takes twice as long as all the rest. Our requests differ only in a few headers and the body.
"""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from time import perf_counter
from typing import Final, NamedTuple

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from gatepass import __version__
from gatepass.base.clock import Clock, system_clock
from gatepass.base.errors import InvalidRequest
from gatepass.base.log import logger
from gatepass.domain.webhooks.attempt_timing import ATTEMPT_TIMING, AttemptTiming
from gatepass.domain.webhooks.queue import Attempt, AttemptError
from gatepass.domain.webhooks.ssrf_guard import (
    Allows,
    GuardedResolver,
    GuardedSockets,
    NotAllowed,
    SystemResolver,
    any_address,
    is_public_remote,
    verifying_tls,
)
from gatepass.domain.webhooks.url_policy import require_allowed
from gatepass.worker.response_reader import (
    LARGEST_BODY,
    LARGEST_LINE,
    InvalidResponse,
    ReceiverResponse,
    retry_after,
    text,
)

# The lease of a claim is longer, so that no two workers send one message at the same time.
DEADLINE: Final = 15.0
# Servers commonly close a connection after 5 idle seconds. A message that is written at that moment must be sent again.
KEEPALIVE: Final = 3.0
# Lookups may be cached because the socket is guarded too.
DNS_SECONDS: Final = 10
# Parsed URLs in the cache.
URLS: Final = 4096

HEADERS: Final = f"user-agent: Gatepass-Webhooks/{__version__}\r\naccept: */*\r\naccept-encoding: identity\r\n"
# The client's own timeouts; our deadline covers all of them.
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
        allows = allows or (any_address if allow_private else is_public_remote)
        self._clock = clock
        self._deadline = deadline
        self._destination = lru_cache(URLS)(partial(_destination, allow_private=allow_private))
        self._connector = aiohttp.TCPConnector(
            limit=connections,
            ssl=tls or verifying_tls(),
            resolver=GuardedResolver(resolver or SystemResolver(), allows),
            ttl_dns_cache=DNS_SECONDS,
            socket_factory=GuardedSockets(allows),
            keepalive_timeout=KEEPALIVE,
        )

    async def send(self, url: str, headers: Callable[[], Mapping[str, str]], body: bytes) -> Attempt:
        """Post the body once. `headers` is called last, so that its timestamp is new. Raises only when cancelled."""
        at, timing, response = self._clock(), AttemptTiming(), ReceiverResponse()
        ATTEMPT_TIMING.set(timing)
        error = None
        try:
            async with asyncio.timeout(self._deadline):
                to = self._destination(url)
                await self._exchange(to, to.head + _rest(headers(), body), response, timing)
        except Exception as failed:  # noqa: BLE001  after any error the attempt must be recorded
            error = _error(failed, timing)
        wait = response.retry_after
        return Attempt(
            at=at,
            status=response.status,
            error=error,
            address=timing.address,
            dns_ms=timing.dns_ms,
            connect_ms=timing.connect_ms,
            answer_ms=timing.answer_ms,
            total_ms=(perf_counter() - timing.began) * 1000,
            answer_head=text(response.head) if response.head else None,
            retry_after=retry_after(wait, self._clock()) if wait else None,
        )

    async def _exchange(
        self, to: "Destination", request: bytes, response: ReceiverResponse, timing: AttemptTiming
    ) -> None:
        connection = await self._connect(to)
        try:
            timing.connected = perf_counter()
            protocol, transport = connection.protocol, connection.transport
            if protocol is None or transport is None:
                raise aiohttp.ClientConnectionError("the connection has gone")
            timing.address = transport.get_extra_info("peername")[0]
            protocol.set_response_params(
                auto_decompress=False,
                read_until_eof=True,
                read_bufsize=LARGEST_BODY,
                max_line_size=LARGEST_LINE,
                max_field_size=LARGEST_LINE,
            )
            transport.write(request)
            await response.read(protocol, timing)
        except BaseException:
            connection.close()
            raise
        # This closes a connection whose response was not read to its end.
        connection.release()

    async def _connect(self, to: "Destination") -> Connection:
        """A connection from the pool, or a new one."""
        while True:
            connection = await self._connector.connect(to.request, traces=[], timeout=NO_TIMEOUTS)
            # Data that arrived while it was idle would be taken for the response to this message.
            if connection.protocol is not None and not connection.protocol.should_close:
                return connection
            connection.close()

    async def close(self) -> None:
        await self._connector.close()


class Destination(NamedTuple):
    """A parsed URL: the request for the connector, and the first lines of each request."""

    request: aiohttp.ClientRequest
    head: bytes


def _destination(url: str, *, allow_private: bool) -> Destination:
    """The URL policy is checked at each sending too: an endpoint may be older than the policy."""
    try:
        require_allowed(url, allow_private=allow_private)
    except InvalidRequest:
        raise NotAllowed("this URL is not allowed") from None
    read = URL(url, encoded=True)
    head = f"POST {read.raw_path_qs} HTTP/1.1\r\nhost: {read.host_port_subcomponent}\r\n{HEADERS}"
    return Destination(aiohttp.ClientRequest("POST", read, loop=asyncio.get_running_loop()), head.encode("ascii"))


def _rest(headers: Mapping[str, str], body: bytes) -> bytes:
    """The rest of a request: our own headers and the body."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    if not lines.count("\r") == lines.count("\n") == len(headers):
        raise ValueError("a header with a line break")
    return f"{lines}content-length: {len(body)}\r\n\r\n".encode("ascii") + body


def _error(failed: Exception, timing: AttemptTiming) -> AttemptError:
    # An attempt that waited for the lookup of another finds the refusal only inside the error.
    if timing.refused or isinstance(getattr(failed, "os_error", failed), NotAllowed):
        return AttemptError.ADDRESS_NOT_ALLOWED
    for kind, error in ERRORS:
        if isinstance(failed, kind):
            return error
    log.error("could not send", error=type(failed).__name__)
    return AttemptError.INTERNAL


# The first match decides.
ERRORS: Final[tuple[tuple[type[Exception], AttemptError], ...]] = (
    (TimeoutError, AttemptError.TIMEOUT),
    (aiohttp.ClientConnectorDNSError, AttemptError.DNS_FAILED),
    (aiohttp.ClientSSLError, AttemptError.TLS_FAILED),
    (aiohttp.ClientConnectorError, AttemptError.CONNECT_FAILED),
    (aiohttp.ClientConnectionError, AttemptError.CONNECTION_LOST),
    (aiohttp.ClientPayloadError, AttemptError.CONNECTION_LOST),
    (HttpProcessingError, AttemptError.BAD_ANSWER),
    (InvalidResponse, AttemptError.BAD_ANSWER),
    (OSError, AttemptError.CONNECTION_LOST),
)
