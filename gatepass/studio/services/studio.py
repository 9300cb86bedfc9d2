"""The state of a studio process: settings, clock, database, vault, and the other services."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cached_property

from gatepass.base.clock import Clock, system_clock
from gatepass.base.database import Database
from gatepass.base.encryption import Vault
from gatepass.base.event_limit import EventLimit
from gatepass.base.settings import Settings
from gatepass.domain.limits import Buckets
from gatepass.domain.mail import Mailer
from gatepass.domain.staff.mail.letters import StaffLetters
from gatepass.domain.staff.password import Passwords
from gatepass.domain.staff.webauthn import RelyingParty, relying_party
from gatepass.health import Readiness
from gatepass.studio.services.import_progress import ImportProgress
from gatepass.studio.services.live_hub import LiveHub
from gatepass.studio.services.metrics import Metrics
from gatepass.studio.services.templates import Templates
from gatepass.studio.services.trial_scan import TrialKeys


class Studio:
    def __init__(self, settings: Settings, clock: Clock = system_clock) -> None:
        self.settings = settings
        self.clock = clock
        # Connections of its own: a slow page must never make a scan wait for a connection.
        self.db = Database(
            settings.database_url.get_secret_value(),
            connections=settings.database_connections,
            deadline=settings.database_deadline,
            acquire_within=settings.acquire_within,
            name="gatepass studio",
        )
        self.readiness = Readiness(self.db)
        self.templates = Templates()
        self.passwords = Passwords()
        self.party: RelyingParty = relying_party(settings.public_url)
        self.metrics = Metrics()
        self.live_hub = LiveHub(settings, clock, self.templates, self.metrics)
        # Rate limits of URL checks, by person (webhooks/preflight.py).
        self.looks = Buckets()
        # Entries of refusals in the audit log: one a minute for each person, reason and route.
        self.refusals = EventLimit(of_one=1, most=2_000)
        # Counting a million deliveries takes a second: one at a time.
        self.counting = asyncio.Semaphore(1)
        self.trial_keys = TrialKeys()
        # Set when the process stops: streams must end then, or the shutdown would wait for them.
        self.stopping = asyncio.Event()
        self.import_progress = ImportProgress(self.db, self.stopping)

    @cached_property
    def mailer(self) -> Mailer:
        return Mailer.of(self.settings)

    @cached_property
    def letters(self) -> StaffLetters:
        """Links to staff by mail; without a mail server they are handed over."""
        return StaffLetters(self.mailer, self.party.origin, self.settings.cell)

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
            await self.live_hub.close()
            await self.db.close()

    def stop(self) -> None:
        self.stopping.set()
        self.live_hub.wake()
