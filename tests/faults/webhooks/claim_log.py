"""A log of claims inside PostgreSQL, and a barrier that stops a record.

A trigger logs which process made which claim, in the claim's own transaction. So at the end it is known which process
held which delivery at each kill. Both identify a process by the settings of its sessions.
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
    """A worker's record waits here in the middle of its statement, until it is released."""

    connection: psycopg.AsyncConnection[tuple[Any, ...]]

    @classmethod
    @asynccontextmanager
    async def closed(cls, url: str) -> AsyncGenerator[Self]:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            barrier = cls(connection)
            await barrier._run("SELECT pg_advisory_lock(hashtext('barrier'))")
            yield barrier

    async def wait_for_arrival(self, within: float = DIES_WITHIN) -> int:
        """Wait for a PostgreSQL process at the barrier; its pid."""
        found: list[int] = []

        async def waits() -> bool:
            rows = await self._run("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
            found.extend(row[0] for row in rows)
            return bool(found)

        await wait_for(waits, within=within)
        return found[0]

    async def release(self, pid: int) -> None:
        """Let it finish its statement, although its client is dead."""
        await self._run("SELECT pg_advisory_unlock(hashtext('barrier'))")
        await self._gone(pid)
        await self._run("SELECT pg_advisory_lock(hashtext('barrier'))")

    async def terminate(self, pid: int) -> None:
        """Roll its statement back, as when the whole machine dies."""
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
CLAIM_LOG = """
    CREATE TABLE claim_log (worker text NOT NULL, delivery_id uuid NOT NULL, attempt integer NOT NULL);

    CREATE FUNCTION log_claim() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO claim_log VALUES (current_setting('gatepass.worker'), NEW.delivery_id, NEW.attempt);
        RETURN NULL;
    END $$;

    CREATE TRIGGER log_claim AFTER UPDATE ON webhook_queue
        FOR EACH ROW WHEN (NEW.attempt > OLD.attempt) EXECUTE FUNCTION log_claim();

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
