"""A refused form in a real browser: all errors at once, the first wrong field in focus, red until it is corrected."""

import pytest
from playwright.async_api import expect

from tests import factory
from tests.browser.studio import Stack, sign_in, violations
from tests.browser.visit import PHONE, Visitor

pytestmark = pytest.mark.browser


async def test_a_refused_form_shows_every_error_and_each_goes_when_it_is_corrected(
    stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    visited = await sign_in(stack, tenant, visit, colours="dark", viewport=PHONE)
    page = visited.page
    await page.goto(stack.url("events/new"))
    await expect(page.get_by_label("Title")).to_be_focused()
    await page.get_by_label("Title").fill("Winter Garden")
    zone, end = page.get_by_label("Time zone of the venue"), page.get_by_label("End time")
    await zone.fill("Nowhere")
    await end.fill("")
    await page.get_by_role("button", name="Make the draft").click()
    await expect(page.locator(".wrong:visible")).to_have_count(2)
    await expect(zone).to_be_focused()
    assert await violations(page) == []

    await zone.fill("Brussels")
    await expect(page.locator(".wrong:visible")).to_have_count(1)
    await expect(zone).not_to_have_attribute("aria-invalid", "true")
    await expect(page.get_by_role("alert")).to_be_visible()
    await end.fill("19:00")
    await expect(page.locator(".wrong:visible")).to_have_count(0)
    await expect(page.get_by_role("alert")).to_be_hidden()

    await page.get_by_role("button", name="Make the draft").click()
    await expect(page.get_by_text("An event starts before it ends.")).to_be_visible()
    await expect(page.get_by_label("End date")).to_be_focused()
    await end.fill("23:30")
    await expect(page.get_by_text("An event starts before it ends.")).to_be_hidden()
    await expect(page.get_by_label("End date")).not_to_have_attribute("aria-invalid", "true")
    await page.get_by_role("button", name="Make the draft").click()

    for label in ("Price", "Places"):
        await page.get_by_label(label, exact=True).fill("-3")
    await page.get_by_role("button", name="Add", exact=True).click()
    await expect(page.locator(".wrong:visible")).to_have_count(3)
    await expect(page.get_by_label("Name", exact=True)).to_be_focused()
    assert await violations(page) == []
    # Chromium tells the console that the refused form was answered with 422.
    assert [one for one in visited.complaints if "422" not in one] == []
