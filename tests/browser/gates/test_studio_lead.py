"""The lead's page in a real browser: with one hand on a phone, without JavaScript, light and dark."""

import os

import pytest
from playwright.async_api import Page, ViewportSize, expect

from gatepass.domain import tickets
from gatepass.domain.cards import HolderDetails
from gatepass.domain.staff import Role
from gatepass.domain.tickets import TicketRequest
from tests import factory
from tests.browser.studio import PICTURES, Stack, sign_in, violations
from tests.browser.visit import PHONE, Colours, Visitor
from tests.domain.journal.device import pair

pytestmark = pytest.mark.browser

WIDTHS = (320, 390, 768, 1280)
# What a finger hits without looking.
FINGER = 44


async def is_fit(page: Page) -> None:
    """Axe finds nothing, nothing is too wide on any screen, and buttons are as large as a finger."""
    assert await violations(page) == []
    for width in WIDTHS:
        await page.set_viewport_size(ViewportSize(width=width, height=844))
        assert await page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth"), width
    await page.set_viewport_size(PHONE)
    for button in await page.locator(".btn, main input:visible").all():
        box = await button.bounding_box()
        assert box is not None
        assert box["height"] >= FINGER, await button.text_content()


@pytest.mark.parametrize(("colours", "javascript"), [("light", True), ("dark", True), ("dark", False)])
async def test_a_lead_finds_a_guest_and_lets_her_in(
    stack: Stack, tenant: factory.Tenant, visit: Visitor, colours: Colours, javascript: bool
) -> None:
    await pair(tenant, "North 2")
    request = TicketRequest(tenant.event_id, tenant.category_id, holder=HolderDetails("Grace Hopper", "g@example.org"))
    async with tenant.db.transaction() as tx:
        await tickets.issue(tx, tenant.id, request, by=factory.BY, at=factory.now())
    visited = await sign_in(
        stack, tenant, visit, role=Role.GATE_LEAD, viewport=PHONE, colours=colours, javascript=javascript
    )
    page = visited.page
    await page.goto(stack.url(f"/studio/lead?event={tenant.event_id}&gate=North%202"))
    await expect(page.get_by_role("banner")).to_contain_text("North 2")
    if javascript:
        await is_fit(page)
    await page.get_by_label("Name, e-mail or card number").fill("grace")
    await page.get_by_role("button", name="Find").click()
    await page.get_by_role("link", name="Grace Hopper").click()
    await expect(page.get_by_text("Unused")).to_be_visible()
    await page.get_by_label("Why do you let them in?").fill("Her phone is flat; I saw her passport")
    await page.get_by_role("button", name="Let in").click()
    await expect(page.get_by_text("The ticket is used now.")).to_be_visible()
    await page.get_by_label("Name, e-mail or card number").fill("hopper")
    await page.get_by_role("button", name="Find").click()
    if javascript:
        await is_fit(page)
    await page.get_by_role("link", name="Grace Hopper").click()
    await expect(page.get_by_text("North 2, by Ada Byron")).to_be_visible()
    await expect(page.get_by_role("button", name="Let in anyway")).to_be_visible()
    if javascript:
        await is_fit(page)
        await phone_picture(page, "lead-guest")
    await page.get_by_role("link", name="Scanner").click()
    await page.wait_for_url("**/gate")
    assert visited.complaints == []


async def phone_picture(page: Page, name: str) -> None:
    """As `picture`, on a phone."""
    if os.environ.get("GATEPASS_PICTURES"):
        await page.screenshot(path=PICTURES / f"{name}.png")
