"""Following an import: however many look at one, its row is read at most twice a second by this process."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from gatepass.base.database import Database
from gatepass.base.refusals import Overloaded, Unavailable
from gatepass.domain import imports
from gatepass.domain.imports import Import

EVERY: Final = 0.5
# A stream ends after so long; the browser opens another, and shows its session again.
LONGEST: Final = 600.0


@dataclass
class _Watched:
    job: Import
    readers: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class Progress:
    def __init__(self, db: Database, stopping: asyncio.Event) -> None:
        self._db = db
        self._stopping = stopping
        self._watched: dict[UUID, _Watched] = {}

    async def follow(self, organization_id: UUID, import_id: UUID) -> AsyncGenerator[Import, None]:
        """The import now, and again whenever it has moved, until it rests."""
        job = await self._read(organization_id, import_id)
        watched = self._watched.setdefault(import_id, _Watched(job))
        watched.readers += 1
        if watched.task is None:
            watched.task = asyncio.create_task(self._watch(organization_id, watched))
        try:
            yield job
            with suppress(TimeoutError):
                async with asyncio.timeout(LONGEST):
                    while job.state.is_under_way and not self._stopping.is_set():
                        await watched.changed.wait()
                        if watched.job != job:
                            job = watched.job
                            yield job
        finally:
            watched.readers -= 1
            if not watched.readers:
                self._watched.pop(import_id, None)
                watched.task.cancel()

    async def _watch(self, organization_id: UUID, watched: _Watched) -> None:
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), EVERY)
            with suppress(Unavailable, Overloaded):
                watched.job = await self._read(organization_id, watched.job.id)
            changed, watched.changed = watched.changed, asyncio.Event()
            changed.set()

    async def _read(self, organization_id: UUID, import_id: UUID) -> Import:
        async with self._db.reading() as tx:
            return await imports.find(tx, organization_id, import_id)
