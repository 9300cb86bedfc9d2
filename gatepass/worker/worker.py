"""The worker: claims due deliveries, sends them and records the results, in a loop.

Any number of workers may run side by side, and each may be killed at any time: its deliveries are due again when its
claims lapse.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Sequence
from typing import Final, Protocol
from uuid import UUID

from gatepass.base.clock import Clock, system_clock
from gatepass.base.database import Database
from gatepass.base.errors import NotNow
from gatepass.base.log import logger
from gatepass.base.server_clock import ServerClock
from gatepass.base.settings import Settings
from gatepass.base.tracing.tracer import Tracer
from gatepass.domain.mailings import CardLetters
from gatepass.domain.wallets import AppleCertificate
from gatepass.domain.webhooks import queue
from gatepass.domain.webhooks.queue import LEASE, Claimed, Result, State
from gatepass.worker.card_exports import CardExportRunner
from gatepass.worker.concurrency import Window, Windows
from gatepass.worker.delivery import Deliverer, healths, strains
from gatepass.worker.imports import ImportRunner
from gatepass.worker.letter_writer import LetterWriter
from gatepass.worker.mail.mailings import MailingRunner
from gatepass.worker.mail.metrics import MailMetrics
from gatepass.worker.mail.sender import LetterSender
from gatepass.worker.maintenance import Maintenance
from gatepass.worker.metrics import WorkerMetrics
from gatepass.worker.recorder import Recorder
from gatepass.worker.sender import DEADLINE, Sender
from gatepass.worker.tracing import TracedDeliverer
from gatepass.worker.wallets.runner import PassWalk, WalletRunner

# Time between two claims of an idle worker, and of a busy one. There is no wait while more is due.
IDLE_SECONDS: Final = 0.1
BUSY_SECONDS: Final = 0.02
# A worker is idle after this long without a delivery.
IDLE_AFTER: Final = 2.0
LANES: Final = 64
# A claim that cannot be started within this time is left to lapse, because another worker may get it.
START_WITHIN: Final = LEASE.total_seconds() - DEADLINE - 10
RETRY_SECONDS: Final = 0.5
# A claim may wait ten seconds for PostgreSQL. Without a claim for this long, the database is away or the worker hangs.
READY_FOR: Final = 30.0
NOT_CLAIMED: Final = "The worker has not looked into its queue of late."
# Between the starts of two slow or new endpoints. A TLS handshake takes a few milliseconds of a core.
APART: Final = 0.005

log = logger(__name__)


class Runner(Protocol):
    """Work beside the deliveries: it runs until it is cancelled."""

    async def run(self) -> None: ...


class Worker:
    def __init__(self, settings: Settings, own_clock: Clock = system_clock, sender: Sender | None = None) -> None:
        self._clock = clock = ServerClock(own_clock)
        self.metrics = WorkerMetrics(clock.skew)
        self._settings = settings
        self._monotonic = time.monotonic
        self._db = Database(
            settings.database_url.get_secret_value(),
            connections=settings.database_connections,
            deadline=max(settings.database_deadline, 10.0),
            name="gatepass worker",
        )
        self._sender = sender or Sender(allow_private=settings.webhook_allow_private, clock=clock)
        self._tracer = Tracer.of(settings, "gatepass-worker", self.metrics.registry)
        self._deliverer = (
            Deliverer(self._sender, settings.vault(), clock)
            if self._tracer is None
            else TracedDeliverer(self._sender, settings.vault(), clock, self._tracer)
        )
        mail_metrics = MailMetrics(self.metrics.registry)
        self._letters = LetterSender(self._db, settings, mail_metrics, clock) if settings.smtp_url else None
        certificate = AppleCertificate.of(settings)
        pass_walk = PassWalk(self._db, clock) if certificate is not None else None
        self._beside: list[Runner] = [
            Maintenance(self._db, self.metrics, mail_metrics, clock, pass_walk),
            ImportRunner(self._db, clock),
            LetterWriter(self._db, settings, clock),
            CardExportRunner(self._db, settings, clock),
        ]
        if self._letters is not None:
            self._beside.append(MailingRunner(self._db, CardLetters.of(settings), clock))
        if certificate is not None:
            self._beside.append(WalletRunner(self._db, settings, certificate, self.metrics, clock))
        self._delivered = self.metrics.attempts.labels("delivered")
        self._recorder = Recorder(self._recorded, self.metrics.lapsed.inc, self._monotonic)
        self._windows = Windows(self._monotonic)
        self._slots_free = asyncio.Event()
        self._stopping = asyncio.Event()
        self._delivering: set[asyncio.Task[None]] = set()
        self._failing: set[UUID] = set()
        self._pending: deque[Window] = deque()
        self._beginning: asyncio.Task[None] | None = None
        self._claimed_at = float("-inf")

    def stop(self) -> None:
        """Claim nothing more, finish the attempts in progress, and end."""
        self._stopping.set()
        self._slots_free.set()
        if self._letters is not None:
            self._letters.stop()

    def trouble(self) -> str | None:
        """Why it is not ready: it has not claimed within READY_FOR, or the clocks differ. Called by another thread."""
        if self._monotonic() - self._claimed_at >= READY_FOR:
            return NOT_CLAIMED
        return self._clock.skew.trouble()

    async def run(self) -> None:
        """Run until `stop` is called."""
        port = self._settings.worker_metrics_port
        server = self.metrics.serve(self._settings.host, port, self.trouble) if port else None
        if self._tracer is not None:
            self._tracer.open()
        tasks = [asyncio.create_task(self._clock.keep_reading(self._db))]
        letters: asyncio.Task[None] | None = None
        try:
            if await self._knows_the_time():
                tasks += [asyncio.create_task(one.run()) for one in self._beside]
                letters = None if self._letters is None else asyncio.create_task(self._letters.run())
                await self._keep_claiming()
            await self._release()
            if self._beginning is not None:
                await self._beginning
            while self._delivering:
                await asyncio.wait(self._delivering)
            await self._recorder.drain()
            if letters is not None:
                await letters
        finally:
            tasks += [] if letters is None else [letters]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._sender.close()
            await self._db.close()
            if self._tracer is not None:
                await self._tracer.close()
            if server is not None:
                server.shutdown()
                server.server_close()

    async def _knows_the_time(self) -> bool:
        """Wait for PostgreSQL's time, by which all is done here; False if the worker is stopped before."""
        waits = [asyncio.create_task(one) for one in (self._clock.first_reading(), self._stopping.wait())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for one in waits:
            one.cancel()
        return not self._stopping.is_set()

    async def _keep_claiming(self) -> None:
        worked_at = self._monotonic()
        while not self._stopping.is_set():
            self._slots_free.clear()
            try:
                found, more = await self._claim()
            except NotNow:
                await self._wait(RETRY_SECONDS)
                continue
            except Exception:
                log.exception("claim failed")
                await self._wait(RETRY_SECONDS)
                continue
            self._claimed_at = now = self._monotonic()
            worked_at = now if found else worked_at
            if not more:
                await self._wait(IDLE_SECONDS if now - worked_at > IDLE_AFTER else BUSY_SECONDS)

    async def _release(self) -> None:
        """Release claims that are not begun, for the other workers. Without a database they lapse."""
        if left := self._windows.emptied():
            with contextlib.suppress(NotNow):
                async with self._db.autocommit() as tx:
                    await queue.release(tx, left)

    async def _wait(self, seconds: float) -> None:
        """Wait this long, or until there are slots for deliveries that are known to be due."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._slots_free.wait()

    async def _claim(self) -> tuple[int, bool]:
        """Claim deliveries and begin to send them; return how many, and whether to claim again at once."""
        free_slots, of_others, most = self._windows.free_slots(LANES)
        most -= len(self._recorder)
        if most <= 0:
            return 0, False
        began = self._monotonic()
        async with self._db.autocommit() as tx:
            claimed = await queue.claim(tx, free_slots, of_others=of_others, lanes=LANES, most=most)
        windows = self._windows.took(claimed, free_slots, of_others, claimed_at=began)
        for window in windows:
            if window.is_quick:
                self._begin(window)
            else:
                self._begin_later(window)
        return len(claimed), len(windows) >= LANES or claimed.put_off > 0

    def _begin_later(self, window: Window) -> None:
        """Begin one after another: most need a TLS handshake, and many at once would delay healthy endpoints."""
        self._pending.append(window)
        if self._beginning is None or self._beginning.done():
            self._beginning = asyncio.create_task(self._begin_pending())

    async def _begin_pending(self) -> None:
        while self._pending:
            self._begin(self._pending.popleft())
            await asyncio.sleep(APART)

    def _begin(self, window: Window) -> None:
        while (one := window.next()) is not None:
            task = asyncio.create_task(self._keep_delivering(window, one))
            self._delivering.add(task)
            task.add_done_callback(self._delivering.discard)

    async def _keep_delivering(self, window: Window, one: tuple[Claimed, float] | None) -> None:
        """Deliver one message after another, while the window has any for this task."""
        while one is not None:
            await self._deliver(*one, window)
            one = window.next()
            self._begin(window)

    async def _deliver(self, claimed: Claimed, claimed_at: float, window: Window) -> None:
        began = self._monotonic()
        if began - claimed_at > START_WITHIN:
            self.metrics.lapsed.inc()
            window.in_flight -= 1
            return
        result = await self._deliverer.attempt(claimed)
        attempt = result.attempt
        window.ended(self._monotonic() - began, well=attempt.succeeded, strained=strains(attempt))
        if window.more and window.in_hand <= window.width:
            self._slots_free.set()
        self._count(result)
        self._recorder.add(result, claimed_at + LEASE.total_seconds())

    async def _recorded(self, results: Sequence[Result]) -> None:
        changed = healths(results, self._failing)
        if not changed:
            async with self._db.autocommit() as tx:
                own = await queue.record(tx, results)
        else:
            async with self._db.transaction() as tx:
                own = await queue.record(tx, results)
                await queue.record_health(tx, changed, at=self._clock())
            self._failing -= {health.endpoint_id for health in changed if health.is_back}
            self._failing |= {health.endpoint_id for health in changed if health.failed}
        self.metrics.lapsed.inc(len(results) - own)

    def _count(self, result: Result) -> None:
        attempt = result.attempt
        if result.state is State.DELIVERED:
            self._delivered.inc()
            delivered = self.metrics.delivered_first if result.claimed.is_new else self.metrics.delivered_later
            delivered.observe((self._clock() - result.claimed.delivery_at).total_seconds())
        else:
            self.metrics.attempts.labels(attempt.error or f"status_{(attempt.status or 0) // 100}xx").inc()
