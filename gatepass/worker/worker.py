"""The worker: claims what is due, sends it, records what came of it, again and again.

Any number of them may run side by side and be killed at will: what one had in hand is due again when its claim lapses.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from gatepass.base.clock import Clock, system_clock
from gatepass.base.database import Database
from gatepass.base.log import logger
from gatepass.base.refusals import Overloaded, Unavailable
from gatepass.base.settings import Settings
from gatepass.domain.webhooks import queue
from gatepass.domain.webhooks.queue import LEASE, Claimed, Result, State
from gatepass.worker.chores import Chores
from gatepass.worker.delivery import Delivery, healths, strains
from gatepass.worker.importing import Importing
from gatepass.worker.metrics import Metrics
from gatepass.worker.recorder import Recorder
from gatepass.worker.sender import DEADLINE, Sender
from gatepass.worker.windows import Window, Windows

# How soon an idle worker looks again. While there is work it looks sooner, and at once while there is more.
IDLE_SECONDS: Final = 0.1
BUSY_SECONDS: Final = 0.02
# An idle worker has seen nothing for so long.
IDLE_AFTER: Final = 2.0
LANES: Final = 64
# A message that could not be started in time is left to lapse: nobody may send it when another has it.
START_WITHIN: Final = LEASE.total_seconds() - DEADLINE - 10
PATIENCE: Final = 0.5
# A claim may wait ten seconds for PostgreSQL. Who has not come back from one for so long is away, or stuck.
READY_FOR: Final = 30.0
# From one that is slow or new to the next. To connect with TLS takes some milliseconds of a core.
APART: Final = 0.005

log = logger(__name__)


class Worker:
    def __init__(self, settings: Settings, clock: Clock = system_clock, sender: Sender | None = None) -> None:
        self.metrics = Metrics()
        self._settings = settings
        self._clock = clock
        self._monotonic = time.monotonic
        self._db = Database(
            settings.database_url.get_secret_value(),
            connections=settings.database_connections,
            deadline=max(settings.database_deadline, 10.0),
            name="gatepass worker",
        )
        self._sender = sender or Sender(allow_private=settings.webhook_allow_private, clock=clock)
        self._delivery = Delivery(self._sender, settings.vault(), clock)
        self._chores = Chores(self._db, self.metrics, clock)
        self._importing = Importing(self._db, clock)
        self._delivered = self.metrics.attempts.labels("delivered")
        self._recorder = Recorder(self._recorded, self.metrics.lapsed.inc, self._monotonic)
        self._windows = Windows(self._monotonic)
        self._room = asyncio.Event()
        self._stopping = asyncio.Event()
        self._under_way: set[asyncio.Task[None]] = set()
        self._failing: set[UUID] = set()
        self._in_turn: deque[Window] = deque()
        self._turns: asyncio.Task[None] | None = None
        self._looked_at = float("-inf")

    def stop(self) -> None:
        """Claim nothing more, finish what is in hand, and end."""
        self._stopping.set()
        self._room.set()

    def is_ready(self) -> bool:
        """Has it looked into its queue of late? Asked by another thread."""
        return self._monotonic() - self._looked_at < READY_FOR

    async def run(self) -> None:
        """Until told to stop."""
        port = self._settings.worker_metrics_port
        server = self.metrics.serve(self._settings.host, port, self.is_ready) if port else None
        besides = [asyncio.create_task(one.keep_doing()) for one in (self._chores, self._importing)]
        try:
            await self._keep_claiming()
            await self._give_back()
            if self._turns is not None:
                await self._turns
            while self._under_way:
                await asyncio.wait(self._under_way)
            await self._recorder.drain()
        finally:
            for task in besides:
                task.cancel()
            await asyncio.gather(*besides, return_exceptions=True)
            await self._sender.close()
            await self._db.close()
            if server is not None:
                server.shutdown()
                server.server_close()

    async def _keep_claiming(self) -> None:
        worked_at = self._monotonic()
        while not self._stopping.is_set():
            self._room.clear()
            try:
                found, more = await self._claim()
            except (Unavailable, Overloaded):
                await self._wait(PATIENCE)
                continue
            except Exception:
                log.exception("claiming stumbled")
                await self._wait(PATIENCE)
                continue
            self._looked_at = now = self._monotonic()
            worked_at = now if found else worked_at
            if not more:
                await self._wait(IDLE_SECONDS if now - worked_at > IDLE_AFTER else BUSY_SECONDS)

    async def _give_back(self) -> None:
        """What was claimed and not begun is due again, for whoever goes on. Without a database it lapses."""
        if left := self._windows.emptied():
            with contextlib.suppress(Unavailable, Overloaded):
                async with self._db.statement() as tx:
                    await queue.release(tx, left)

    async def _wait(self, seconds: float) -> None:
        """For this long, or until there is room for what is known to wait."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._room.wait()

    async def _claim(self) -> tuple[int, bool]:
        """Claim and begin; how many, and whether to come back at once."""
        rooms, elsewhere, most = self._windows.rooms(LANES)
        most -= len(self._recorder)
        if most <= 0:
            return 0, False
        began = self._monotonic()
        async with self._db.statement() as tx:
            claimed = await queue.claim(tx, rooms, elsewhere=elsewhere, lanes=LANES, most=most)
        windows = self._windows.took(claimed, rooms, elsewhere, claimed_at=began)
        for window in windows:
            if window.is_quick:
                self._begin(window)
            else:
                self._begin_in_turn(window)
        return len(claimed), len(windows) >= LANES or claimed.put_off > 0

    def _begin_in_turn(self, window: Window) -> None:
        """Most of them will connect. Many at once would keep the loop from those that are well."""
        self._in_turn.append(window)
        if self._turns is None or self._turns.done():
            self._turns = asyncio.create_task(self._take_turns())

    async def _take_turns(self) -> None:
        while self._in_turn:
            self._begin(self._in_turn.popleft())
            await asyncio.sleep(APART)

    def _begin(self, window: Window) -> None:
        while (one := window.next()) is not None:
            task = asyncio.create_task(self._keep_delivering(window, one))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    async def _keep_delivering(self, window: Window, one: tuple[Claimed, float] | None) -> None:
        """One message after another, as long as the window has any for this place."""
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
        result = await self._delivery.attempt(claimed)
        attempt = result.attempt
        window.answered(self._monotonic() - began, well=attempt.succeeded, strained=strains(attempt))
        if window.more and window.in_hand <= window.width:
            self._room.set()
        self._count(result)
        self._recorder.note(result, claimed_at + LEASE.total_seconds())

    async def _recorded(self, results: Sequence[Result]) -> None:
        noted = healths(results, self._failing)
        if not noted:
            async with self._db.statement() as tx:
                own = await queue.record(tx, results)
        else:
            async with self._db.transaction() as tx:
                own = await queue.record(tx, results)
                await queue.note_health(tx, noted, at=self._clock())
            self._failing -= {health.endpoint_id for health in noted if health.is_back}
            self._failing |= {health.endpoint_id for health in noted if health.failed}
        self.metrics.lapsed.inc(len(results) - own)

    def _count(self, result: Result) -> None:
        attempt = result.attempt
        if result.state is State.DELIVERED:
            self._delivered.inc()
            self.metrics.delivered_after.observe((self._clock() - result.claimed.delivery_at).total_seconds())
        else:
            self.metrics.attempts.labels(attempt.error or f"status_{(attempt.status or 0) // 100}xx").inc()
