"""The floor under every transaction: deadlines that never cancel, connections that come back, unknown outcomes."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import asyncpg
import psycopg
import pytest

from gatepass.base.database import GOODBYE, Database
from gatepass.base.ids import new_id
from gatepass.base.refusals import InvalidRequest, Overloaded, Unavailable
from tests.postgres import Cluster, free_port

# Longer than any test; nobody waits for it.
FOREVER: Final = "SELECT pg_sleep(300)"
DEADLINE: Final = 0.3
# What a client sends on a connection of its own to have a statement cancelled: a length and a code.
CANCEL_REQUEST: Final = (16).to_bytes(4, "big") + (80877102).to_bytes(4, "big")


@dataclass
class Wire:
    """A proxy before PostgreSQL that counts connections, and those among them that are there to cancel."""

    url: str
    cancelled: asyncio.Event
    cancels: int = 0
    connections: int = 0
    pumps: list["asyncio.Task[None]"] = field(default_factory=list["asyncio.Task[None]"])


@asynccontextmanager
async def wire(target: str) -> AsyncGenerator[Wire]:
    parts = urlsplit(target)
    port, cancelled = free_port(), asyncio.Event()
    seen = Wire(urlunsplit(parts._replace(netloc=f"postgres@127.0.0.1:{port}")), cancelled)

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


@asynccontextmanager
async def opened(url: str, *, connections: int = 1, deadline: float = DEADLINE) -> AsyncGenerator[Database]:
    """A database with a name that `backends` finds. What is left asleep on the server is put down."""
    name = f"floor {new_id().hex[-12:]}"
    database = Database(url, connections=connections, deadline=deadline, name=name)
    try:
        yield database
    finally:
        await database.close()
        await on_server(url, TERMINATE, name)


async def on_server(url: str, statement: str, *values: object) -> list[asyncpg.Record]:
    """Ask over a connection of its own."""
    link = await asyncpg.connect(url)
    try:
        return await link.fetch(statement, *values)
    finally:
        await link.close()


TERMINATE: Final = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1"

BACKENDS: Final = """
    SELECT state, query, wait_event, pid FROM pg_stat_activity WHERE application_name = $1 AND datname IS NOT NULL
"""


async def answers(database: Database) -> bool:
    async with database.statement() as tx:
        return await tx.value("SELECT 1") == 1


@pytest.fixture(scope="module")
def url(cluster: Cluster) -> str:
    """A database with a table, and with a commit that hangs."""
    made = cluster.create_database("gatepass_floor")
    with psycopg.connect(made, autocommit=True) as connection:
        connection.execute("CREATE TABLE note (id uuid PRIMARY KEY)")
        connection.execute("CREATE TABLE stuck (id uuid PRIMARY KEY)")
        connection.execute(
            "CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN PERFORM pg_sleep(300); RETURN NULL; END $$"
        )
        connection.execute(
            "CREATE CONSTRAINT TRIGGER hang AFTER INSERT ON stuck DEFERRABLE INITIALLY DEFERRED"
            " FOR EACH ROW EXECUTE FUNCTION hang()"
        )
    return made


async def written(url: str, id: UUID) -> bool:
    return bool(await on_server(url, "SELECT FROM note WHERE id = $1", id))


# ---- the deadline ----------------------------------------------------------------------------------------------


async def test_past_the_deadline_the_outcome_is_unknown_and_the_next_call_works(url: str) -> None:
    async with opened(url) as database:
        with pytest.raises(Unavailable):
            async with database.statement() as tx:
                await tx.run(FOREVER)
        assert await answers(database)


async def test_past_the_deadline_the_connection_is_closed_and_the_statement_is_not_cancelled(url: str) -> None:
    async with wire(url) as seen, opened(seen.url) as database:
        with pytest.raises(Unavailable):
            async with database.statement() as tx:
                await tx.run(FOREVER)
        (backend,) = await on_server(url, BACKENDS, database._name)
        assert (backend["state"], backend["wait_event"]) == ("active", "PgSleep"), "it was left alone"
        assert await answers(database)
        assert (seen.connections, seen.cancels) == (2, 0), "another one was opened, and none to cancel"


async def test_asyncpgs_own_timeout_would_cancel(url: str) -> None:
    """The same wire sees a request to cancel where there is one, so the test above is able to fail."""
    async with wire(url) as seen:
        link = await asyncpg.connect(seen.url)
        with pytest.raises(TimeoutError):
            await link.fetch(FOREVER, timeout=0.05)
        async with asyncio.timeout(10):
            await seen.cancelled.wait()
        await link.close()
    assert seen.cancels == 1


async def test_a_commit_past_the_deadline_is_not_cancelled_either(url: str) -> None:
    async with wire(url) as seen, opened(seen.url) as database:
        with pytest.raises(Unavailable):
            async with database.transaction() as tx:
                await tx.run("INSERT INTO stuck (id) VALUES ($1)", new_id())
        (backend,) = await on_server(url, BACKENDS, database._name)
        assert (backend["state"], backend["query"]) == ("active", "COMMIT")
        assert seen.cancels == 0


async def test_a_caller_who_gives_up_closes_the_connection_and_cancels_nothing(url: str) -> None:
    async with wire(url) as seen, opened(seen.url, deadline=60) as database:

        async def call() -> None:
            async with database.transaction() as tx:
                await tx.run(FOREVER)

        task = asyncio.create_task(call())
        asleep: list[asyncpg.Record] = []
        async with asyncio.timeout(10):
            while not asleep:
                asleep = [
                    one for one in await on_server(url, BACKENDS, database._name) if one["wait_event"] == "PgSleep"
                ]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await answers(database)
        assert seen.cancels == 0


# ---- connections that are lost ---------------------------------------------------------------------------------


async def test_a_backend_that_is_killed_in_a_call_is_unavailable_and_the_next_call_works(url: str) -> None:
    async with opened(url, deadline=30) as database:

        async def call() -> None:
            async with database.transaction() as tx:
                pid = await tx.value("SELECT pg_backend_pid()")
                await on_server(url, "SELECT pg_terminate_backend($1, 5000)", pid)
                await tx.run("SELECT 1")

        with pytest.raises(Unavailable):
            await call()
        assert await answers(database)


async def test_a_backend_that_is_killed_while_nobody_calls_costs_at_most_one_call(url: str) -> None:
    async with opened(url, connections=3, deadline=30) as database:
        async with database.statement() as tx:
            pid = await tx.value("SELECT pg_backend_pid()")
        await on_server(url, "SELECT pg_terminate_backend($1, 5000)", pid)
        with suppress(Unavailable):
            await answers(database)
        assert await answers(database)


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    database = Database(f"postgresql://postgres@127.0.0.1:{free_port()}/nowhere", deadline=DEADLINE)
    with pytest.raises(Unavailable):
        await answers(database)


async def test_more_calls_than_connections_are_overloaded_and_not_queued_for_long(url: str) -> None:
    async with opened(url, connections=1, deadline=5) as database:
        async with database.transaction():
            with pytest.raises(Overloaded):
                await answers(database)
        assert await answers(database)


async def test_a_lock_that_is_not_to_be_had_is_unavailable(url: str) -> None:
    async with opened(url, connections=2, deadline=5) as database, database.transaction() as holder:
        await holder.run("LOCK TABLE note")
        with pytest.raises(Unavailable):
            async with database.transaction() as tx:
                await tx.run("LOCK TABLE note NOWAIT")
        assert await answers(database)


# ---- transactions ----------------------------------------------------------------------------------------------


async def test_a_transaction_commits_when_its_block_ends(url: str) -> None:
    id = new_id()
    async with opened(url) as database, database.transaction() as tx:
        await tx.run("INSERT INTO note (id) VALUES ($1)", id)
        assert not await written(url, id)
    assert await written(url, id)


async def test_a_transaction_whose_block_raises_is_undone(url: str) -> None:
    id = new_id()
    async with opened(url) as database:

        async def call() -> None:
            async with database.transaction() as tx:
                await tx.run("INSERT INTO note (id) VALUES ($1)", id)
                raise InvalidRequest

        with pytest.raises(InvalidRequest):
            await call()
        assert not await written(url, id)
        assert await answers(database)


async def test_a_statement_is_committed_when_it_returns(url: str) -> None:
    id = new_id()
    async with opened(url) as database, database.statement() as tx:
        await tx.run("INSERT INTO note (id) VALUES ($1)", id)
        assert await written(url, id)


async def test_a_transaction_that_somebody_left_open_is_not_handed_on(url: str) -> None:
    async with opened(url) as database:
        async with database.statement() as tx:
            await tx.run("BEGIN")
            pid = await tx.value("SELECT pg_backend_pid()")
        async with database.statement() as tx:
            assert await tx.value("SELECT pg_backend_pid()") != pid


# ---- a commit that no standby has ------------------------------------------------------------------------------

# What PostgreSQL says of a wait for synchronous replication that was cancelled has this code.
WARN: Final = "DO $$ BEGIN RAISE WARNING 'canceling wait for synchronous replication' USING ERRCODE = '01000'; END $$"


class Deaf(Database):
    """A mutant that does not listen."""

    def _heard(self, link: object, message: asyncpg.PostgresLogMessage) -> None:  # noqa: ARG002
        return


async def _warned(database: Database) -> None:
    async with database.transaction() as tx:
        await tx.run(WARN)


async def _warned_in_a_statement(database: Database) -> None:
    async with database.statement() as tx:
        await tx.run(WARN)


@pytest.mark.parametrize("call", [_warned, _warned_in_a_statement])
async def test_a_commit_that_no_standby_has_is_unknown_and_the_next_call_works(
    url: str, call: Callable[[Database], "asyncio.Future[None]"]
) -> None:
    async with opened(url) as database:
        with pytest.raises(Unavailable):
            await call(database)
        assert await answers(database)


async def test_leaving_a_server_that_is_frozen_takes_one_goodbye(url: str) -> None:
    async with opened(url, connections=4, deadline=20) as database:
        await asyncio.gather(*(answers(database) for _ in range(4)))
        frozen = [row["pid"] for row in await on_server(url, BACKENDS, database._name)]
        assert len(frozen) == 4
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            await database.close()
            assert time.monotonic() - began < 2 * GOODBYE
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)


async def test_a_database_that_does_not_listen_would_say_that_all_is_well(url: str) -> None:
    deaf = Deaf(url, connections=1, deadline=5)
    await _warned(deaf)
    await deaf.close()


async def test_any_other_notice_means_nothing(url: str) -> None:
    async with opened(url) as database, database.statement() as tx:
        await tx.run("DO $$ BEGIN RAISE NOTICE 'by the way'; RAISE WARNING 'look' USING ERRCODE = '01007'; END $$")


# ---- rows ------------------------------------------------------------------------------------------------------


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Thing:
    id: int
    colour: Colour
    name: str | None


async def test_rows_become_dataclasses_by_the_names_of_their_columns(url: str) -> None:
    async with opened(url) as database, database.reading() as tx:
        things = await tx.all(Thing, "SELECT NULL AS name, 'red' AS colour, n AS id FROM generate_series(1, 2) n")
        assert things == [Thing(1, Colour.RED, None), Thing(2, Colour.RED, None)]
        assert isinstance(things[0].colour, Colour)
        assert await tx.one(Thing, "SELECT 1 AS id, 'red' AS colour, 'x' AS name WHERE false") is None
        assert await tx.value("SELECT 1 WHERE false") is None


async def test_a_statement_tells_how_many_rows_it_touched(url: str) -> None:
    async with opened(url) as database, database.transaction() as tx:
        assert await tx.run("INSERT INTO note SELECT gen_random_uuid() FROM generate_series(1, 3)") == 3
        assert await tx.run("DELETE FROM note WHERE false") == 0
        assert await tx.run("SET LOCAL lock_timeout = 0") == 0
