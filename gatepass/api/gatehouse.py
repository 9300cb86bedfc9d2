"""The gatehouse: what the API keeps for as long as its process lives. Made when the door opens, handed inwards."""

import time
from wsgiref.simple_server import WSGIServer

from gatepass.api.metrics import Metrics
from gatepass.api.trail import Trail
from gatepass.base.clock import Clock, system_clock
from gatepass.base.database import Database
from gatepass.base.settings import Settings
from gatepass.domain.limits import Buckets


class Gatehouse:
    def __init__(self, settings: Settings, clock: Clock = system_clock) -> None:
        self.settings = settings
        self.clock = clock
        self.monotonic = time.monotonic
        self.metrics = Metrics()
        self.buckets = Buckets()
        self.failures = Buckets()
        self.db = Database(
            settings.database_url.get_secret_value(),
            connections=settings.database_connections,
            deadline=settings.database_deadline,
            name="gatepass api",
        )
        self.trail = Trail(self.db, self.metrics)
        self._metrics_server: WSGIServer | None = None

    def open(self) -> None:
        self.trail.open()
        if self.settings.metrics_port:
            self._metrics_server = self.metrics.serve(self.settings.host, self.settings.metrics_port)

    async def close(self) -> None:
        await self.trail.close()
        await self.db.close()
        if self._metrics_server is not None:
            self._metrics_server.shutdown()
            self._metrics_server.server_close()
