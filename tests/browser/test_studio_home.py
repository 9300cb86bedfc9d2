"""Home in a real browser: from nothing to a scan with its response and its webhook side by side."""

import pytest

from gatepass.domain.keys import Mode
from tests import factory
from tests.browser.studio import Stack, picture, sign_in, violations
from tests.browser.visit import Visitor
from tests.receivers import receiver_process

pytestmark = pytest.mark.browser


async def test_a_scan_its_answer_and_its_webhook_are_seen_side_by_side(
    stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    with receiver_process() as receiver:
        await tenant.endpoint(receiver.url, mode=Mode.SANDBOX)
        visited = await sign_in(stack, tenant, visit)
        page = visited.page
        await page.goto(stack.url("home", "sandbox"))
        await picture(page, "home")
        await page.get_by_role("button", name="Scan TEST_VALID now").click()
        await page.get_by_role("heading", name="The gate opens").wait_for()
        await page.locator("#told").get_by_text("delivered").wait_for()
        assert "ticket.activated" in await page.locator("#told pre").inner_text()
        assert receiver.count() == 1
        assert await violations(page) == []
        await picture(page, "home-try")
        await page.goto(stack.url("home"))
        await page.get_by_text("3 of 7 done").wait_for()
    assert visited.complaints == []
    assert visited.elsewhere(stack.origin) == []


async def test_the_palette_finds_by_id(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    page = (await sign_in(stack, tenant, visit)).page
    await page.keyboard.press("Control+k")
    await page.keyboard.type("nothing-has-this-name")
    await page.keyboard.press("Enter")
    await page.get_by_text("Nothing by that name").wait_for()
    assert await violations(page) == []
