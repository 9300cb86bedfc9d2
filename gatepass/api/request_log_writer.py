"""The request log of this process. Rows are collected and written in batches.

The row of a read is written within a second; killing the process may lose that second. A change that was refused
before its transaction waits until its row is written.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.api.metrics import Metrics
from gatepass.base.batcher import Batcher
from gatepass.base.database import Database
from gatepass.base.errors import NotNow, Overloaded
from gatepass.base.log import logger
from gatepass.domain import keys, request_log
from gatepass.domain.keys import Address, Caller

# Together with the time of a write this stays under a second.
APART: Final = 0.5
BATCH: Final = 2_000
# About 50 MB. Past it the database has been away for long, and memory is worth more than further reads.
MOST_WAITING: Final = 100_000
USE_EVERY: Final = timedelta(minutes=1)

log = logger(__name__)

KeyId = tuple[UUID, UUID]
Use = tuple[Caller, datetime, Address | None]


class RequestLogWriter:
    def __init__(self, db: Database, metrics: Metrics, changed: Callable[[UUID], None] = lambda _: None) -> None:
        """`changed` is called with the id of a key that has another rate than its caller."""
        self._db = db
        self._metrics = metrics
        self._changed = changed
        self._rows: Batcher[request_log.CallRecord, None] = Batcher(
            self._write, batch=BATCH, waiting=MOST_WAITING, apart=APART
        )
        self._uses: Batcher[Use, None] = Batcher(self._mark_used, batch=BATCH, apart=APART)
        self._last_use: dict[KeyId, datetime] = {}
        self._is_away = asyncio.Event()
        self._is_closing = False

    async def close(self) -> None:
        """Write the rest, if the database answers."""
        self._is_closing = True
        await self._rows.drain()
        await self._uses.drain()

    def note(self, row: request_log.CallRecord) -> None:
        """Write this within a second."""
        self._add(row)

    async def record(self, row: request_log.CallRecord) -> None:
        """Write this now, together with everything that waits. While the database is away, do not wait for it."""
        if (written := self._add(row, urgent=True)) is None:
            return
        away = asyncio.ensure_future(self._is_away.wait())
        try:
            await asyncio.wait({written, away}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            away.cancel()

    def use(self, caller: Caller, at: datetime, address: Address | None) -> None:
        """Remember that a key was used; written about once a minute, when its rate is compared too."""
        key = (caller.organization_id, caller.key_id)
        last = self._last_use.get(key)
        if last is None or at - last >= USE_EVERY:
            self._last_use[key] = at
            self._uses.add((caller, at, address)).add_done_callback(lambda marked: self._forget_failed(marked, key))

    def _add(self, row: request_log.CallRecord, *, urgent: bool = False) -> "asyncio.Future[None] | None":
        try:
            written = self._rows.add(row, urgent=urgent)
        except Overloaded:
            self._metrics.rows_lost.inc()
            return None
        written.add_done_callback(lambda done: self._count_failed(done, row))
        return written

    async def _write(self, rows: Sequence[request_log.CallRecord]) -> Sequence[None]:
        """Write these, as often as it takes. While the database is away, `record` does not wait for them."""
        while True:
            try:
                async with self._db.transaction() as tx:
                    await request_log.write(tx, list(rows))
            except NotNow:
                if self._is_closing:
                    raise
                self._is_away.set()
                await asyncio.sleep(APART)
            else:
                self._is_away.clear()
                return [None] * len(rows)

    async def _mark_used(self, uses: Sequence[Use]) -> Sequence[None]:
        """Store the uses, and compare the rates: the operator may have changed one since the key was cached."""
        used = {(caller.organization_id, caller.key_id): (caller, at, address) for caller, at, address in uses}
        async with self._db.transaction() as tx:
            await keys.mark_used(tx, {key: (at, address) for key, (_, at, address) in used.items()})
            rates = await keys.rates_of(tx, used)
        for rate in rates:
            caller, _, _ = used[rate.organization_id, rate.id]
            if (caller.rate_per_second, caller.burst) != (rate.rate_per_second, rate.burst):
                self._changed(rate.id)
        return [None] * len(uses)

    def _count_failed(self, written: "asyncio.Future[None]", row: request_log.CallRecord) -> None:
        error = written.exception()
        if error is not None and not isinstance(error, NotNow):
            self._metrics.rows_lost.inc()
            log.error("a row of the request log cannot be written", request_id=row.id.hex, exc_info=error)

    def _forget_failed(self, marked: "asyncio.Future[None]", key: KeyId) -> None:
        """The next call with this key tries again."""
        if marked.exception() is not None:
            self._last_use.pop(key, None)
