"""The commit probe: does PostgreSQL commit now? A server that only reads, or whose standbys are gone, does not.

It writes an empty message to the log (WAL), so it needs no table, and waits for the standbys as every commit does. A
probe that takes too long is cancelled: nobody waits for its outcome, and no session of it stays on the server.

It asks for PostgreSQL's time too, so that the clocks are compared as often, and at no cost.
"""

import asyncio
import time
from contextlib import suppress
from contextvars import Context
from typing import Final

import asyncpg

from gatepass.base.clock import ClockSkew
from gatepass.base.log import logger
from gatepass.base.postgres_hosts import NOT_WANTED, UNREACHABLE, Link, PostgresHosts

# Seconds for which a success holds: a caller of /readyz must not be able to make us write without end.
FRESH: Final = 0.5
COMMIT_WITHIN: Final = 1.0
CANCEL_WITHIN: Final = 0.5
# Seconds between two probes, while none succeeds.
APART: Final = 0.2
# Its time, and whether the server is read-only; if it is not, the message is written.
PROBE: Final = """
    SELECT clock_timestamp(),
           CASE WHEN current_setting('transaction_read_only')::boolean THEN true
                ELSE pg_logical_emit_message(true, 'gatepass', '') IS NULL END
"""
# A commit after this waits for a standby, which then has everything before it too.
WAIT_FOR_STANDBY: Final = "SELECT pg_logical_emit_message(true, 'gatepass', '')"

DOES_NOT_ANSWER: Final = "PostgreSQL does not answer."
READ_ONLY: Final = "PostgreSQL is read-only: this is a standby, or a primary that gives up its place."
DOES_NOT_COMMIT: Final = "PostgreSQL answers, but no commit ends. Is a synchronous standby missing?"
NOT_PREPARED: Final = (
    "The pooler in front of PostgreSQL keeps no prepared statements."
    " Use PgBouncer 1.21 or newer, with max_prepared_statements above 0."
)

log = logger(__name__)


class CommitProbe:
    def __init__(self, url: str, name: str) -> None:
        self.skew = ClockSkew()
        self._hosts = PostgresHosts(url, name)
        self._link: Link | None = None
        self._running: asyncio.Task[str | None] | None = None
        self._succeeded = -FRESH

    async def trouble(self) -> str | None:
        """Why no commit succeeds now; None if one does. Callers that come together share a probe."""
        if time.monotonic() - self._succeeded < FRESH:
            return None
        if self._running is None:
            self._running = asyncio.create_task(self._probe())
        return await asyncio.shield(self._running)

    async def close(self) -> None:
        if self._running is not None:
            await asyncio.wait([self._running])
        if self._link is not None:
            self._link.terminate()

    async def _probe(self) -> str | None:
        try:
            reason = await self._tried()
            if reason is None:
                self._succeeded = time.monotonic()
            elif self._link is not None:
                link, self._link = self._link, None
                self._hosts.avoid(link)
                await _cancel(link)
            return reason
        finally:
            self._running = None

    async def _tried(self) -> str | None:
        try:
            if self._link is None or self._link.is_closed():
                self._link = await self._hosts.connect(COMMIT_WITHIN)
            asked = self.skew.own()
            row = await self._link.fetchrow(PROBE, timeout=COMMIT_WITHIN)
            assert row is not None  # noqa: S101  it asks for one
            server, is_read_only = row
            self.skew.measure(asked, server)
        except TimeoutError:
            return DOES_NOT_COMMIT if self._link is not None else DOES_NOT_ANSWER
        except asyncpg.InvalidSQLStatementNameError:
            return NOT_PREPARED
        except NOT_WANTED:
            return READ_ONLY
        except UNREACHABLE:
            return DOES_NOT_ANSWER
        return READ_ONLY if is_read_only else None


class CommitWatch:
    """Watches for commits to go on again, once a call was lost (a circuit breaker). `stalled`: none succeeds now."""

    def __init__(self, probe: CommitProbe) -> None:
        self.probe = probe
        self.stalled = False
        self._watching: asyncio.Task[None] | None = None

    def suspect(self) -> None:
        """A call was lost. That may be all; so commits are refused only when a probe has failed too."""
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch(), context=Context())

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
        await self.probe.close()

    async def _watch(self) -> None:
        try:
            while (reason := await self.probe.trouble()) is not None:
                if not self.stalled:
                    log.warning("no commit succeeds", reason=reason)
                self.stalled = True
                await asyncio.sleep(APART)
            if self.stalled:
                log.warning("commits succeed again")
        finally:
            self.stalled, self._watching = False, None


async def _cancel(link: Link) -> None:
    """Close a connection whose statement was cancelled. asyncpg sends the request to cancel meanwhile."""
    with suppress(TimeoutError, *UNREACHABLE):
        await link.close(timeout=CANCEL_WITHIN)
