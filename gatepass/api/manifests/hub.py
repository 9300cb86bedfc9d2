"""All manifests that this process gives out: one follower an event, and bounds on memory, work and streams."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from prometheus_client import CollectorRegistry

from gatepass.api.manifests.follower import Follower, Listener
from gatepass.api.manifests.metrics import ManifestMetrics
from gatepass.api.manifests.source import EventRef, ManifestSource
from gatepass.base.clock import Clock
from gatepass.base.database import Database
from gatepass.base.encryption import Vault
from gatepass.base.errors import Overloaded
from gatepass.base.settings import Settings

# Fewer than the connections of a process, so that scans still come in while every stream is taken.
MOST_STREAMS: Final = 2_000
# One, and others that have not noticed yet that they are gone.
MOST_OF_DEVICE: Final = 3
# Bytes of records; ten events of 2,000,000 tickets, or a thousand of 20,000.
MOST_BYTES: Final = 160_000_000
MOST_EVENTS: Final = 1_000
# Seconds after which a manifest that nobody asks for is forgotten.
IDLE: Final = 300.0
# Few: a manifest that is made must never keep a scan waiting for a connection.
CONNECTIONS: Final = 2
# A process makes one manifest at a time. PostgreSQL needs most of a core for it, and the gates need the others.
MAKERS: Final = 1
# In seconds; long enough for the largest event.
DEADLINE: Final = 30.0


class ManifestHub:
    def __init__(
        self, settings: Settings, clock: Clock, vault: Callable[[], Vault], registry: CollectorRegistry
    ) -> None:
        self._clock, self._vault = clock, vault
        self.metrics = ManifestMetrics(registry)
        self._db = Database(
            settings.database_url.get_secret_value(),
            connections=CONNECTIONS,
            deadline=DEADLINE,
            name="gatepass manifests",
        )
        self._makers = asyncio.Semaphore(MAKERS)
        self._followers: dict[EventRef, Follower] = {}
        self._devices: Counter[UUID] = Counter()
        # Set when the process stops: streams must end then, or the shutdown would wait for them.
        self.stopping = asyncio.Event()

    async def follower(self, ref: EventRef) -> Follower:
        """The follower of an event. Those that nobody has asked for are forgotten."""
        if ref not in self._followers:
            await self._forget()
            if self._is_full():
                raise Overloaded("Too many events are followed. Try again in a moment.", cause="manifests")
            source = ManifestSource(self._db, self._clock, self._vault, self._makers, self.metrics, ref)
            # Another call may have made it while this one waited.
            self._followers.setdefault(ref, Follower(source))
        return self._followers[ref]

    def require_room(self, key_id: UUID) -> None:
        if self._devices[key_id] >= MOST_OF_DEVICE:
            raise Overloaded("This device follows its event already. Close the other streams.", cause="manifests")
        if self._devices.total() >= MOST_STREAMS:
            raise Overloaded("Too many devices follow their events here. Try again in a moment.", cause="manifests")

    @contextmanager
    def listening(self, follower: Follower, key_id: UUID) -> Generator[Listener]:
        listener = Listener(key_id, asyncio.Event())
        self._devices[key_id] += 1
        self.metrics.streams.inc()
        follower.join(listener)
        try:
            yield listener
        finally:
            follower.leave(listener)
            self.metrics.streams.dec()
            self._devices[key_id] -= 1
            if not self._devices[key_id]:
                del self._devices[key_id]

    def stop(self) -> None:
        self.stopping.set()
        for follower in self._followers.values():
            follower.wake()

    async def close(self) -> None:
        self.stop()
        for follower in self._followers.values():
            await follower.close()
        await self._db.close()

    def _is_full(self) -> bool:
        size = sum(follower.size for follower in self._followers.values())
        return size >= MOST_BYTES or len(self._followers) >= MOST_EVENTS

    async def _forget(self) -> None:
        """Forget what is idle; while memory is short, also what was asked for longest ago."""
        quiet = sorted(
            (ref for ref, follower in self._followers.items() if not follower.listeners),
            key=lambda ref: self._followers[ref].asked_at,
        )
        forgotten: list[Follower] = []
        for ref in quiet:
            if not self._is_full() and time.monotonic() - self._followers[ref].asked_at < IDLE:
                break
            forgotten.append(self._followers.pop(ref))
        # Only now: while this call waits, another one may forget some too.
        for follower in forgotten:
            await follower.close()
