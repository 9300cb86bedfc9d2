"""Incidents in a real browser: seen on the live page, looked into, closed; somebody is let in by hand."""

from datetime import timedelta

import pytest
from playwright.async_api import Page, ViewportSize, expect

from tests import factory
from tests.browser.studio import Stack, picture, sign_in, violations
from tests.browser.visit import Visitor
from tests.domain.journal.device import pair, upload
from tests.factory import now

pytestmark = pytest.mark.browser

# The smallest phone that we know of.
NARROW = ViewportSize(width=320, height=568)


async def is_fit(page: Page) -> None:
    """Axe finds nothing, and nothing is too wide for the smallest phone."""
    assert await violations(page) == []
    size = page.viewport_size
    assert size is not None
    await page.set_viewport_size(NARROW)
    assert await page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    await page.set_viewport_size(size)


async def test_a_second_admission_is_seen_explained_and_closed(
    stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    north, south = await pair(tenant, "North 2"), await pair(tenant, "South 1")
    card = await tenant.card()
    for device, minutes in ((north, 9), (south, 7)):
        async with stack.server.client(device.key) as client:
            await upload(client, device.entry(token=tenant.token(card), occurred_at=now() - timedelta(minutes=minutes)))
    page = (await sign_in(stack, tenant, visit)).page
    await page.goto(stack.url(f"events/{tenant.event_id}/live"))
    await expect(page.get_by_text("1 incident is open")).to_be_visible()
    await page.get_by_role("link", name="Look at them").click()
    await expect(page.get_by_text("North 2")).to_be_visible()
    await expect(page.get_by_text("South 1")).to_be_visible()
    await picture(page, "incident")
    await is_fit(page)
    await page.get_by_label("What was it?").fill("Two friends with one ticket; both paid")
    await page.get_by_role("button", name="Close the incident").click()
    await expect(page.get_by_text("No open incident")).to_be_visible()


async def test_a_lead_lets_somebody_in(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    card = await tenant.card()
    page = (await sign_in(stack, tenant, visit)).page
    await page.goto(stack.url(f"cards/{card.id}"))
    await is_fit(page)
    await page.locator("summary", has_text="Let in").click()
    await page.locator("#why-let-in").fill("Her card is at home")
    await page.get_by_role("button", name="Let in to Summer Opening").click()
    await expect(page.get_by_text("The ticket is used now.")).to_be_visible()
    await expect(page.get_by_text("let in by a person")).to_be_visible()
