"""PostgreSQL: a small pool of connections, one deadline, and transactions that the caller opens.

No session state is kept, so PgBouncer in transaction mode can be used. When the deadline passes, the
connection is closed and no cancel request is sent: cancelling a commit that waits for a standby makes it
visible before it is replicated, and the answer to a retry would then be false.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import fields
from enum import Enum
from typing import Any, Final, LiteralString, TypeVar, get_type_hints
from weakref import WeakKeyDictionary, WeakSet

import asyncpg

from gatepass.base.client_ip import Address
from gatepass.base.commit_probe import WAIT_FOR_STANDBY, CommitProbe, CommitWatch
from gatepass.base.deadline import ACQUIRE_WITHIN, seconds_left
from gatepass.base.errors import Busy, Overloaded, Unavailable
from gatepass.base.postgres_hosts import NOT_WANTED, UNREACHABLE, Link, PostgresHosts

T = TypeVar("T")
Row = asyncpg.Record

# Seconds. A connection keeps its query plans, and a plan that was made while a table was empty is bad once it is
# full. Until autovacuum has analyzed the table, only a new connection makes a new plan.
MAX_AGE: Final = 60.0
# Seconds to close a connection. A frozen server does not answer, and a process that stops has little time.
CLOSE_TIMEOUT: Final = 2.0
# The warning of PostgreSQL that a commit returned although no standby has it.
SYNC_WAIT_CANCELLED: Final = "01000"

# asyncpg raises InternalClientError for a call on a connection that is being closed.
LOST: Final = (asyncpg.PostgresConnectionError, asyncpg.InterfaceError, asyncpg.InternalClientError, ConnectionError)
# PostgreSQL answers but cannot serve this call now: a failover, no resources, or a conflict with other calls.
CAUSES: Final[dict[type[Exception], str]] = {
    asyncpg.SerializationError: "conflict",
    asyncpg.DeadlockDetectedError: "conflict",
    asyncpg.ReadOnlySQLTransactionError: "read_only",
    asyncpg.InsufficientResourcesError: "resources",
    asyncpg.OperatorInterventionError: "shutdown",
    # A migration has changed the columns of a statement that was prepared before.
    asyncpg.InvalidCachedStatementError: "schema",
    # A pooler does not know a statement that was prepared through it: PgBouncer before 1.21.
    asyncpg.InvalidSQLStatementNameError: "pooler",
}
TRANSIENT: Final = tuple(CAUSES)
# These say something about the server, the others about one call.
OF_THE_SERVER: Final = ("deadline", "lost", "read_only", "shutdown")


class Tx:
    """The statements that a verb may run. It cannot commit: the code that opened the transaction does."""

    def __init__(self, link: Link, deadline: float, address: Address | None = None) -> None:
        self._link = link
        self._deadline = deadline
        # The address of the caller, for the audit log; None if no caller asked for it.
        self.address = address
        self._committed: list[Callable[[], None]] = []

    def after_commit(self, call: Callable[[], None]) -> None:
        """Call this once the transaction has committed: a log line must not tell of what was rolled back."""
        self._committed.append(call)

    def tell_committed(self) -> None:
        for call in self._committed:
            call()

    @asynccontextmanager
    async def savepoint(self) -> AsyncGenerator[None]:
        """If the block raises, what it did is rolled back, and the transaction can go on."""
        told = len(self._committed)
        await self.run("SAVEPOINT block")
        try:
            yield
        except Exception:
            if not self._link.is_closed():
                del self._committed[told:]
                await self.run("ROLLBACK TO SAVEPOINT block; RELEASE SAVEPOINT block")
            raise
        await self.run("RELEASE SAVEPOINT block")

    async def all(self, kind: type[T], sql: LiteralString, *values: object) -> list[T]:
        return [shaped(kind, row) for row in await self.rows(sql, *values)]

    async def one(self, kind: type[T], sql: LiteralString, *values: object) -> T | None:
        rows = await self.rows(sql, *values)
        return shaped(kind, rows[0]) if rows else None

    async def value(self, sql: LiteralString, *values: object) -> Any:
        rows = await self.rows(sql, *values)
        return rows[0][0] if rows else None

    async def rows(self, sql: LiteralString, *values: object) -> list[Row]:
        return await self._bounded(self._link.fetch(sql, *values))

    async def run(self, sql: LiteralString, *values: object) -> int:
        """Run a statement; the number of rows that it affected."""
        tag = await self._bounded(self._link.execute(sql, *values))
        count = tag.rsplit(" ", 1)[-1]
        return int(count) if count.isdigit() else 0

    async def wait_for_standby(self) -> None:
        """Make the commit wait for what was read, too: a commit whose wait was broken off is seen, and may be lost."""
        await self.run(WAIT_FOR_STANDBY)

    async def copy(self, table: LiteralString, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Load many rows at once, without a deadline, because it may take longer than a call."""
        await self._link.copy_records_to_table(table, columns=list(columns), records=rows)

    async def copy_out(
        self, sql: LiteralString, *values: object, output: Callable[[bytes], Coroutine[Any, Any, None]]
    ) -> None:
        """Stream the rows of a query that has one column of JSON, a line each, without a deadline."""
        # JSON has no control character: with these as quote and delimiter nothing is quoted or escaped.
        form: dict[str, Any] = {"format": "csv", "delimiter": "\x02", "quote": "\x01", "encoding": "utf8"}
        await self._link.copy_from_query(sql, *values, output=output, **form)

    async def _bounded(self, work: Coroutine[Any, Any, T]) -> T:
        return await _within(self._deadline, self._link, work)


async def _within(seconds: float, link: Link, work: Coroutine[Any, Any, T]) -> T:
    """Wait for `work`. Past the deadline, or if the caller is cancelled, close the connection, which ends `work`."""
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    deadline = loop.call_later(seconds_left(seconds), _terminate_overdue, link)
    try:
        return await asyncio.shield(task)
    except AttributeError as gone:  # of asyncpg: the connection was closed between two steps of the statement
        if not link.is_closed():
            raise
        raise asyncpg.InterfaceError("closed between two steps of a statement") from gone
    finally:
        deadline.cancel()
        if not task.done():
            link.terminate()
            task.add_done_callback(lambda done: done.cancelled() or done.exception())


# Connections that we closed because their deadline had passed.
_OVERDUE: Final[WeakSet[Link]] = WeakSet()


def _terminate_overdue(link: Link) -> None:
    _OVERDUE.add(link)
    link.terminate()


async def _close(link: Link) -> None:
    with suppress(TimeoutError, *LOST):
        await link.close(timeout=CLOSE_TIMEOUT)


class Database:
    def __init__(
        self, url: str, *, connections: int = 8, deadline: float = 3.0, name: str = "gatepass",
        acquire_within: float = ACQUIRE_WITHIN,
    ) -> None:  # fmt: skip
        self.url, self.name, self.acquire_within = url, name, acquire_within
        self.commits = CommitWatch(CommitProbe(url, f"{name} probe"))
        self._hosts = PostgresHosts(url, name)
        self._deadline = deadline
        self._free = asyncio.Semaphore(connections)
        self._idle: list[Link] = []
        self._born: WeakKeyDictionary[Link, float] = WeakKeyDictionary()
        self._unreplicated: set[int] = set()

    async def close(self) -> None:
        """Close all connections at once; terminate those that do not close in time."""
        idle, self._idle = self._idle, []
        await asyncio.gather(self.commits.close(), *(_close(link) for link in idle))

    @asynccontextmanager
    async def transaction(self, address: Address | None = None, *, within: float | None = None) -> AsyncGenerator[Tx]:
        """A transaction that commits when the block ends and is rolled back when it raises; `within` its deadline."""
        self._require_commits()
        async with self._link() as link:
            tx = Tx(link, within or self._deadline, address)
            await _within(self._deadline, link, link.execute("BEGIN"))
            try:
                yield tx
            except BaseException:
                if not link.is_closed():
                    await _within(self._deadline, link, link.execute("ROLLBACK"))
                raise
            await _within(self._deadline, link, link.execute("COMMIT"))
            self._require_replicated(link)
        tx.tell_committed()

    @asynccontextmanager
    async def autocommit(self, *, writes: bool = False, within: float | None = None) -> AsyncGenerator[Tx, None]:
        """Each statement is its own transaction: one round trip, committed when it returns."""
        if writes:
            self._require_commits()
        async with self._link() as link:
            tx = Tx(link, within or self._deadline)
            yield tx
            self._require_replicated(link)
        tx.tell_committed()

    @asynccontextmanager
    async def _link(self) -> AsyncGenerator[Link, None]:
        await self._acquire()
        link: Link | None = None
        try:
            link = await self._connected()
            yield link
        except (asyncpg.LockNotAvailableError, asyncpg.QueryCanceledError) as held:
            raise Busy(cause="lock") from held
        except (*LOST, *TRANSIENT) as error:
            cause = "deadline" if link in _OVERDUE else _cause(error)
            if link is not None:
                link.terminate()
            if link is not None and cause in OF_THE_SERVER:
                self._distrust(link)
            raise Unavailable(cause=cause) from error
        finally:
            if link is not None and not link.is_closed() and not link.is_in_transaction():
                self._idle.append(link)
            elif link is not None:
                link.terminate()
            self._free.release()

    def _require_commits(self) -> None:
        """While no commit ends, refuse at once: each that is begun leaves a session on the server until it ends."""
        if self.commits.stalled:
            raise Unavailable(cause="stalled")

    async def _acquire(self) -> None:
        if seconds_left(self._deadline) <= 0:
            raise Unavailable(cause="queue")
        if not self._free.locked():
            await self._free.acquire()
            return
        try:
            await asyncio.wait_for(self._free.acquire(), seconds_left(self.acquire_within))
        except TimeoutError:
            raise Overloaded(cause="connections") from None

    def _distrust(self, link: Link) -> None:
        """The idle connections lead to the same server. The next one may reach another, which can serve it."""
        self._hosts.avoid(link)
        self.commits.suspect()
        while self._idle:
            self._idle.pop().terminate()

    async def _connected(self) -> Link:
        while self._idle:
            link = self._idle.pop()
            if not link.is_closed() and time.monotonic() - self._born[link] < MAX_AGE:
                return link
            link.terminate()  # rather than close(), which takes a round trip: a gate waits
        try:
            link = await self._hosts.connect(seconds_left(self._deadline))
        except UNREACHABLE as unreachable:
            cause = "read_only" if isinstance(unreachable, NOT_WANTED) else "connect"
            raise Unavailable(cause=cause) from unreachable
        link.add_log_listener(self._on_message)
        self._born[link] = time.monotonic()
        return link

    def _on_message(self, link: object, message: asyncpg.PostgresLogMessage) -> None:
        """Remember a commit that returned although no standby has it: its outcome is unknown."""
        if getattr(message, "sqlstate", None) == SYNC_WAIT_CANCELLED:
            self._unreplicated.add(id(link))

    def _require_replicated(self, link: Link) -> None:
        if id(link) in self._unreplicated:
            self._unreplicated.discard(id(link))
            link.terminate()
            raise Unavailable(cause="not_replicated")


def _cause(error: Exception) -> str:
    return next((cause for kind, cause in CAUSES.items() if isinstance(error, kind)), "lost")


def shaped(kind: type[T], row: Row) -> T:
    """A row as a dataclass. Columns and fields have the same names; an enum is made from its value."""
    return kind(**{name: row[name] if make is None else make(row[name]) for name, make in _makers(kind)})


_MAKERS: Final[dict[type, list[tuple[str, Any]]]] = {}


def _makers(kind: type) -> list[tuple[str, Any]]:
    if kind not in _MAKERS:
        hints = get_type_hints(kind)
        _MAKERS[kind] = [(field.name, _maker(hints[field.name])) for field in fields(kind)]
    return _MAKERS[kind]


def _maker(hint: object) -> Any:
    return hint if isinstance(hint, type) and issubclass(hint, Enum) else None
