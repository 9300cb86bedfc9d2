"""The export runner: makes files of cards part by part, beside the deliveries, without delaying them.

A part is claimed in one transaction and recorded in another. Between them it is drawn, by a process of its own.
"""

import asyncio
from typing import Final

from gatepass.base.clock import Clock
from gatepass.base.database import Database
from gatepass.base.errors import NotNow, Refusal
from gatepass.base.log import logger
from gatepass.base.settings import Settings
from gatepass.domain import card_exports
from gatepass.domain.card_exports import Batch, CardExport, ExportKind
from gatepass.domain.card_exports.runner import next_object
from gatepass.domain.card_sheets import Layout
from gatepass.worker.card_drawing import CardDrawer

# A person watches the progress bar.
IDLE_SECONDS: Final = 0.3

log = logger(__name__)


class CardExportRunner:
    def __init__(self, db: Database, settings: Settings, clock: Clock) -> None:
        self._db = db
        self._settings = settings
        self._vault = settings.vault()
        self._clock = clock
        self._drawer = CardDrawer()

    async def run(self) -> None:
        try:
            while True:
                try:
                    worked = await self.step()
                except NotNow:
                    worked = False  # the next step finds the database back
                except Exception:
                    worked = False
                    log.exception("card export step failed")
                if not worked:
                    await self._drawer.close()
                    await asyncio.sleep(IDLE_SECONDS)
        finally:
            await self._drawer.close()

    async def step(self) -> bool:
        """Make one part of the export that has waited longest; return whether there was one."""
        async with self._db.transaction() as tx:
            job = await card_exports.claim(tx, at=self._clock())
        if job is None:
            return False
        try:
            await self._make_part(job)
        except NotNow:
            raise
        except Refusal as refusal:  # such as an organization without a signing key
            async with self._db.transaction() as tx:
                await card_exports.fail(tx, job, str(refusal), at=self._clock())
        except Exception:
            async with self._db.transaction() as tx:
                await card_exports.put_off(tx, job, at=self._clock())
            raise
        return True

    async def _make_part(self, job: CardExport) -> None:
        async with self._db.transaction() as tx:
            batch = await card_exports.next_batch(
                tx, job, self._vault, public_url=self._settings.public_url, cell=self._settings.cell, at=self._clock()
            )
        if job.kind is ExportKind.CSV:
            async with self._db.transaction() as tx:
                await card_exports.record_csv(tx, job, batch, self._vault, at=self._clock())
        else:
            await self._draw_part(job, batch)

    async def _draw_part(self, job: CardExport, batch: Batch) -> None:
        part, boxed = None, 0
        if batch.cards:
            drawn = await self._drawer.draw(batch.event, batch.cards, Layout(job.layout), next_object(job))
            part, boxed = drawn.part, drawn.boxed
        async with self._db.transaction() as tx:
            await card_exports.record_pdf(tx, job, batch, part, self._vault, boxed=boxed, at=self._clock())
