"""Files of cards open gates: nobody gets another's, a deleted one, a formula in one, or the service to its knees."""

from datetime import timedelta

import httpx2
import pytest

from bench import cpu
from gatepass.base.ids import new_id
from gatepass.domain import card_exports, tickets
from gatepass.domain.card_exports import ExportKind
from gatepass.domain.cards import HolderDetails
from gatepass.domain.tickets import TicketRequest
from tests import factory
from tests.attacks.inputs.test_csv_formulas import FORMULAS, assert_harmless
from tests.attacks.target import Target
from tests.studio.samples.tickets import made_file, ordered


async def stop_all(tenant: factory.Tenant) -> None:
    """Room for new files: an organization has a bounded number."""
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE card_export SET state = 'stopped' WHERE organization_id = $1", tenant.id)


def order(**changed: object) -> dict[str, object]:
    until = str((factory.now() + timedelta(days=2)).date())
    return {"form_key": str(new_id()), "format": "csv", "until": until, "names": "true"} | changed


async def test_another_organizations_file_is_not_found(target: Target) -> None:
    await target.other.card()
    ready, making = await made_file(target.other), await ordered(target.other)
    async with target.studio() as owner:
        for event_id in (target.tenant.event_id, target.other.event_id):
            there = target.event_page("/cards", event_id)
            answers = [
                await owner.get(f"{there}/{ready}/file"),
                await owner.post(f"{there}/{ready}/delete"),
                await owner.post(f"{there}/{making}/stop"),
            ]
            assert [answer.status_code for answer in answers] == [404, 404, 404]
        assert (await owner.get(target.event_page("/cards", target.other.event_id))).status_code == 404
        assert (await owner.post(target.event_page("/cards", target.other.event_id), data=order())).status_code == 404
    async with target.other.db.autocommit() as tx:
        assert (await card_exports.find(tx, target.other.id, ready)).downloads == 0
    await stop_all(target.other)


async def test_tickets_of_another_organization_are_not_printed(target: Target) -> None:
    card = await target.other.card()
    async with target.other.db.autocommit() as tx:
        theirs = await tx.value(
            "SELECT id FROM ticket WHERE organization_id = $1 AND card_id = $2", target.other.id, card.id
        )
    async with target.studio() as owner:
        answer = await owner.post(target.event_page("/cards"), data=order(ticket=str(theirs)))
        assert answer.status_code == 422
        assert (await owner.post(target.page(f"tickets/{theirs}/print"), data={})).status_code == 404


async def test_a_download_that_is_replayed_after_the_file_is_gone(target: Target) -> None:
    await target.tenant.card()
    ready = await made_file(target.tenant)
    path = target.event_page(f"/cards/{ready}/file")
    async with target.studio() as owner:
        assert (await owner.get(path)).status_code == 200
        assert (await owner.post(path.replace("/file", "/delete"))).status_code == 303
        assert (await owner.get(path)).status_code == 409
    async with httpx2.AsyncClient(base_url=target.server.url) as stranger:
        assert (await stranger.get(path)).status_code == 303
    async with target.tenant.db.autocommit() as tx:
        kept = await tx.value(
            "SELECT count(*) FROM card_export_part WHERE organization_id = $1 AND export_id = $2",
            target.tenant.id,
            ready,
        )
    assert kept == 0


@pytest.mark.finding(8)
@pytest.mark.parametrize("name", FORMULAS)
async def test_names_that_are_formulas(target: Target, name: str) -> None:
    tenant = await factory.tenant(target.tenant.db)
    holder = HolderDetails(FORMULAS[name], None)
    async with tenant.db.transaction() as tx:
        request = TicketRequest(tenant.event_id, tenant.category_id, holder=holder)
        await tickets.issue(tx, tenant.id, request, by=factory.BY, at=factory.now())
    ready = await made_file(tenant)
    async with tenant.db.autocommit() as tx:
        content = await card_exports.read_part(tx, tenant.id, ready, 0, factory.VAULT)
    assert_harmless(content.decode("utf-8-sig"))


async def test_a_huge_selection_costs_little(target: Target) -> None:
    ids = [str(new_id()) for _ in range(2_000)]
    async with target.studio() as owner:
        before = cpu.exact_seconds(target.server.process.pid)
        there = target.event_page("/cards")
        answer = await owner.post(there, data=order(ticket=ids))
        assert answer.status_code in (400, 413, 422)
        answer = await owner.post(there, data=order(ticket=ids[:150]))
        assert answer.status_code == 422
        answer = await owner.get(f"{there}?" + "&".join(f"ticket={id}" for id in ids[:150]))
        assert answer.status_code == 200
        assert '<strong class="num">0 cards</strong>' in answer.text
        assert cpu.exact_seconds(target.server.process.pid) - before < 5


@pytest.mark.parametrize("title", ['x"; filename="evil.exe', "x\r\nSet-Cookie: a=b", "../../etc/passwd", "王", ""])
def test_a_title_stays_in_the_file_name(title: str) -> None:
    name = card_exports.name_of(ExportKind.PDF, title)
    assert name.endswith(".pdf")
    assert not set(name) & set('"\r\n/\\; ')
