"""The hosts of a database URL, asked side by side: a dead one delays nobody.

A primary that was cut off may still call itself writable while no commit ends on it. A host where a call was lost is
therefore taken again only if no other one can be had.
"""

import asyncio
import time
from typing import Final, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import uuid4
from weakref import WeakKeyDictionary

import asyncpg
from asyncpg.connection import Connection

from gatepass.base.log import logger
from gatepass.base.tls import tls_fault

Link: TypeAlias = "Connection[asyncpg.Record]"

# Seconds. A server that is there accepts a connection within milliseconds.
CONNECT_WITHIN: Final = 1.0
# Seconds for which a host is avoided after a call was lost there.
AVOIDED_FOR: Final = 30.0
# A server that answers, but is not what `target_session_attrs` asks for: a standby.
NOT_WANTED: Final = asyncpg.TargetServerAttributeNotMatched
# A server notices within this time that we have closed a connection, and ends what runs on it: a statement past its
# deadline must not go on, with its locks. It does not ask while a commit waits for a standby: no commit is cancelled.
NOTICES_WITHIN: Final = {"client_connection_check_interval": "2s"}
# PgBouncer refuses a setting that it does not know, and a server on another system than Linux one that it cannot have.
NOT_TAKEN: Final = (asyncpg.ProtocolViolationError, asyncpg.InvalidParameterValueError)
UNREACHABLE: Final = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, NOT_WANTED)

log = logger(__name__)


class PostgresConnection(Connection):
    """Names its prepared statements at random.

    asyncpg counts them, from 1 in each process. Behind a pooler that keeps no prepared statements (PgBouncer before
    1.21), a process would then run the statement that another one has prepared under the same name.
    """

    def _get_unique_id(self, prefix: str) -> str:
        return f"gatepass_{prefix}_{uuid4().hex}"


class PostgresHosts:
    def __init__(self, url: str, name: str) -> None:
        self._urls = split(url)
        self._name = name
        self._avoided: dict[str, float] = {}
        self._settings = dict.fromkeys(self._urls, {"application_name": name} | NOTICES_WITHIN)
        self._tls_faults: dict[str, str | None] = {}
        self._of: WeakKeyDictionary[Link, str] = WeakKeyDictionary()

    async def connect(self, within: float) -> Link:
        """A connection to the first host that accepts one. If none does: the error of a standby, or else the last."""
        tasks = [asyncio.create_task(self._connect(url, min(within, CONNECT_WITHIN))) for url in self._urls]
        chosen: Link | None = None
        errors: list[Exception] = []
        try:
            for next_done in asyncio.as_completed(tasks):
                try:
                    link = await next_done
                except UNREACHABLE as error:
                    errors.append(error)
                    continue
                chosen = chosen or link
                if not self._is_avoided(link):
                    chosen = link
                    break
        except asyncio.CancelledError:
            chosen = None
            raise
        else:
            if chosen is None:
                raise next((error for error in errors if isinstance(error, NOT_WANTED)), errors[-1])
            return chosen
        finally:
            for task in tasks:
                task.cancel()
                task.add_done_callback(lambda done: _discard(done, chosen))

    def avoid(self, link: Link) -> None:
        """A call was lost on this connection."""
        if len(self._urls) > 1 and (url := self._of.get(link)) is not None:
            self._avoided[url] = time.monotonic() + AVOIDED_FOR

    async def _connect(self, url: str, within: float) -> Link:
        try:
            link = await self._opened(url, within)
        except UNREACHABLE as error:
            self._report(url, tls_fault(error))
            raise
        self._report(url, None)
        self._of[link] = url
        return link

    async def _opened(self, url: str, within: float) -> Link:
        settings = self._settings[url]
        try:
            return await asyncpg.connect(
                url, timeout=within, connection_class=PostgresConnection, server_settings=settings
            )
        except NOT_TAKEN as refused:
            if next(iter(NOTICES_WITHIN)) not in str(refused) or len(settings) == 1:
                raise
            self._settings[url] = {"application_name": self._name}
        return await self._opened(url, within)

    def _report(self, url: str, fault: str | None) -> None:
        """Log a fault of TLS once, not for every call: it lasts until an operator repairs it."""
        if fault is not None and fault != self._tls_faults.get(url):
            log.error("PostgreSQL is not used", reason=fault)
        self._tls_faults[url] = fault

    def _is_avoided(self, link: Link) -> bool:
        return self._avoided.get(self._of[link], 0.0) > time.monotonic()


def _discard(task: "asyncio.Task[Link]", chosen: "Link | None") -> None:
    """Close a connection that was not chosen."""
    if not task.cancelled() and task.exception() is None and task.result() is not chosen:
        task.result().terminate()


def split(url: str, *, target_session_attrs: str | None = None) -> list[str]:
    """A URL for each host. With several, each asks for a server that can write, unless the URL says otherwise."""
    parts = urlsplit(url)
    user, at, hosts = parts.netloc.rpartition("@")
    named = [host for host in hosts.split(",") if host]
    if len(named) < 2:
        return [url]
    options = dict(parse_qsl(parts.query))
    options["target_session_attrs"] = target_session_attrs or options.get("target_session_attrs", "read-write")
    return [urlunsplit(parts._replace(netloc=f"{user}{at}{host}", query=urlencode(options))) for host in named]
