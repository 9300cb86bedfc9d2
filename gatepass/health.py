"""Health checks of every process that serves.

/livez: the process answers. /readyz: PostgreSQL commits too, its clock and this machine's agree, and its schema is one
that this code can run on. /healthz: the same, and the letter of the cell, so that the edge sends nothing to a process
of another cell.

During an upgrade the database is ahead of the processes that are not restarted yet. They can run on it and are ready:
a proxy that follows /readyz must not take them all out at once.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import APIRouter, Request
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.responses import JSONResponse

from gatepass.base.clock import SKEW_METRIC
from gatepass.base.commit_probe import DOES_NOT_ANSWER
from gatepass.base.database import Database
from gatepass.base.errors import NotNow
from gatepass.base.log import logger
from gatepass.domain import schema
from gatepass.migrations.head import head, is_ahead

# Seconds between two checks for the metric, because nobody may be asking /readyz.
CHECK_EVERY: Final = 5.0
READY_HELP: Final = "1 while /readyz answers 200"

router = APIRouter(include_in_schema=False)
log = logger(__name__)


@router.get("/livez")
async def livez() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(request: Request) -> JSONResponse:
    return await _answer(request)


@router.get("/healthz")
async def healthz(request: Request) -> JSONResponse:
    return await _answer(request, cell=request.app.state.cell)


async def _answer(request: Request, **more: str) -> JSONResponse:
    readiness: Readiness | AlwaysReady = request.app.state.readiness
    reason = await readiness.trouble()
    if reason is not None:
        return JSONResponse({"status": "unavailable", **more, "reason": reason}, 503)
    return JSONResponse({"status": "ok", **more})


class AlwaysReady(Collector):
    """Of a process that serves files alone: it is ready when it answers."""

    async def trouble(self) -> None:
        return None

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("gatepass_ready", READY_HELP, 1)


class Readiness(Collector):
    """Whether this process can serve, as /readyz and as the metric `gatepass_ready`."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._has_seen_its_schema = False
        self._is_ready = False

    async def trouble(self) -> str | None:
        """Why this process cannot serve; None if it can."""
        probe = self._db.commits.probe
        reason = await probe.trouble() or probe.skew.trouble() or await self._schema_trouble()
        self._is_ready = reason is None
        return reason

    @asynccontextmanager
    async def watched(self) -> AsyncGenerator[None]:
        """Keep the metric true until the block ends."""
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("gatepass_ready", READY_HELP, int(self._is_ready))
        yield GaugeMetricFamily(*SKEW_METRIC, self._db.commits.probe.skew.seconds())

    async def _watch(self) -> None:
        while True:
            try:
                await self.trouble()
            except Exception:
                self._is_ready = False
                log.exception("the check of readiness failed")
            await asyncio.sleep(CHECK_EVERY)

    async def _schema_trouble(self) -> str | None:
        # Schemas only go forward: a process that has seen its own schema will not see an older one.
        if self._has_seen_its_schema:
            return None
        try:
            async with self._db.autocommit() as tx:
                installed = await schema.installed(tx)
        except NotNow:
            return DOES_NOT_ANSWER
        self._has_seen_its_schema = installed == head()
        return None if self._has_seen_its_schema or is_ahead(installed) else "The database needs `gatepass migrate`."
