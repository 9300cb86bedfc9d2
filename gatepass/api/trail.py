"""The audit trail of this process: rows are gathered and written together.

Reads are noted and written within a second; killing the process may lose that second. A change that
was refused before its transaction waits until its row is written.
"""

import asyncio
import contextlib
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.api.metrics import Metrics
from gatepass.base.database import Database
from gatepass.base.log import logger
from gatepass.base.refusals import Overloaded, Unavailable
from gatepass.domain import audit, keys
from gatepass.domain.keys import Address, Caller

# Together with the time of a write this keeps the promise of a second.
GATHERING: Final = 0.5
BATCH: Final = 2_000
# About 50 MB. Past it the database has been away for long, and memory is worth more than the oldest reads.
MOST_WAITING: Final = 100_000
USE_EVERY: Final = timedelta(minutes=1)

log = logger(__name__)

Waiting = tuple[audit.Call, "asyncio.Future[None] | None"]


class Trail:
    def __init__(self, db: Database, metrics: Metrics) -> None:
        self._db = db
        self._metrics = metrics
        self._waiting: list[Waiting] = []
        self._something = asyncio.Event()
        self._urgent = asyncio.Event()
        self._used: dict[tuple[UUID, UUID], tuple[datetime, Address | None]] = {}
        self._used_written: dict[tuple[UUID, UUID], datetime] = {}
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        self._task = asyncio.create_task(self._keep_writing())

    async def close(self) -> None:
        """Write what is left, then stop."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        with contextlib.suppress(Unavailable, Overloaded):
            while self._waiting:
                await self._write_some()

    def note(self, row: audit.Call) -> None:
        """Write this within a second."""
        if len(self._waiting) >= MOST_WAITING:
            self._metrics.audit_lost.inc()
            return
        self._waiting.append((row, None))
        self._something.set()

    async def record(self, row: audit.Call) -> None:
        """Write this now, together with whatever else waits."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((row, written))
        self._something.set()
        self._urgent.set()
        await written

    def use(self, caller: Caller, at: datetime, address: Address | None) -> None:
        """Remember that a key was used; written about once a minute."""
        key = (caller.organization_id, caller.key_id)
        last = self._used_written.get(key)
        if last is None or at - last >= USE_EVERY:
            self._used[key] = (at, address)
            self._something.set()

    async def _keep_writing(self) -> None:
        while True:
            await self._something.wait()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._urgent.wait(), GATHERING)
            try:
                await self._write_some()
            except (Unavailable, Overloaded):
                await self._wait_for_the_database()
            except Exception:
                log.exception("the trail stumbled")
                await self._wait_for_the_database()

    async def _wait_for_the_database(self) -> None:
        """Nobody waits for a row while it cannot be written; it stays here until it can."""
        self._release(self._waiting)
        self._waiting = [(row, None) for row, _ in self._waiting]
        await asyncio.sleep(GATHERING)

    async def _write_some(self) -> None:
        batch, used = self._waiting[:BATCH], dict(self._used)
        self._urgent.clear()
        await self._write([row for row, _ in batch])
        del self._waiting[: len(batch)]
        self._release(batch)
        await self._write_used(used)
        if not self._waiting and not self._used:
            self._something.clear()

    async def _write(self, rows: list[audit.Call]) -> None:
        """Write these. If they cannot be written, write their halves, until only the culprit is given up."""
        if not rows:
            return
        try:
            async with self._db.transaction() as tx:
                await audit.write(tx, rows)
        except (Unavailable, Overloaded):
            raise
        except Exception:
            if len(rows) > 1:
                await self._write(rows[: len(rows) // 2])
                await self._write(rows[len(rows) // 2 :])
                return
            self._metrics.audit_lost.inc()
            log.exception("an audit row cannot be written", request_id=rows[0].id.hex)

    def _release(self, rows: list[Waiting]) -> None:
        for _, written in rows:
            if written is not None and not written.done():
                written.set_result(None)

    async def _write_used(self, used: dict[tuple[UUID, UUID], tuple[datetime, Address | None]]) -> None:
        if not used:
            return
        async with self._db.transaction() as tx:
            await keys.mark_used(tx, used)
        self._used = {key: use for key, use in self._used.items() if used.get(key) is not use}
        self._used_written |= {key: at for key, (at, _) in used.items()}
