"""A witness inside PostgreSQL, and a barrier where a record is stopped.

The witness writes down which process made which claim, in the claim's own transaction. So at the end it is known,
not guessed, what was in whose hands at each kill. Both know a process by the settings of its sessions.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

import psycopg

from tests.faults.gates import wait_for

DIES_WITHIN = 60.0


@dataclass
class Barrier:
    """Where a worker's record waits in the middle of its statement, until it is let go."""

    connection: psycopg.AsyncConnection[tuple[Any, ...]]

    @classmethod
    @asynccontextmanager
    async def closed(cls, url: str) -> AsyncGenerator[Self]:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            barrier = cls(connection)
            await barrier._run("SELECT pg_advisory_lock(hashtext('barrier'))")
            yield barrier

    async def somebody_waits(self, within: float = DIES_WITHIN) -> int:
        """The PostgreSQL process that waits here, once there is one."""
        found: list[int] = []

        async def waits() -> bool:
            rows = await self._run("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
            found.extend(row[0] for row in rows)
            return bool(found)

        await wait_for(waits, within=within)
        return found[0]

    async def let_go(self, pid: int) -> None:
        """It finishes its statement, though nobody listens any more."""
        await self._run("SELECT pg_advisory_unlock(hashtext('barrier'))")
        await self._gone(pid)
        await self._run("SELECT pg_advisory_lock(hashtext('barrier'))")

    async def break_off(self, pid: int) -> None:
        """Its statement is undone, as when the whole machine dies."""
        await self._run("SELECT pg_terminate_backend(%s)", pid)
        await self._gone(pid)

    async def _gone(self, pid: int) -> None:
        async def is_gone() -> bool:
            return not await self._run("SELECT FROM pg_stat_activity WHERE pid = %s", pid)

        await wait_for(is_gone, within=DIES_WITHIN)

    async def _run(self, sql: Any, *values: object) -> list[tuple[Any, ...]]:
        return await (await self.connection.execute(sql, values)).fetchall()


# A row of webhook_attempt is written when the queue's rows are already deleted and the deliveries not yet changed;
# before rows are deleted, nothing has been decided.
WITNESS = """
    CREATE TABLE witnessed_claim (worker text NOT NULL, delivery_id uuid NOT NULL, attempt integer NOT NULL);

    CREATE FUNCTION witness_claim() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO witnessed_claim VALUES (current_setting('gatepass.worker'), NEW.delivery_id, NEW.attempt);
        RETURN NULL;
    END $$;

    CREATE TRIGGER witness_claim AFTER UPDATE ON webhook_queue
        FOR EACH ROW WHEN (NEW.attempt > OLD.attempt) EXECUTE FUNCTION witness_claim();

    CREATE FUNCTION stop_at_barrier() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        countdown integer;
        inside text;
    BEGIN
        GET DIAGNOSTICS inside = PG_CONTEXT;
        IF current_setting('gatepass.stops_at', true) = TG_ARGV[0] AND inside LIKE '%record_attempts%' THEN
            countdown := current_setting('gatepass.countdown')::integer - 1;
            PERFORM set_config('gatepass.countdown', countdown::text, false);
            IF countdown = 0 THEN
                PERFORM pg_advisory_xact_lock_shared(hashtext('barrier'));
            END IF;
        END IF;
        RETURN NEW;
    END $$;

    CREATE TRIGGER stop_at_attempt BEFORE INSERT ON webhook_attempt
        FOR EACH ROW EXECUTE FUNCTION stop_at_barrier('attempt');
    CREATE TRIGGER stop_at_deletion BEFORE DELETE ON webhook_queue
        FOR EACH STATEMENT EXECUTE FUNCTION stop_at_barrier('deletion');
"""
