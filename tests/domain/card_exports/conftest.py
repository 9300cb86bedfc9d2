"""On a database of their own, because a worker that claims exports claims those of all organizations."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import card_exports, maintenance
from gatepass.domain.card_exports import CardExport, ExportKind, ExportOrder, Selection
from gatepass.domain.card_exports.runner import next_object
from gatepass.domain.card_sheets import Layout, part_of
from gatepass.domain.card_sheets.pages import draw
from tests import factory
from tests.factory import Tenant
from tests.postgres import Cluster


@pytest.fixture(scope="module")
async def own(cluster: Cluster) -> AsyncGenerator[Database]:
    url = cluster.create_migrated(f"gatepass_exports_{new_id().hex[-8:]}")
    database = factory.database(url, connections=8)
    await maintenance.run_due(database, at=factory.now())
    yield database
    await database.close()


@dataclass
class Press:
    """Orders files of cards and makes them, as the worker does."""

    tenant: Tenant

    async def begin(
        self, kind: ExportKind = ExportKind.CSV, *, layout: Layout | None = None, selection: Selection | None = None,
        until: datetime | None = None, with_names: bool = True, key: UUID | None = None, event_id: UUID | None = None,
    ) -> UUID:  # fmt: skip
        wanted = ExportOrder(
            event_id or self.tenant.event_id, kind, layout or (Layout.A4 if kind is ExportKind.PDF else None),
            selection or Selection(), until or factory.now() + timedelta(days=2), with_names,
        )  # fmt: skip
        async with self.tenant.db.transaction() as tx:
            return await card_exports.begin(
                tx, self.tenant.id, key or new_id(), wanted, by=factory.BY, at=factory.now()
            )

    async def step(self, *, at: datetime | None = None) -> CardExport | None:
        async with self.tenant.db.transaction() as tx:
            job = await card_exports.claim(tx, at=at or factory.now())
        if job is not None:
            await self.make_part(job)
        return job

    async def make_part(self, job: CardExport) -> bool:
        at = factory.now()
        async with self.tenant.db.transaction() as tx:
            batch = await card_exports.next_batch(
                tx, job, factory.VAULT, public_url="https://cards.example", cell="a", at=at
            )
        part = None
        if job.kind is ExportKind.PDF and batch.cards:
            part = part_of(draw(batch.event, batch.cards, Layout(job.layout)), next_object(job))
        async with self.tenant.db.transaction() as tx:
            if job.kind is ExportKind.CSV:
                return await card_exports.record_csv(tx, job, batch, factory.VAULT, at=at)
            return await card_exports.record_pdf(tx, job, batch, part, factory.VAULT, at=at)

    async def made(self, export_id: UUID) -> CardExport:
        while await self.step():
            pass
        return await self.find(export_id)

    async def find(self, export_id: UUID) -> CardExport:
        async with self.tenant.db.autocommit() as tx:
            return await card_exports.find(tx, self.tenant.id, export_id)

    async def content(self, export_id: UUID) -> bytes:
        async with self.tenant.db.transaction() as tx:
            job = await card_exports.begin_download(
                tx, self.tenant.id, export_id, by=factory.BY, at=factory.now(), told=self.tenant.id
            )
            parts = [
                await card_exports.read_part(tx, self.tenant.id, export_id, place, factory.VAULT)
                for place in range(job.parts)
            ]
        whole = b"".join(parts)
        assert len(whole) == job.size
        return whole

    async def parts_kept(self) -> int:
        async with self.tenant.db.autocommit() as tx:
            return await tx.value("SELECT count(*) FROM card_export_part WHERE organization_id = $1", self.tenant.id)


@pytest.fixture
async def press(own: Database) -> Press:
    """No export of an earlier test is under way."""
    async with own.transaction() as tx:
        await tx.run("UPDATE card_export SET state = 'stopped' WHERE state = 'under_way'")
    return Press(await factory.tenant(own))
