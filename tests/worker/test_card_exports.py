"""The worker makes files of cards: it goes on after a kill, and its drawing process ends with it."""

import asyncio
import os
import select
import signal
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import card_exports, cards, tickets
from gatepass.domain.card_exports import CardExport, ExportKind, ExportOrder, ExportState, Selection
from gatepass.domain.card_sheets import Layout, PrintedCard, PrintedEvent
from gatepass.worker.card_drawing import CardDrawer, DrawingFailed
from gatepass.worker.card_exports import CardExportRunner
from tests import factory
from tests.domain.card_exports.printed_pages import codes_on, rendered
from tests.factory import Tenant
from tests.warm.processes import launch_worker
from tests.worker.conftest import settings_for, working


async def load(tenant: Tenant, count: int) -> list[str]:
    """The numbers of so many new cards with tickets."""
    async with tenant.db.transaction() as tx:
        made = await tickets.load(
            tx, tenant.id, tenant.event_id, [tenant.category_id], count, prefix="SVC", at=factory.now()
        )
    return [one.card_number for one in made]


async def begin(tenant: Tenant, kind: ExportKind = ExportKind.PDF) -> UUID:
    layout = Layout.A4 if kind is ExportKind.PDF else None
    wanted = ExportOrder(tenant.event_id, kind, layout, Selection(), factory.now() + timedelta(days=1), with_names=True)
    async with tenant.db.transaction() as tx:
        return await card_exports.begin(tx, tenant.id, new_id(), wanted, by=factory.BY, at=factory.now())


async def find(tenant: Tenant, export_id: UUID) -> CardExport:
    async with tenant.db.autocommit() as tx:
        return await card_exports.find(tx, tenant.id, export_id)


async def followed(tenant: Tenant, export_id: UUID, *, until: int) -> CardExport:
    """The export when it has made so many cards, or has ended."""
    async with asyncio.timeout(120):
        while True:
            found = await find(tenant, export_id)
            if found.done >= until or found.state is not ExportState.UNDER_WAY:
                return found
            await asyncio.sleep(0.05)


async def content(tenant: Tenant, made: CardExport) -> bytes:
    async with tenant.db.autocommit() as tx:
        places = range(made.parts)
        return b"".join(
            [await card_exports.read_part(tx, tenant.id, made.id, place, factory.VAULT) for place in places]
        )


async def numbers_on(tenant: Tenant, document: bytes, folder: Path) -> list[str]:
    (folder / "cards.pdf").write_bytes(document)
    async with tenant.db.autocommit() as tx:
        keys = await cards.verifying_keys(tx, tenant.id)
    texts = [text for page in rendered(folder / "cards.pdf", folder) for text in codes_on(page)]
    return [cards.read_token(text, keys).card_number for text in texts]


async def test_both_kinds_are_made_beside_the_deliveries(own: Database, tenant: Tenant, tmp_path: Path) -> None:
    numbers = await load(tenant, 23)
    async with working(own):
        ids = [await begin(tenant, kind) for kind in (ExportKind.PDF, ExportKind.CSV)]
        pdf, csv = [await followed(tenant, export_id, until=24) for export_id in ids]
    assert (pdf.state, csv.state) == (ExportState.READY, ExportState.READY)
    assert sorted(await numbers_on(tenant, await content(tenant, pdf), tmp_path)) == sorted(numbers)
    assert len((await content(tenant, csv)).splitlines()) == 24


@pytest.mark.processes
async def test_a_killed_worker_loses_nothing_and_leaves_no_process(own: Database, tmp_path: Path) -> None:
    """Two workers are killed in the middle; a third one ends the file. No card is missing, none is there twice."""
    tenant = await factory.tenant(own)
    numbers = await load(tenant, 1_000)
    export_id = await begin(tenant)
    environment = {
        **factory.environment(own.url), "GATEPASS_ENCRYPTION_KEYS": factory.KEY, "GATEPASS_DATABASE_CONNECTIONS": "4",
    }  # fmt: skip
    for _ in range(2):
        before = (await find(tenant, export_id)).done
        worker = launch_worker(environment)
        try:
            now = await followed(tenant, export_id, until=before + 1)
            drawers = [os.pidfd_open(pid) for pid in children_of(worker.process.pid)]
        finally:
            worker.kill()
        assert now.state is ExportState.UNDER_WAY
        assert drawers
        for drawer in drawers:  # readable as soon as the process has ended
            assert select.select([drawer], [], [], 30)[0]
            os.close(drawer)
        async with own.transaction() as tx:  # as if the lease of the dead worker were over
            await tx.run("UPDATE card_export SET due_at = now() WHERE organization_id = $1", tenant.id)
    async with working(own):
        made = await followed(tenant, export_id, until=len(numbers) + 1)
    assert (made.state, made.done) == (ExportState.READY, len(numbers))
    assert sorted(await numbers_on(tenant, await content(tenant, made), tmp_path)) == sorted(numbers)


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def test_a_drawing_process_that_dies_is_started_again(own: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = await factory.tenant(own)
    await load(tenant, 5)
    export_id = await begin(tenant)
    runner = CardExportRunner(own, settings_for(own), factory.now)
    draw, killed = CardDrawer._ask, list[int]()

    async def killed_once(self: CardDrawer, request: bytes) -> bytes:
        if self._process is not None and not killed:
            killed.append(self._process.pid)
            os.kill(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        return await draw(self, request)

    drawer = runner._drawer
    event = PrintedEvent("Summer Opening", "Sat 21 Nov 2026, 19:30", "Hall 1")
    await drawer.draw(event, [PrintedCard("SVC 0000 0000 0000", "General", "Ann", None)], Layout.CARD, 3)
    monkeypatch.setattr(CardDrawer, "_ask", killed_once)
    with pytest.raises(DrawingFailed):
        await runner.step()
    assert killed
    found = await find(tenant, export_id)
    assert (found.state, found.failures) == (ExportState.UNDER_WAY, 1)
    async with own.transaction() as tx:
        await tx.run("UPDATE card_export SET due_at = now() WHERE organization_id = $1", tenant.id)
    assert await runner.step()
    assert (await find(tenant, export_id)).state is ExportState.READY
    await drawer.close()
