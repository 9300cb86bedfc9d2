"""Gates that scan through the SDK while something breaks. Everything that they see goes to a journal.

    python -m tests.ha.load CONFIG.json

It scans until SIGTERM, settles the scans whose outcome is unknown, and exits. `Config` has the fields of the file.
"""

import asyncio
import json
import signal
import sys
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Self
from uuid import uuid4

import httpx2

from gatepass.base.settings import BASE_PATH
from gatepass_sdk import APIConnectionError, APIStatusError, AsyncGatepass, GatepassError
from tests.ha.journal import Ended, JournalWriter, Outcome, Scan, Started, Stopping, clock
from tests.ha.recording_transport import RecordingTransport
from tests.ha.watchers import FeedReader, watch_liveness, watch_readiness
from tests.ha.world import World

# Each card is shown so many times at once, so that gates race for it.
SHOWN = (1, 1, 1, 2, 2, 3)
# The share of answered scans that are sent again with their key, within so many seconds.
AGAIN = 0.1
AGAIN_WITHIN = 10.0
# The SDK tries three times at one API; then the gate turns to the next one, if it got no answer.
RETRIES = 2
BREATH = 0.2
# Seconds, after the last scan, to settle the unknown outcomes and to read the feed to its end.
SETTLED_WITHIN = 60.0


@dataclass(frozen=True)
class Config:
    world: Path
    journal: Path
    # The API of each way to the database, without a path.
    urls: dict[str, str]
    gates: int = 48
    # Scans a second, of all gates.
    rate: float = 40.0
    first_card: int = 0
    feed_cursor: str | None = None
    # GATEPASS_DATABASE_DEADLINE of the API processes.
    deadline: float = 3.0
    seed: int = 1

    @classmethod
    def read(cls, path: Path) -> Self:
        values: dict[str, Any] = json.loads(path.read_text())
        world, journal = Path(values.pop("world")), Path(values.pop("journal"))
        return cls(world, journal, **values)


@dataclass
class Load:
    """The gates take shown cards from a queue that is as short as the largest race: a card is not shown unseen."""

    world: World
    clients: dict[str, AsyncGatepass]
    journal: JournalWriter
    next_card: int
    chance: Random
    queue: "asyncio.Queue[str]" = field(default_factory=lambda: asyncio.Queue(max(SHOWN)))
    # Scans to be sent again, and when.
    again: deque[tuple[float, Scan]] = field(default_factory=deque[tuple[float, Scan]])
    # Tickets that this load has activated.
    activated: set[str] = field(default_factory=set[str])
    flowing: asyncio.Event = field(default_factory=asyncio.Event)

    async def show(self, rate: float) -> None:
        """Show cards, so many a second on average, until cancelled."""
        while True:
            card, times = self.world.card(self.next_card), self.chance.choice(SHOWN)
            self.next_card += 1
            for _ in range(times):
                await self.queue.put(card)
            await asyncio.sleep(self.chance.expovariate(rate / times))

    async def gate(self, n: int, over: asyncio.Event) -> None:
        """Scan until the end; each scan begins at the API that this gate belongs to."""
        names = list(self.clients)
        home = names[n % len(names) :] + names[: n % len(names)]
        while not over.is_set() or not self.queue.empty():
            if self.again and self.again[0][0] <= clock():
                await self._scan(self.again.popleft()[1], self.chance.sample(names, len(names)))
                continue
            card = await self._shown(over)
            if card is None:
                continue
            key = str(uuid4())
            scan = Scan(clock(), key, card, f"gate {n}", by_token=self.chance.random() < 0.5)
            self.journal.write(scan)
            await self._scan(scan, home)
            if self.chance.random() < AGAIN:
                self.again.append((clock() + self.chance.random() * AGAIN_WITHIN, scan))

    async def send_again(self) -> None:
        """What was to be sent again, now."""
        while self.again:
            await self._scan(self.again.popleft()[1], list(self.clients))

    async def _shown(self, over: asyncio.Event) -> str | None:
        """The next card; None if the end came, or a scan is to be sent again."""
        if over.is_set():
            return None if self.queue.empty() else self.queue.get_nowait()
        due = min(self.again[0][0] - clock(), BREATH) if self.again else BREATH
        try:
            async with asyncio.timeout(max(due, 0.001)):
                return await self.queue.get()
        except TimeoutError:
            return None

    async def _scan(self, scan: Scan, names: list[str]) -> None:
        """Ask until the answer is definite. Without an answer, ask the next API; the key is the same."""
        turn = 0
        while True:
            try:
                result = await self.clients[names[turn % len(names)]].scans.create(
                    self.world.event_id,
                    card_number=None if scan.by_token else scan.card,
                    token=self.world.token(scan.card) if scan.by_token else None,
                    gate=scan.gate,
                    scanner_id=scan.key,
                    idempotency_key=scan.key,
                )
            except GatepassError as error:
                verdict = error.code if isinstance(error, APIStatusError) else type(error).__name__
                self.journal.write(Outcome(clock(), scan.key, str(verdict), error.outcome_unknown))
                if isinstance(error, APIStatusError) and error.status < 500 and error.status != 429:
                    return
                turn += isinstance(error, APIConnectionError)
            else:
                self.activated.add(result.ticket_id)
                self.flowing.set()
                self.journal.write(Outcome(clock(), scan.key, "activated", unknown=False))
                return
            await asyncio.sleep(BREATH * self.chance.uniform(0.5, 1.5))


@asynccontextmanager
async def clients_of(config: Config, world: World, journal: JournalWriter) -> AsyncGenerator[dict[str, AsyncGatepass]]:
    async with AsyncExitStack() as stack:
        clients: dict[str, AsyncGatepass] = {}
        for name, url in config.urls.items():
            http = httpx2.AsyncClient(transport=RecordingTransport(name, journal))
            await stack.enter_async_context(http)
            clients[name] = AsyncGatepass(
                world.key, base_url=url + BASE_PATH, allow_http=True, max_retries=RETRIES, http_client=http
            )
        yield clients


async def run(config: Config, over: asyncio.Event) -> None:
    world, journal = World.read(config.world), JournalWriter(config.journal)
    async with clients_of(config, world, journal) as clients:
        load = Load(world, clients, journal, config.first_card, Random(config.seed))
        feed = FeedReader(clients, journal, config.feed_cursor)
        watchers = [asyncio.create_task(feed.follow())]
        for name, url in config.urls.items():
            watchers.append(asyncio.create_task(watch_readiness(name, url, journal)))
            watchers.append(asyncio.create_task(watch_liveness(name, url, journal)))
        gates = [asyncio.create_task(load.gate(n, over)) for n in range(config.gates)]
        showing = asyncio.create_task(load.show(config.rate))
        await _until(load.flowing, [showing, *gates, *watchers])
        journal.write(Started(clock(), config.urls, config.deadline))
        await _until(over, [showing, *gates, *watchers])
        journal.write(Stopping(clock()))
        await _cancel([showing])
        # What is not done by then is left to the judge, who sees that it is missing.
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLED_WITHIN):
                await asyncio.gather(*gates)
                await load.send_again()
                await feed.until_told(load.activated)
        await _cancel(watchers)
        journal.write(Ended(clock(), load.next_card, feed.cursor))
    journal.close()


async def _until(event: asyncio.Event, tasks: Iterable["asyncio.Task[None]"]) -> None:
    """Wait for the event. A task that fails before fails the run."""
    waiting = asyncio.create_task(event.wait())
    done, _ = await asyncio.wait([waiting, *tasks], return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


async def _cancel(tasks: list["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(ended, Exception):
            raise ended


async def main(config: Config) -> None:
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    await run(config, over)


if __name__ == "__main__":
    asyncio.run(main(Config.read(Path(sys.argv[1]))))
