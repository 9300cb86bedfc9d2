"""The gatehouse: what the API keeps for as long as its process lives. Made when the door opens, handed inwards."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cached_property
from typing import Final
from wsgiref.simple_server import WSGIServer

from gatepass.api.errors import VERDICT_STATUSES
from gatepass.api.keyring import KeyRing
from gatepass.api.metrics import Metrics
from gatepass.api.sharing import SharedLimits
from gatepass.api.signatures import Signatures
from gatepass.api.trail import Trail
from gatepass.base.clock import Clock, system_clock
from gatepass.base.database import PATIENCE, Database
from gatepass.base.gatherer import Gatherer
from gatepass.base.refusals import Busy, Overloaded, Refusal, Unavailable
from gatepass.base.settings import Settings
from gatepass.base.vault import Vault
from gatepass.domain import cards, tickets
from gatepass.domain.cards import Question, Verification
from gatepass.domain.keys import InvalidKey
from gatepass.domain.limits import Buckets
from gatepass.domain.tickets import Scan, Verdict

# Larger batches cost less a scan, but each of them waits for the whole; past 128 little is gained.
BATCH: Final = 128
# A second batch flies only when it is full: on two cores, larger batches won over more of them.
LANES: Final = 2
# Less than half a second of scans. A gate is better told to try again than kept waiting.
MOST_WAITING: Final = 2_000


class Gatehouse:
    def __init__(self, settings: Settings, clock: Clock = system_clock) -> None:
        self.settings = settings
        self.clock = clock
        self.monotonic = time.monotonic
        self.metrics = Metrics()
        self.buckets = Buckets()
        self.failures = Buckets()
        self.db = Database(
            settings.database_url.get_secret_value(),
            connections=settings.database_connections,
            deadline=settings.database_deadline,
            name="gatepass api",
        )
        self.keys = KeyRing(self.db)
        self.signatures = Signatures(self.db)
        self.trail = Trail(self.db, self.metrics)
        self.scans: Gatherer[Scan, Verdict | None] = Gatherer(
            self._activate, batch=BATCH, waiting=MOST_WAITING, lanes=LANES
        )
        self.questions: Gatherer[Question, Verification] = Gatherer(
            self._verify, batch=BATCH, waiting=MOST_WAITING, lanes=LANES
        )
        self._shared = (
            SharedLimits(settings.valkey_url.get_secret_value(), self.buckets, self.metrics, self.monotonic)
            if settings.valkey_url
            else None
        )
        self._metrics_server: WSGIServer | None = None
        self._counting = asyncio.Semaphore(1)

    @cached_property
    def vault(self) -> Vault:
        """For the secrets of webhook endpoints. `gatepass serve` does not start without a key; tests may."""
        return self.settings.vault()

    @asynccontextmanager
    async def counting(self) -> AsyncGenerator[None]:
        """Counting a million rows holds a connection for a second: one call at a time, so that gates find theirs."""
        try:
            await asyncio.wait_for(self._counting.acquire(), PATIENCE)
        except TimeoutError:
            raise Overloaded from None
        try:
            yield
        finally:
            self._counting.release()

    def open(self) -> None:
        self.trail.open()
        if self._shared is not None:
            self._shared.open()
        if self.settings.metrics_port:
            self._metrics_server = self.metrics.serve(self.settings.host, self.settings.metrics_port)

    async def close(self) -> None:
        """Finish what was taken in, then write down what is left."""
        await self.scans.drain()
        await self.questions.drain()
        if self._shared is not None:
            await self._shared.close()
        await self.trail.close()
        await self.db.close()
        if self._metrics_server is not None:
            self._metrics_server.shutdown()
            self._metrics_server.server_close()

    async def _activate(self, scans: Sequence[Scan]) -> Sequence[Verdict | Exception | None]:
        """Activate a batch. If the connection is lost meanwhile, a retry key tells what became of its scan."""
        at, began = self.clock(), self.monotonic()
        try:
            return await self._activated(scans, at)
        except Busy:  # nothing was done
            raise
        except Unavailable as unknown:
            if self.monotonic() - began > self.settings.database_deadline / 2:
                raise
            return await self._found_again(scans, at, unknown)

    async def _found_again(
        self, scans: Sequence[Scan], at: datetime, unknown: Unavailable
    ) -> Sequence[Verdict | Exception | None]:
        """Scans with a retry key may be run again; of the others nobody knows, and they must not be."""
        findable = [scan for scan in scans if scan.retry_key is not None]
        try:
            found = dict(zip(findable, await self._activated(findable, at), strict=True)) if findable else {}
        except Refusal:
            found = {}
        return [found.get(scan, unknown) for scan in scans]

    async def _activated(self, scans: Sequence[Scan], at: datetime) -> list[Verdict | None]:
        async with self.db.statement() as tx:
            return await tickets.activate(tx, scans, at=at, statuses=VERDICT_STATUSES)

    async def _verify(self, questions: Sequence[Question]) -> Sequence[Verification | InvalidKey]:
        async with self.db.reading() as tx:
            return await cards.verify(tx, questions, at=self.clock())
