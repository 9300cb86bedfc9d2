"""The incidents of an event: seen, filtered, counted on the live page, closed with a note."""

import pytest

from gatepass.domain import incidents
from gatepass.domain.cards import Card
from gatepass.domain.staff import Role
from gatepass.studio.events import live
from gatepass.studio.middleware import Middleware
from tests.factory import BY, Tenant, now
from tests.studio.browser_session import BrowserSession, sign_in


async def let_in(tenant: Tenant, card: Card, *, reason: str = "A guest of the band") -> str:
    async with tenant.db.transaction() as tx:
        done = await incidents.let_in(tx, tenant.id, card.id, tenant.event_id, reason=reason, by=BY, at=now())
    return str(done.incident_id)


async def test_an_incident_is_seen_and_closed_with_a_note(
    user: BrowserSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "OLD_ENOUGH", 0)
    card = await user.tenant.card(with_ticket=False)
    id, here = await let_in(user.tenant, card), f"events/{user.tenant.event_id}/incidents"
    page = await user.see(here)
    assert card.number in page
    assert "A guest of the band" in page
    assert "1 incident is open" in await user.see(f"events/{user.tenant.event_id}/live")
    assert 'aria-invalid="true"' in (await user.send(f"{here}/{id}/close", status=422, note="")).text
    await user.send(f"{here}/{id}/close", note="It was the drummer")
    assert "No open incident" in await user.see(here)
    closed = await user.see(f"{here}?state=closed&kind=override")
    assert "It was the drummer" in closed
    assert card.number not in await user.see(f"{here}?state=all&kind=duplicate")
    await user.send(f"{here}/{id}/close", status=409, note="again")
    assert "incident is open" not in await user.see(f"events/{user.tenant.event_id}/live")


async def test_a_viewer_sees_and_closes_nothing(user: BrowserSession, studio: Middleware) -> None:
    card = await user.tenant.card(with_ticket=False)
    id, here = await let_in(user.tenant, card), f"events/{user.tenant.event_id}/incidents"
    async with await sign_in(studio, user.tenant, Role.VIEWER) as viewer:
        page = await viewer.see(here)
        assert card.number not in page
        assert f"•••• •••• {card.number[-4:]}" in page
        assert "/close" not in page
        await viewer.send(f"{here}/{id}/close", status=403, note="x")


async def test_an_incident_of_another_event_is_not_here(user: BrowserSession) -> None:
    other, card = await user.tenant.event(), await user.tenant.card(with_ticket=False)
    id = await let_in(user.tenant, card)
    await user.send(f"events/{other}/incidents/{id}/close", status=404, note="x")
    assert card.number not in await user.see(f"events/{other}/incidents")
