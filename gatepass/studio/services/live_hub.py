"""All live pages that this process shows: one watcher for each event, and limits on the number of viewers."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from uuid import UUID

from gatepass.base.clock import Clock
from gatepass.base.database import Database
from gatepass.base.errors import Overloaded
from gatepass.base.settings import Settings
from gatepass.studio.services.live_view import LiveView
from gatepass.studio.services.live_watcher import EventRef, LiveWatcher
from gatepass.studio.services.metrics import Metrics
from gatepass.studio.services.templates import Templates

MOST_LISTENERS: Final = 500
# A browser opens six streams at most; some people have two of them, and a projector.
MOST_OF_PERSON: Final = 20
# Few: reads for live pages wait for each other before any other page waits for them.
CONNECTIONS: Final = 3
# In seconds; long enough to count an event with millions of scans.
DEADLINE: Final = 30.0


class LiveHub:
    def __init__(self, settings: Settings, clock: Clock, templates: Templates, metrics: Metrics) -> None:
        self._clock = clock
        self._templates = templates
        self._metrics = metrics
        # Connections of its own: a count that takes long must not keep a page waiting.
        self._db = Database(
            settings.database_url.get_secret_value(),
            connections=min(CONNECTIONS, settings.database_connections),
            deadline=DEADLINE,
            name="gatepass live",
        )
        self._views: dict[EventRef, LiveView] = {}
        self._people: Counter[UUID] = Counter()

    def view(self, event_ref: EventRef) -> LiveView:
        """The view of an event, with its watcher. Views that are idle are dropped."""
        self._views = {
            known: one for known, one in self._views.items() if known == event_ref or not one.watcher.is_idle
        }
        if event_ref not in self._views:
            watcher = LiveWatcher(self._db, self._clock, event_ref, self._metrics)
            self._views[event_ref] = LiveView(watcher, event_ref, self._templates)
        return self._views[event_ref]

    def require_capacity(self, person_id: UUID) -> None:
        if self._people[person_id] >= MOST_OF_PERSON:
            raise Overloaded("You have many live pages open already. Close some of them.")
        if self._people.total() >= MOST_LISTENERS:
            raise Overloaded("Too many live pages are open. Try again in a moment.")

    @asynccontextmanager
    async def listening(
        self, event_ref: EventRef, person_id: UUID, listener: asyncio.Event
    ) -> AsyncGenerator[LiveView]:
        view = self.view(event_ref)
        self._people[person_id] += 1
        self._metrics.live_viewers.inc()
        view.watcher.join(listener)
        try:
            yield view
        finally:
            view.watcher.leave(listener)
            self._metrics.live_viewers.dec()
            self._people[person_id] -= 1
            self._people += Counter()  # drops entries that are 0

    def wake(self) -> None:
        """Wake every stream, so that it sees that the process stops."""
        for view in self._views.values():
            for listener in view.watcher.listeners:
                listener.set()

    async def close(self) -> None:
        for view in self._views.values():
            await view.watcher.close()
        await self._db.close()
