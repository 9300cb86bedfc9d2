"""The tower: every watch of this process, and a place for everybody who looks."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from uuid import UUID

from gatepass.base.clock import Clock
from gatepass.base.database import Database
from gatepass.base.refusals import Overloaded
from gatepass.base.settings import Settings
from gatepass.studio.door_view import DoorView
from gatepass.studio.drawing import Drawing
from gatepass.studio.metrics import Metrics
from gatepass.studio.watch import Place, Watch

MOST_LISTENERS: Final = 500
# A browser opens six streams at most; some people have two of them, and a projector.
MOST_OF_PERSON: Final = 20
# Few: reads of doors should wait for each other before anybody waits for them.
CONNECTIONS: Final = 3
# A count of an event with millions of scans.
DEADLINE: Final = 30.0


class Tower:
    def __init__(self, settings: Settings, clock: Clock, drawing: Drawing, metrics: Metrics) -> None:
        self._clock = clock
        self._drawing = drawing
        self._metrics = metrics
        # Connections of its own: a count that takes long must not keep a page waiting.
        self._db = Database(
            settings.database_url.get_secret_value(),
            connections=min(CONNECTIONS, settings.database_connections),
            deadline=DEADLINE,
            name="gatepass door",
        )
        self._views: dict[Place, DoorView] = {}
        self._people: Counter[UUID] = Counter()

    def view(self, place: Place) -> DoorView:
        """A door with its watch. Those that nobody looked at for a while are forgotten."""
        self._views = {known: one for known, one in self._views.items() if known == place or not one.watch.is_idle}
        if place not in self._views:
            watch = Watch(self._db, self._clock, place, self._metrics)
            self._views[place] = DoorView(watch, place, self._drawing)
        return self._views[place]

    def require_room(self, person_id: UUID) -> None:
        if self._people[person_id] >= MOST_OF_PERSON:
            raise Overloaded("You have many doors open already. Close some of them.")
        if self._people.total() >= MOST_LISTENERS:
            raise Overloaded("Too many doors are open. Try again in a moment.")

    @asynccontextmanager
    async def listening(self, place: Place, person_id: UUID, listener: asyncio.Event) -> AsyncGenerator[DoorView]:
        view = self.view(place)
        self._people[person_id] += 1
        self._metrics.doors_open.inc()
        view.watch.join(listener)
        try:
            yield view
        finally:
            view.watch.leave(listener)
            self._metrics.doors_open.dec()
            self._people[person_id] -= 1
            self._people += Counter()  # forgets who has none

    def wake(self) -> None:
        """The process is told to stop: everybody looks up, and goes."""
        for view in self._views.values():
            for listener in view.watch.listeners:
                listener.set()

    async def close(self) -> None:
        for view in self._views.values():
            await view.watch.close()
        await self._db.close()
