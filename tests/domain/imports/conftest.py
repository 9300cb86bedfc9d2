"""On a database of their own, because a worker that advances imports advances those of all organizations."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import pytest

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import events, imports, maintenance
from gatepass.domain.imports import FaultyRow, Import, ImportState
from tests import factory
from tests.factory import Tenant
from tests.postgres import Cluster


@pytest.fixture(scope="module")
async def own(cluster: Cluster, request: pytest.FixtureRequest) -> AsyncGenerator[Database]:
    url = cluster.create_migrated(f"gatepass_imports_{new_id().hex[-8:]}")
    database = factory.database(url, connections=8)
    await maintenance.run_due(database, at=factory.now())
    yield database
    await database.close()


@dataclass
class Desk:
    """Uploads files, names their columns and runs the import."""

    tenant: Tenant
    vip: UUID

    async def stage(self, text: str, *, event_id: UUID | None = None, key: UUID | None = None) -> UUID:
        async with self.tenant.db.transaction() as tx:
            import_id, is_new = await imports.begin(
                tx,
                self.tenant.id,
                event_id or self.tenant.event_id,
                key or new_id(),
                "guests.csv",
                by=factory.BY,
                at=now(),
            )
            if is_new:
                sheet = imports.CsvReader()
                rows = sheet.feed(text.encode()) + sheet.end()
                await imports.stage(tx, self.tenant.id, import_id, rows, at=now())
                await imports.received(tx, self.tenant.id, import_id, sheet.header, at=now())
        return import_id

    async def name(
        self, import_id: UUID, *columns: str, category_id: UUID | None = None, companions: bool = False
    ) -> None:
        async with self.tenant.db.transaction() as tx:
            job = await imports.find(tx, self.tenant.id, import_id)
            named = columns or imports.guess(job.header)
            await imports.name_columns(
                tx, self.tenant.id, job, named, category_id, companions=companions, by=factory.BY, at=now()
            )

    async def checked(self, text: str, *columns: str, category_id: UUID | None = None) -> Import:
        import_id = await self.stage(text)
        await self.name(import_id, *columns, category_id=category_id)
        return await self.worked(import_id)

    async def applied(self, text: str, *columns: str, category_id: UUID | None = None) -> Import:
        job = await self.checked(text, *columns, category_id=category_id)
        return await self.apply(job.id)

    async def apply(self, import_id: UUID) -> Import:
        async with self.tenant.db.transaction() as tx:
            await imports.begin_applying(tx, self.tenant.id, import_id, by=factory.BY, at=now())
        return await self.worked(import_id)

    async def undone(self, import_id: UUID) -> Import:
        async with self.tenant.db.transaction() as tx:
            await imports.begin_undoing(tx, self.tenant.id, import_id, by=factory.BY, at=now(), reason="wrong file")
        return await self.worked(import_id)

    async def worked(self, import_id: UUID) -> Import:
        """The import after all its steps."""
        while await self.step():
            pass
        return await self.find(import_id)

    async def step(self) -> ImportState | None:
        async with self.tenant.db.transaction() as tx:
            job = await imports.next_under_way(tx)
            if job is not None:
                await imports.advance(tx, job, at=now())
        return job.state if job else None

    async def find(self, import_id: UUID) -> Import:
        async with self.tenant.db.autocommit() as tx:
            return await imports.find(tx, self.tenant.id, import_id)

    async def faults(self, import_id: UUID) -> list[FaultyRow]:
        async with self.tenant.db.autocommit() as tx:
            return await imports.faulty_rows(tx, self.tenant.id, import_id, limit=1000)

    async def codes(self, import_id: UUID) -> dict[int, str]:
        return {row.line: row.fault for row in await self.faults(import_id)}

    async def value(self, sql: str, *values: object) -> int:
        async with self.tenant.db.autocommit() as tx:
            return await tx.value(sql, self.tenant.id, *values)  # pyright: ignore[reportArgumentType]

    async def sold(self) -> int:
        return await self.value("SELECT sum(quantity_sold) FROM ticket_category WHERE organization_id = $1")

    async def tickets(self) -> int:
        return await self.value("SELECT count(*) FROM ticket WHERE organization_id = $1")

    async def cards(self) -> int:
        return await self.value("SELECT count(*) FROM card WHERE organization_id = $1")


def now() -> datetime:
    return factory.now()


@pytest.fixture
async def tenant(own: Database) -> Tenant:
    return await factory.tenant(own, places=10_000)


@pytest.fixture
async def desk(tenant: Tenant) -> Desk:
    async with tenant.db.transaction() as tx:
        vip = await events.add_category(
            tx, tenant.id, tenant.event_id, "Backstage", Decimal(90), "EUR", 3, tier="vip", by=factory.BY, at=now()
        )
    return Desk(tenant, vip)
