"""A lead lets somebody in by hand: an unused ticket is used, anything else is an incident; each with a reason."""

import re

from gatepass.domain import incidents, tickets
from gatepass.domain.cards import Card, CardStatus
from gatepass.domain.incidents import Incident, IncidentFilter
from gatepass.domain.staff import Role
from gatepass.studio.middleware import Middleware
from tests.factory import Tenant
from tests.studio.browser_session import BrowserSession, sign_in

WHY = "Her card is at home; I know her"


async def opened(tenant: Tenant) -> list[Incident]:
    async with tenant.db.autocommit() as tx:
        return (await incidents.list_incidents(tx, tenant.id, IncidentFilter(), limit=50))[0]


def let_in_at(tenant: Tenant, card: Card) -> str:
    return f"cards/{card.id}/let-in/{tenant.event_id}"


async def test_an_unused_ticket_is_used_and_the_history_says_by_whom(user: BrowserSession) -> None:
    card = await user.tenant.card()
    await user.send(let_in_at(user.tenant, card), reason=WHY)
    page = await user.see(f"cards/{card.id}")
    assert "let in by a person" in page
    assert WHY in page
    async with user.tenant.db.autocommit() as tx:
        (ticket,) = await tickets.of_card(tx, user.tenant.id, card.id)
        scan = (await tx.rows("SELECT * FROM scan WHERE organization_id = $1", user.tenant.id))[0]
    assert ticket.state == "activated"
    assert (scan["verdict"], scan["ticket_id"]) == ("activated", ticket.id)
    assert scan["scanner_id"] == f"person {scan['key_id']}"
    assert await opened(user.tenant) == []


async def test_whoever_was_let_in_before_is_a_duplicate_beside_the_override(user: BrowserSession) -> None:
    card = await user.tenant.card()
    await user.send(let_in_at(user.tenant, card), reason=WHY)
    await user.send(let_in_at(user.tenant, card), reason="again")
    found = await opened(user.tenant)
    assert sorted(one.kind for one in found) == ["duplicate", "override"]
    assert {one.reason for one in found} == {"again"}
    async with user.tenant.db.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM scan WHERE organization_id = $1", user.tenant.id) == 1


async def test_a_suspended_card_uses_nothing(user: BrowserSession) -> None:
    card, bare = await user.tenant.card(), await user.tenant.card(with_ticket=False)
    await user.tenant.move_card(card, CardStatus.SUSPENDED)
    await user.send(let_in_at(user.tenant, card), reason=WHY)
    await user.send(let_in_at(user.tenant, bare), reason=WHY)
    assert [one.kind for one in await opened(user.tenant)] == ["override", "override"]
    assert "Incidents" in await user.see(f"cards/{bare.id}")
    await user.tenant.move_card(card, CardStatus.ACTIVE)
    await user.send(let_in_at(user.tenant, card), reason="now it is good")
    assert [one.kind for one in await opened(user.tenant)] == ["duplicate", "override", "override"]


async def test_without_a_reason_nobody_is_let_in(user: BrowserSession) -> None:
    card = await user.tenant.card()
    asked = await user.send(let_in_at(user.tenant, card), status=422, reason=" ")
    assert 'aria-invalid="true"' in asked.text
    async with user.tenant.db.autocommit() as tx:
        (ticket,) = await tickets.of_card(tx, user.tenant.id, card.id)
    assert ticket.state == "issued"


async def test_a_gate_lead_may_and_a_viewer_may_not(user: BrowserSession, studio: Middleware) -> None:
    card = await user.tenant.card()
    async with await sign_in(studio, user.tenant, Role.GATE_LEAD) as lead:
        assert re.search(r'formaction="[^"]+/let-in/', await lead.see(f"cards/{card.id}"))
        await lead.send(let_in_at(user.tenant, card), reason=WHY)
    async with await sign_in(studio, user.tenant, Role.VIEWER) as viewer:
        assert "/let-in/" not in await viewer.see(f"cards/{card.id}")
        await viewer.send(let_in_at(user.tenant, card), status=403, reason=WHY)
