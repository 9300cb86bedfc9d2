"""A deadline closes the connection and never cancels a statement."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from gatepass.base.database import Database
from gatepass.base.errors import Unavailable
from gatepass.base.ids import new_id
from tests.base.sessions import BACKENDS, answers, on_server, opened
from tests.postgres import free_port

# Longer than any test; nothing waits for it.
FOREVER: Final = "SELECT pg_sleep(300)"
LONG_ENOUGH_TO_CONNECT: Final = 2.0
# A cancel request on a connection of its own begins with a length and a code.
CANCEL_REQUEST: Final = (16).to_bytes(4, "big") + (80877102).to_bytes(4, "big")


@dataclass
class Proxy:
    """A proxy in front of PostgreSQL that counts connections and cancel requests."""

    url: str
    cancelled: asyncio.Event
    cancels: int = 0
    connections: int = 0
    pumps: list["asyncio.Task[None]"] = field(default_factory=list["asyncio.Task[None]"])


@asynccontextmanager
async def proxy(target: str) -> AsyncGenerator[Proxy]:
    parts = urlsplit(target)
    port, cancelled = free_port(), asyncio.Event()
    seen = Proxy(urlunsplit(parts._replace(netloc=f"postgres@127.0.0.1:{port}")), cancelled)

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.connections += 1
        onward_reader, onward_writer = await asyncio.open_connection(parts.hostname, parts.port)
        seen.pumps += [
            asyncio.create_task(_pump(reader, onward_writer, look)),
            asyncio.create_task(_pump(onward_reader, writer)),
        ]

    def look(part: bytes) -> None:
        if part.startswith(CANCEL_REQUEST):
            seen.cancels += 1
            cancelled.set()

    server = await asyncio.start_server(pass_on, "127.0.0.1", port)
    try:
        yield seen
    finally:
        server.close()
        for pump in seen.pumps:
            pump.cancel()
        await asyncio.gather(*seen.pumps, return_exceptions=True)


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, look: Callable[[bytes], object] = len
) -> None:
    try:
        with suppress(ConnectionError):
            while part := await reader.read(65536):
                look(part)
                writer.write(part)
                await writer.drain()
    finally:
        writer.close()


async def test_past_the_deadline_the_outcome_is_unknown_and_the_next_call_works(url: str) -> None:
    async with opened(url) as database:
        with pytest.raises(Unavailable):
            async with database.autocommit() as tx:
                await tx.run(FOREVER)
        assert await answers(database)


async def test_past_the_deadline_the_connection_is_closed_and_the_statement_is_not_cancelled(url: str) -> None:
    async with proxy(url) as seen, opened(seen.url) as database:
        with pytest.raises(Unavailable):
            async with database.autocommit() as tx:
                await tx.run(FOREVER)
        (backend,) = await on_server(url, BACKENDS, database.name)
        assert (backend["state"], backend["wait_event"]) == ("active", "PgSleep"), "it was left alone"
        assert await answers(database)
        # One for the next call, one to find out whether commits go on; none to cancel.
        assert (seen.connections in (2, 3), seen.cancels) == (True, 0)


async def test_asyncpgs_own_timeout_would_cancel(url: str) -> None:
    """The same proxy sees a cancel request where there is one, so the test above is able to fail."""
    async with proxy(url) as seen:
        link = await asyncpg.connect(seen.url)
        with pytest.raises(TimeoutError):
            await link.fetch(FOREVER, timeout=0.05)
        async with asyncio.timeout(60):
            await seen.cancelled.wait()
        await link.close()
    assert seen.cancels == 1


@pytest.mark.parametrize("turns", [2, 3, 6])
async def test_a_deadline_that_passes_between_two_steps_of_a_statement(url: str, turns: int) -> None:
    """The loop stalls. Then the answer to the first step and the deadline are met in the same turn of it."""
    async with opened(url, deadline=LONG_ENOUGH_TO_CONNECT) as database:

        async def call() -> None:
            async with database.autocommit() as tx:
                assert await tx.value("SELECT 1::bigint")

        assert await answers(database)
        task = asyncio.create_task(call())
        for _ in range(turns):
            await asyncio.sleep(0)
        _stall(LONG_ENOUGH_TO_CONNECT + 0.1)
        with suppress(Unavailable):
            await task
        assert await answers(database)


def _stall(seconds: float) -> None:
    time.sleep(seconds)


async def test_a_commit_past_the_deadline_is_not_cancelled_either(url: str) -> None:
    async with proxy(url) as seen, opened(seen.url) as database:
        with pytest.raises(Unavailable):
            async with database.transaction() as tx:
                await tx.run("INSERT INTO stuck (id) VALUES ($1)", new_id())
        (backend,) = await on_server(url, BACKENDS, database.name)
        assert (backend["state"], backend["query"]) == ("active", "COMMIT")
        assert seen.cancels == 0


async def test_a_caller_who_gives_up_closes_the_connection_and_cancels_nothing(url: str) -> None:
    async with proxy(url) as seen, opened(seen.url, deadline=60) as database:

        async def call() -> None:
            async with database.transaction() as tx:
                await tx.run(FOREVER)

        task = asyncio.create_task(call())
        asleep: list[asyncpg.Record] = []
        async with asyncio.timeout(60):
            while not asleep:
                asleep = [
                    one for one in await on_server(url, BACKENDS, database.name) if one["wait_event"] == "PgSleep"
                ]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await answers(database)
        assert seen.cancels == 0


@pytest.mark.parametrize("how", ["its deadline", "its caller"])
async def test_a_statement_that_was_given_up_does_not_go_on_with_its_locks(database_url: str, how: str) -> None:
    """Its connection is closed, and PostgreSQL would notice that only when it has something to say."""
    own = Database(database_url, deadline=0.5 if how == "its deadline" else 60)
    watching = Database(database_url)

    async def lock_and_wait() -> None:
        async with own.transaction() as tx:
            await tx.run("SELECT pg_advisory_xact_lock(4711)")
            await tx.run("SELECT pg_sleep(600)")

    async def is_held() -> bool:
        async with watching.autocommit() as tx:
            return await tx.value("SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711)")

    working = asyncio.create_task(lock_and_wait())
    if how == "its caller":
        while not await is_held():  # noqa: ASYNC110  PostgreSQL tells nobody
            await asyncio.sleep(0.01)
        working.cancel()
    with suppress(Unavailable, asyncio.CancelledError):
        await working
    async with asyncio.timeout(60):
        while await is_held():  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    for database in (own, watching):
        await database.close()
