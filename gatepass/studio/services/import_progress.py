"""The progress of imports: this process reads each row at most twice a second, for any number of viewers."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from gatepass.base.database import Database
from gatepass.base.errors import NotNow
from gatepass.domain import imports
from gatepass.domain.imports import Import

# Both in seconds.
EVERY: Final = 0.5
# A stream ends after a minute. The browser opens another, and its session is checked again.
LONGEST: Final = 60.0


@dataclass
class _FollowedImport:
    job: Import
    readers: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class ImportProgress:
    def __init__(self, db: Database, stopping: asyncio.Event) -> None:
        self._db = db
        self._stopping = stopping
        self._followed: dict[UUID, _FollowedImport] = {}

    async def follow(self, organization_id: UUID, import_id: UUID) -> AsyncGenerator[Import, None]:
        """The import now, and again after every change, until it is no longer under way."""
        job = await self._read(organization_id, import_id)
        followed = self._followed.setdefault(import_id, _FollowedImport(job))
        followed.readers += 1
        if followed.task is None:
            followed.task = asyncio.create_task(self._follow(organization_id, followed))
        try:
            yield job
            with suppress(TimeoutError):
                async with asyncio.timeout(LONGEST):
                    while job.state.is_under_way and not self._stopping.is_set():
                        await followed.changed.wait()
                        if followed.job != job:
                            job = followed.job
                            yield job
        finally:
            followed.readers -= 1
            if not followed.readers:
                self._followed.pop(import_id, None)
                followed.task.cancel()

    async def _follow(self, organization_id: UUID, followed: _FollowedImport) -> None:
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), EVERY)
            with suppress(NotNow):
                followed.job = await self._read(organization_id, followed.job.id)
            changed, followed.changed = followed.changed, asyncio.Event()
            changed.set()

    async def _read(self, organization_id: UUID, import_id: UUID) -> Import:
        async with self._db.autocommit() as tx:
            return await imports.find(tx, organization_id, import_id)
