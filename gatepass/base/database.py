"""PostgreSQL: a few held connections, one deadline, and transactions that the door opens visibly.

No session state is kept (PgBouncer in transaction mode may stand in front). When the deadline
passes, the connection is dropped and never told to cancel: cancelling a commit that waits for a
standby makes it visible before it is replicated, and a retry would then be told a lie.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import fields
from enum import Enum
from typing import Any, Final, LiteralString, TypeAlias, TypeVar, get_type_hints
from weakref import WeakKeyDictionary

import asyncpg
from asyncpg.connection import Connection

from gatepass.base.address import Address
from gatepass.base.refusals import Busy, Overloaded, Unavailable

T = TypeVar("T")
Row = asyncpg.Record
Link: TypeAlias = "Connection[Row]"

# A wait longer than this means that calls arrive faster than they are answered; queueing would only hide it.
PATIENCE: Final = 0.5
# Plans live with their connection, and one that was made while a table was empty is bad once it is full. Until
# autovacuum has looked at the table, this is what ends it.
LIFETIME: Final = 60.0
# A server that is frozen hears no goodbye, and a process that was told to stop has no time.
GOODBYE: Final = 2.0
# What PostgreSQL says when a commit returned although no standby has it.
SYNC_WAIT_CANCELLED: Final = "01000"


# asyncpg says InternalClientError when it is spoken to in the middle of a goodbye.
LOST: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    ConnectionError,
)
# PostgreSQL is there but cannot serve this now: it fails over, it has no room, others were quicker.
PASSING_TROUBLE: Final = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
)


class Tx:
    """What a verb may do with the database. It cannot commit: the door does."""

    def __init__(self, link: Link, deadline: float, address: Address | None = None) -> None:
        self._link = link
        self._deadline = deadline
        # From where somebody asked for what is done here, if somebody did.
        self.address = address

    async def all(self, kind: type[T], sql: LiteralString, *values: object) -> list[T]:
        return [_shaped(kind, row) for row in await self.rows(sql, *values)]

    async def one(self, kind: type[T], sql: LiteralString, *values: object) -> T | None:
        rows = await self.rows(sql, *values)
        return _shaped(kind, rows[0]) if rows else None

    async def value(self, sql: LiteralString, *values: object) -> Any:
        rows = await self.rows(sql, *values)
        return rows[0][0] if rows else None

    async def rows(self, sql: LiteralString, *values: object) -> list[Row]:
        return await self._bounded(self._link.fetch(sql, *values))

    async def run(self, sql: LiteralString, *values: object) -> int:
        """Run a statement; how many rows it touched."""
        tag = await self._bounded(self._link.execute(sql, *values))
        count = tag.rsplit(" ", 1)[-1]
        return int(count) if count.isdigit() else 0

    async def copy(self, table: LiteralString, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Load many rows at once. It may take longer than a call, so it has no deadline."""
        await self._link.copy_records_to_table(table, columns=list(columns), records=rows)

    async def _bounded(self, work: Coroutine[Any, Any, T]) -> T:
        return await _within(self._deadline, self._link, work)


async def _within(seconds: float, link: Link, work: Coroutine[Any, Any, T]) -> T:
    """Wait for `work`; past the deadline, or if the caller gives up, drop the connection, which ends `work` as lost."""
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    deadline = loop.call_later(seconds, link.terminate)
    try:
        return await asyncio.shield(task)
    finally:
        deadline.cancel()
        if not task.done():
            link.terminate()
            task.add_done_callback(lambda done: done.cancelled() or done.exception())


async def _part_from(link: Link) -> None:
    with suppress(TimeoutError, *LOST):
        await link.close(timeout=GOODBYE)


class Database:
    def __init__(self, url: str, *, connections: int = 8, deadline: float = 3.0, name: str = "gatepass") -> None:
        self._url = url
        self._deadline = deadline
        self._name = name
        self._free = asyncio.Semaphore(connections)
        self._idle: list[Link] = []
        self._born: WeakKeyDictionary[Link, float] = WeakKeyDictionary()
        self._unreplicated: set[int] = set()

    async def close(self) -> None:
        """Say goodbye, to all at once. Who does not hear it in time is hung up on."""
        leaving, self._idle = self._idle, []
        await asyncio.gather(*(_part_from(link) for link in leaving))

    @asynccontextmanager
    async def transaction(self, address: Address | None = None) -> AsyncGenerator[Tx, None]:
        """A transaction that commits when the block ends and is undone when it raises."""
        async with self._link() as link:
            tx = Tx(link, self._deadline, address)
            await _within(self._deadline, link, link.execute("BEGIN"))
            try:
                yield tx
            except BaseException:
                if not link.is_closed():
                    await _within(self._deadline, link, link.execute("ROLLBACK"))
                raise
            await _within(self._deadline, link, link.execute("COMMIT"))
            self._require_replicated(link)

    @asynccontextmanager
    async def statement(self) -> AsyncGenerator[Tx, None]:
        """Each statement is its own transaction: one round trip, committed when it returns."""
        async with self._link() as link:
            yield Tx(link, self._deadline)
            self._require_replicated(link)

    reading = statement

    @asynccontextmanager
    async def _link(self) -> AsyncGenerator[Link, None]:
        if self._free.locked():
            try:
                await asyncio.wait_for(self._free.acquire(), PATIENCE)
            except TimeoutError:
                raise Overloaded from None
        else:
            await self._free.acquire()
        link: Link | None = None
        try:
            link = await self._connected()
            yield link
        except asyncpg.LockNotAvailableError as held:
            raise Busy from held
        except (*LOST, *PASSING_TROUBLE) as trouble:
            # The next session may be with another server, which can.
            if link is not None:
                link.terminate()
            raise Unavailable from trouble
        finally:
            if link is not None and not link.is_closed() and not link.is_in_transaction():
                self._idle.append(link)
            elif link is not None:
                link.terminate()
            self._free.release()

    async def _connected(self) -> Link:
        while self._idle:
            link = self._idle.pop()
            if link.is_closed():
                continue
            if time.monotonic() - self._born[link] < LIFETIME:
                return link
            link.terminate()  # without a goodbye: a gate waits behind this
        try:
            link = await asyncpg.connect(
                self._url, timeout=self._deadline, server_settings={"application_name": self._name}
            )
        except (OSError, TimeoutError, asyncpg.PostgresError) as unreachable:
            raise Unavailable from unreachable
        link.add_log_listener(self._heard)
        self._born[link] = time.monotonic()
        return link

    def _heard(self, link: object, message: asyncpg.PostgresLogMessage) -> None:
        """A commit may return although no standby has it: the outcome is then unknown."""
        if getattr(message, "sqlstate", None) == SYNC_WAIT_CANCELLED:
            self._unreplicated.add(id(link))

    def _require_replicated(self, link: Link) -> None:
        if id(link) in self._unreplicated:
            self._unreplicated.discard(id(link))
            link.terminate()
            raise Unavailable


def _shaped(kind: type[T], row: Row) -> T:
    """A row as a dataclass: columns and fields have the same names; enums are made from their values."""
    return kind(**{name: row[name] if make is None else make(row[name]) for name, make in _makers(kind)})


_MAKERS: Final[dict[type, list[tuple[str, Any]]]] = {}


def _makers(kind: type) -> list[tuple[str, Any]]:
    if kind not in _MAKERS:
        hints = get_type_hints(kind)
        _MAKERS[kind] = [(field.name, _maker(hints[field.name])) for field in fields(kind)]
    return _MAKERS[kind]


def _maker(hint: object) -> Any:
    return hint if isinstance(hint, type) and issubclass(hint, Enum) else None
