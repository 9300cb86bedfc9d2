"""The state of a process that serves card pages: settings, clock, database, vault, limits and metrics."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cached_property

from gatepass.base.clock import Clock, system_clock
from gatepass.base.database import Database
from gatepass.base.encryption import Vault
from gatepass.base.settings import Settings
from gatepass.card_page.hub import StreamHub
from gatepass.card_page.limits import VisitLimits
from gatepass.card_page.metrics import Metrics
from gatepass.card_page.templates import Templates
from gatepass.domain.mail import Mailer
from gatepass.domain.wallets import Wallets
from gatepass.health import Readiness


class CardPages:
    def __init__(self, settings: Settings, clock: Clock = system_clock) -> None:
        self.settings = settings
        self.clock = clock
        # Connections of its own: a crowd that opens its cards must never make a scan wait for a connection.
        self.db = Database(
            settings.database_url.get_secret_value(),
            connections=settings.database_connections,
            deadline=settings.database_deadline,
            acquire_within=settings.acquire_within,
            name="gatepass card page",
        )
        self.readiness = Readiness(self.db)
        self.metrics = Metrics()
        self.limits = VisitLimits()
        self.templates = Templates()
        self.wallets = Wallets.of(settings)
        self.hub = StreamHub(settings, clock, self.metrics)
        # Set when the process stops: streams must end then, or the shutdown would wait for them.
        self.stopping = asyncio.Event()

    @cached_property
    def vault(self) -> Vault:
        return self.settings.vault()

    @cached_property
    def mailer(self) -> Mailer:
        return Mailer.of(self.settings)

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            self.stop()
            await self.hub.close()
            await self.db.close()

    def stop(self) -> None:
        self.stopping.set()
        self.hub.wake()
