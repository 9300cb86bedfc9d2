"""The live page in a real browser: a real POST /scan is on the screen within a second."""

import asyncio
import time
from typing import Any

import pytest
from playwright.async_api import Page, expect

from gatepass.domain import events
from gatepass.domain.keys import Scope
from gatepass.domain.staff import Role
from tests import factory
from tests.browser.studio import Stack, picture, sign_in, violations
from tests.browser.visit import DESKTOP, PHONE, Visitor
from tests.size import NIGHT

pytestmark = pytest.mark.browser
GATES = ("North", "North", "North", "South", "South", "Stage door")


async def busy_night(tenant: factory.Tenant, stack: Stack) -> list[str]:
    """An event in progress: two categories, three gates, some refusals. Returns cards that are not scanned yet."""
    async with tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE event SET title = 'Midsummer Night', time_zone = 'Europe/Brussels' WHERE organization_id = $1",
            tenant.id,
        )
        await tx.run("UPDATE organization SET name = 'Riverside Hall' WHERE id = $1", tenant.id)
        vip = await events.add_category(
            tx,
            tenant.id,
            tenant.event_id,
            "VIP balcony",
            factory.Decimal(90),
            "EUR",
            20,
            tier="vip",
            by=factory.BY,
            at=factory.now(),
        )
    cards = [await tenant.card() for _ in range(60)]
    general, tenant.category_id = tenant.category_id, vip
    cards += [await tenant.card() for _ in range(19)]
    tenant.category_id = general
    key = await tenant.key(Scope.TICKETS_ACTIVATE)
    async with stack.server.client(key.text) as client:
        inside = cards[25:]
        for place, card in enumerate([*inside, *inside[:4]]):
            await scan(client, tenant, card.number, GATES[place % len(GATES)])
        await scan(client, tenant, "SVC 0000 0000 0000", "South")
    async with tenant.db.transaction() as tx:
        await tx.run(SPREAD, tenant.id)
    return [card.number for card in cards[:25]]


# Spread over the hour, so that the chart has bars; and one silent scanner.
SPREAD = """
    UPDATE scan
       SET at = at - (abs(hashtext(id::text)) % 3000) * interval '1 second',
           scanner_id = gate || ' ' || 1 + abs(hashtext(id::text)) % 2
     WHERE organization_id = $1
"""


async def scan(client: Any, tenant: factory.Tenant, number: str, gate: str) -> int:
    answer = await client.post(
        "/scan",
        json={"event_id": str(tenant.event_id), "card_number": number, "gate": gate, "scanner_id": f"{gate} 1"},
    )
    return answer.status_code


def activated(page: Page) -> Any:
    return page.locator("[data-figure=activated]")


async def test_a_scan_is_on_the_live_page_within_a_second(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    coming = await busy_night(tenant, stack)
    visited = await sign_in(stack, tenant, visit, role=Role.GATE_LEAD)
    page = visited.page
    await page.goto(stack.url(f"events/{tenant.event_id}/live"))
    await expect(page.locator("[data-state]")).to_have_text("Live")
    await expect(activated(page)).to_have_text("54")
    key = await tenant.key(Scope.TICKETS_ACTIVATE)
    took: list[float] = []
    async with stack.server.client(key.text) as client:
        for number, card in enumerate(coming[:5], 55):
            seen = asyncio.create_task(page.wait_for_function(SHOWS, arg=str(number), polling=10, timeout=60_000))
            began = time.perf_counter()
            assert await scan(client, tenant, card, "North") == 200
            await seen
            took.append(time.perf_counter() - began)
    print(f"from POST /scan to the screen: {', '.join(f'{1000 * one:.0f}' for one in took)} ms")
    if NIGHT:
        assert max(took) < 1
    await expect(page.get_by_role("region", name="Last scans, a table")).to_contain_text(coming[4])
    alarms = page.get_by_role("status").filter(has_text="VIP balcony is nearly full")
    await expect(alarms).to_be_visible()
    await picture(page, "live")
    assert await violations(page) == []
    assert visited.complaints == []
    assert visited.elsewhere(stack.origin) == []


SHOWS = "(wanted) => document.querySelector('[data-figure=activated]').textContent === wanted"


async def test_the_live_page_looks_right_everywhere(
    stack: Stack, tenant: factory.Tenant, visit: Visitor, screenshots: Any
) -> None:
    await busy_night(tenant, stack)
    for colours, viewport in (("light", DESKTOP), ("dark", DESKTOP), ("light", PHONE), ("dark", PHONE)):
        visited = await sign_in(stack, tenant, visit, role=Role.VIEWER, colours=colours, viewport=viewport)
        page = visited.page
        for name, rest in (("live", ""), ("wall", "/projector")):
            await page.goto(stack.url(f"events/{tenant.event_id}/live{rest}"))
            await expect(page.locator("[data-state]")).to_have_text("Live")
            await page.screenshot(path=screenshots / f"{name}-{colours}-{viewport['width']}.png", full_page=True)
            assert await violations(page) == []
            assert await page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
            if name == "wall" and viewport == DESKTOP and colours == "dark":
                await picture(page, "live-projector")
        # Leaving a page ends its stream, and the browser reports that as a failure.
        assert [one for one in visited.complaints if not one.endswith("/live/stream")] == []


async def test_without_a_script_the_figures_stand_and_say_so(
    stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    visited = await sign_in(stack, tenant, visit, javascript=False)
    await visited.page.goto(stack.url(f"events/{tenant.event_id}/live"))
    await expect(visited.page.get_by_text("need JavaScript")).to_be_visible()
    await expect(activated(visited.page)).to_have_text("0")
    assert visited.complaints == []
