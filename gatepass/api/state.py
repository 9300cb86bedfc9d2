"""The state of an API process: database, caches, batchers, rate limits, metrics. Made once, passed to every handler."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import datetime
from functools import cached_property
from typing import Final
from wsgiref.simple_server import WSGIServer

from gatepass.api.catalogue import Catalogue
from gatepass.api.key_cache import ApiKeyCache, PublicKeyCache
from gatepass.api.manifests.hub import ManifestHub
from gatepass.api.metrics import Metrics
from gatepass.api.pairing.limits import PairingLimits
from gatepass.api.request_log_writer import RequestLogWriter
from gatepass.api.responses import VERDICT_STATUSES
from gatepass.api.shared_limits import SharedLimits
from gatepass.base.batcher import Batcher
from gatepass.base.clock import Clock, system_clock
from gatepass.base.deadline import seconds_left
from gatepass.base.encryption import Vault
from gatepass.base.errors import Busy, Overloaded, Refusal, Unavailable
from gatepass.base.settings import Settings
from gatepass.base.tracing.batcher import batcher
from gatepass.base.tracing.database import database
from gatepass.base.tracing.tracer import Tracer
from gatepass.domain import cards, journal, tickets
from gatepass.domain.cards import Verification, VerificationRequest
from gatepass.domain.journal import EntryResult, ReadEntry
from gatepass.domain.keys import InvalidKey
from gatepass.domain.limits import Buckets
from gatepass.domain.tickets import Scan, ScanOutcome
from gatepass.health import Readiness

# A larger batch costs less per scan, but every scan waits for the whole batch. Past 128 little is gained.
BATCH: Final = 128
# The second flight starts only with a full batch: on two cores, larger batches were faster than more of them.
FLIGHTS: Final = 2
# Calls that change something hold at most one in so many connections: a batch may hold one for a second, and a scan
# would wait for it.
WRITERS_SHARE: Final = 4
# They wait for their turn for this part of a call's deadline: the rest is for their own statements.
WAIT_TO_WRITE: Final = 2 / 3
# Less than half a second of scans. Past it a gate gets 503 and retries, which is better than a longer wait.
MOST_WAITING: Final = 2_000
# Entries of journals are judged in smaller batches, one at a time: a gate that asks now comes before one that reports.
ENTRIES_BATCH: Final = 64
MOST_ENTRIES_WAITING: Final = 4_000
# Uploads in one process at a time. Each has up to 512 KiB, and 500 signatures to be verified by one thread.
UPLOADS: Final = 8


@asynccontextmanager
async def _place(places: asyncio.Semaphore, within: float, cause: str) -> AsyncGenerator[None]:
    try:
        await asyncio.wait_for(places.acquire(), seconds_left(within))
    except TimeoutError:
        raise Overloaded(cause=cause) from None
    try:
        yield
    finally:
        places.release()


class ApiState:
    def __init__(self, settings: Settings, clock: Clock = system_clock) -> None:
        self.settings = settings
        self.clock = clock
        self.monotonic = time.monotonic
        self.metrics = Metrics()
        self.buckets = Buckets()
        self.failures = Buckets()
        self.pairing = PairingLimits()
        self.tracer = Tracer.of(settings, "gatepass-api", self.metrics.registry)
        self.db = database(
            settings.database_url.get_secret_value(),
            self.tracer,
            connections=settings.database_connections,
            deadline=settings.database_deadline,
            acquire_within=settings.acquire_within,
            name="gatepass api",
        )
        self.readiness = Readiness(self.db)
        self.metrics.registry.register(self.readiness)
        self.api_keys = ApiKeyCache(self.db, settings.cells, tracer=self.tracer)
        self.public_keys = PublicKeyCache(self.db)
        self.catalogue = Catalogue(self.db, clock, self.tracer)
        self.request_log = RequestLogWriter(self.db, self.metrics, self.api_keys.forget)
        self.scans: Batcher[Scan, ScanOutcome | None] = batcher(
            self._activate, "activate_scans", self.tracer,
            batch=BATCH, waiting=MOST_WAITING, flights=FLIGHTS, hurried=True,
        )  # fmt: skip
        self.questions: Batcher[VerificationRequest, Verification] = batcher(
            self._verify, "verify_cards", self.tracer,
            batch=BATCH, waiting=MOST_WAITING, flights=FLIGHTS, hurried=True,
        )  # fmt: skip
        self.journals: Batcher[ReadEntry, EntryResult | None] = batcher(
            self._take, "take_entries", self.tracer, batch=ENTRIES_BATCH, hurried=True
        )
        self.verifiers = ThreadPoolExecutor(1, "journal signatures")
        self._shared = (
            SharedLimits(settings.valkey_url.get_secret_value(), self.buckets, self.metrics, self.monotonic)
            if settings.valkey_url
            else None
        )
        self.manifests = ManifestHub(settings, clock, lambda: self.vault, self.metrics.registry)
        self._metrics_server: WSGIServer | None = None
        self._counting = asyncio.Semaphore(1)
        self._uploading = asyncio.Semaphore(UPLOADS)
        self._writing = asyncio.Semaphore(max(1, settings.database_connections // WRITERS_SHARE))

    @cached_property
    def vault(self) -> Vault:
        """Encrypts the secrets of webhook endpoints. `gatepass serve` does not start without a key; tests may."""
        return self.settings.vault()

    def counting(self) -> AbstractAsyncContextManager[None]:
        """One call at a time: counting a million rows holds a connection for a second, and scans need connections."""
        return _place(self._counting, self.db.acquire_within, "counting")

    def writing(self) -> AbstractAsyncContextManager[None]:
        """A share of the connections is for calls that change something; the others stay free for scans."""
        return _place(self._writing, self.settings.database_deadline * WAIT_TO_WRITE, "writes")

    def uploading(self) -> AbstractAsyncContextManager[None]:
        """A few uploads of journals at a time: a thousand devices may come back to the network together."""
        return _place(self._uploading, self.db.acquire_within, "uploads")

    def open(self) -> None:
        if self._shared is not None:
            self._shared.open()
        if self.tracer is not None:
            self.tracer.open()
        if self.settings.metrics_port:
            self._metrics_server = self.metrics.serve(self.settings.host, self.settings.metrics_port)

    async def close(self) -> None:
        """Finish the waiting scans and verifications, then write the rest of the request log."""
        await self.scans.drain()
        await self.questions.drain()
        await self.catalogue.drain()
        await self.journals.drain()
        self.verifiers.shutdown()
        await self.manifests.close()
        if self._shared is not None:
            await self._shared.close()
        await self.request_log.close()
        await self.db.close()
        if self.tracer is not None:
            await self.tracer.close()
        if self._metrics_server is not None:
            self._metrics_server.shutdown()
            self._metrics_server.server_close()

    async def _activate(self, scans: Sequence[Scan]) -> Sequence[ScanOutcome | Exception | None]:
        """Activate a batch. If the connection is lost meanwhile, an idempotency key finds the verdict of its scan."""
        at, began = self.clock(), self.monotonic()
        try:
            async with self.db.autocommit(writes=True) as tx:
                return await tickets.activate(tx, scans, at=at, statuses=VERDICT_STATUSES)
        except Busy:  # nothing was written
            raise
        except Unavailable as unknown:
            if self.monotonic() - began > self.settings.database_deadline / 2:
                raise
            return await self._activate_again(scans, at, unknown)

    async def _activate_again(
        self, scans: Sequence[Scan], at: datetime, unknown: Unavailable
    ) -> Sequence[ScanOutcome | Exception | None]:
        """Run the scans with an idempotency key again. The others may have been committed, and must not run twice.

        A scan that was committed is only found now, and nothing is written: it has to be on a standby too.
        """
        repeatable = [scan for scan in scans if scan.idempotency_key is not None]
        found: dict[Scan, ScanOutcome | None] = {}
        with suppress(Refusal):
            if repeatable:
                async with self.db.autocommit(writes=True) as tx:
                    outcomes = await tickets.activate(tx, repeatable, at=at, statuses=VERDICT_STATUSES)
                    await tx.wait_for_standby()
                found = dict(zip(repeatable, outcomes, strict=True))
        return [found.get(scan, unknown) for scan in scans]

    async def _take(self, entries: Sequence[ReadEntry]) -> Sequence[EntryResult | None]:
        """Take a batch of journal entries. One whose outcome is unknown is sent again by its device, and found."""
        async with self.db.autocommit(writes=True) as tx:
            results = await journal.take(tx, entries, at=self.clock())
            await tx.wait_for_standby()
            return results

    async def _verify(self, questions: Sequence[VerificationRequest]) -> Sequence[Verification | InvalidKey]:
        async with self.db.autocommit() as tx:
            return await cards.verify(tx, questions, at=self.clock())
