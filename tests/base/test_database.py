"""The database: connections that are lost, transactions, unknown outcomes, rows as dataclasses."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

import asyncpg
import pytest

from gatepass.base.database import CLOSE_TIMEOUT, Database
from gatepass.base.errors import InvalidRequest, Overloaded, Unavailable
from gatepass.base.ids import new_id
from tests.base.sessions import BACKENDS, DEADLINE, answers, on_server, opened
from tests.postgres import free_port
from tests.size import NIGHT


async def written(url: str, id: UUID) -> bool:
    return bool(await on_server(url, "SELECT FROM note WHERE id = $1", id))


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
        async with database.autocommit() as tx:
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


async def test_a_statement_that_was_prepared_for_other_columns_is_prepared_again(url: str) -> None:
    async with opened(url, deadline=5) as database:

        async def read() -> None:
            async with database.transaction() as tx:
                await tx.rows("SELECT * FROM changing")

        await on_server(url, "CREATE TABLE changing (id uuid)")
        await read()
        await on_server(url, "ALTER TABLE changing ADD note text")
        with pytest.raises(Unavailable) as refusal:
            await read()
        assert refusal.value.cause == "schema"
        await read()


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
    async with opened(url) as database, database.autocommit() as tx:
        await tx.run("INSERT INTO note (id) VALUES ($1)", id)
        assert await written(url, id)


async def test_a_transaction_that_somebody_left_open_is_not_handed_on(url: str) -> None:
    async with opened(url) as database:
        async with database.autocommit() as tx:
            await tx.run("BEGIN")
            pid = await tx.value("SELECT pg_backend_pid()")
        async with database.autocommit() as tx:
            assert await tx.value("SELECT pg_backend_pid()") != pid


# ---- a commit that no standby has ------------------------------------------------------------------------------

# PostgreSQL warns with this code that a wait for synchronous replication was cancelled.
WARN: Final = "DO $$ BEGIN RAISE WARNING 'canceling wait for synchronous replication' USING ERRCODE = '01000'; END $$"


class IgnoresWarnings(Database):
    """A mutant that ignores the warning."""

    def _on_message(self, link: object, message: asyncpg.PostgresLogMessage) -> None:  # noqa: ARG002
        return


async def _warned(database: Database) -> None:
    async with database.transaction() as tx:
        await tx.run(WARN)


async def _warned_in_a_statement(database: Database) -> None:
    async with database.autocommit() as tx:
        await tx.run(WARN)


@pytest.mark.parametrize("call", [_warned, _warned_in_a_statement])
async def test_a_commit_that_no_standby_has_is_unknown_and_the_next_call_works(
    url: str, call: Callable[[Database], "asyncio.Future[None]"]
) -> None:
    async with opened(url) as database:
        with pytest.raises(Unavailable):
            await call(database)
        assert await answers(database)


async def test_closing_with_a_frozen_server_takes_one_timeout(url: str) -> None:
    async with opened(url, connections=4, deadline=20) as database:
        await asyncio.gather(*(answers(database) for _ in range(4)))
        frozen = [row["pid"] for row in await on_server(url, BACKENDS, database.name)]
        assert len(frozen) == 4
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            await database.close()
            if NIGHT:
                assert time.monotonic() - began < 2 * CLOSE_TIMEOUT
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)


async def test_a_database_that_ignores_the_warning_would_report_success(url: str) -> None:
    mutant = IgnoresWarnings(url, connections=1, deadline=5)
    await _warned(mutant)
    await mutant.close()


async def test_any_other_notice_means_nothing(url: str) -> None:
    async with opened(url) as database, database.autocommit() as tx:
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
    async with opened(url) as database, database.autocommit() as tx:
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


# ---- after the commit ------------------------------------------------------------------------------------------


async def test_what_waits_for_the_commit_is_called_once_and_only_after_it(url: str) -> None:
    called: list[bool] = []
    id = new_id()
    async with opened(url) as database:
        async with database.transaction() as tx:
            await tx.run("INSERT INTO note (id) VALUES ($1)", id)
            tx.after_commit(lambda: called.append(True))
            assert called == []
        assert (called, await written(url, id)) == ([True], True)


async def test_what_waits_for_the_commit_is_not_called_after_a_rollback(url: str) -> None:
    called: list[bool] = []
    async with opened(url) as database:

        async def call() -> None:
            async with database.transaction() as tx:
                tx.after_commit(lambda: called.append(True))
                raise InvalidRequest

        with pytest.raises(InvalidRequest):
            await call()
    assert called == []


async def test_a_savepoint_undoes_its_block_alone(url: str) -> None:
    kept, undone, called = new_id(), new_id(), list[str]()
    async with opened(url) as database:
        async with database.transaction() as tx:
            await tx.run("INSERT INTO note (id) VALUES ($1)", kept)
            for text in ("first", "second"):
                with suppress(InvalidRequest):
                    async with tx.savepoint():
                        await tx.run("INSERT INTO note (id) VALUES ($1)", undone)
                        tx.after_commit(lambda text=text: called.append(text))
                        raise InvalidRequest
            async with tx.savepoint():
                tx.after_commit(lambda: called.append("third"))
        assert (await written(url, kept), await written(url, undone)) == (True, False)
        assert called == ["third"]
