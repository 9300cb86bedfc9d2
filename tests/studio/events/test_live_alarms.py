"""Alarms on the live page and on the projector."""

from tests.domain.live.test_totals import activate, key_of, scan
from tests.studio.browser_session import BrowserSession


async def test_that_all_of_a_category_are_in_is_good_news(user: BrowserSession) -> None:
    tenant, key_id = user.tenant, await key_of(user.tenant)
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE ticket_category SET quantity_total = 1 WHERE organization_id = $1", tenant.id)
    card = await tenant.card()
    async with tenant.db.transaction() as tx:
        await activate(tx, [scan(tenant, key_id, card.number)])
    page = await user.see(f"events/{tenant.event_id}/live")
    note = page.partition('data-piece="alarms"')[2].partition("</p>")[0]
    assert "General is full: all 1 are in." in note
    assert 'data-tone="good"' in note
    assert 'class="wall-alarm" data-tone="good"' in await user.see(f"events/{tenant.event_id}/live/projector")
