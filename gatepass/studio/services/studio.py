"""What the studio keeps for as long as its process lives. Made when the door opens, handed inwards."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cached_property

from gatepass.base.clock import Clock, system_clock
from gatepass.base.database import Database
from gatepass.base.settings import Settings
from gatepass.base.vault import Vault
from gatepass.domain.limits import Buckets
from gatepass.domain.staff.party import Party, party
from gatepass.domain.staff.password import Passwords
from gatepass.studio.drawing import Drawing
from gatepass.studio.metrics import Metrics
from gatepass.studio.progress import Progress
from gatepass.studio.tower import Tower
from gatepass.studio.trial import TrialKeys


class Studio:
    def __init__(self, settings: Settings, clock: Clock = system_clock) -> None:
        self.settings = settings
        self.clock = clock
        # Connections of its own: a page that takes long must never keep a gate waiting for one.
        self.db = Database(
            settings.database_url.get_secret_value(),
            connections=settings.database_connections,
            deadline=settings.database_deadline,
            name="gatepass studio",
        )
        self.drawing = Drawing()
        self.passwords = Passwords()
        self.party: Party = party(settings.public_url)
        self.metrics = Metrics()
        self.tower = Tower(settings, clock, self.drawing, self.metrics)
        # Who has looked at URLs how often (webhook_preflight.py).
        self.looks = Buckets()
        # Counting a million deliveries takes a second: one at a time.
        self.counting = asyncio.Semaphore(1)
        self.trial_keys = TrialKeys()
        # Set when the process is told to stop: what streams must end then, or the stop would wait for it.
        self.stopping = asyncio.Event()
        self.progress = Progress(self.db, self.stopping)

    @cached_property
    def vault(self) -> Vault:
        return self.settings.vault()

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            self.stop()
            self.passwords.close()
            await self.tower.close()
            await self.db.close()

    def stop(self) -> None:
        self.stopping.set()
        self.tower.wake()
