"""Access in a real browser: requiring a second factor, being led to one, networks, and notices."""

from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests import factory
from tests.browser.studio import Stack, picture, sign_in, violations
from tests.browser.test_studio_people import plug_in
from tests.browser.visit import PHONE, Visitor

pytestmark = pytest.mark.browser


async def require(tenant: factory.Tenant, *, required: bool) -> None:
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE organization SET requires_second_factor = $2 WHERE id = $1", tenant.id, required)


async def add_passkey(stack: Stack, page: Page) -> None:
    await plug_in(page)
    await page.goto(stack.url("/studio/account"))
    await page.get_by_role("button", name="Add a passkey").click()
    await expect(page.get_by_role("status")).to_contain_text("The passkey is added.")


async def test_an_owner_requires_a_second_factor_and_others_are_led_to_one(
    stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    owner = (await sign_in(stack, tenant, visit)).page
    await add_passkey(stack, owner)
    await owner.goto(stack.url("settings"))
    await owner.get_by_role("link", name="Change").click()
    await owner.get_by_text("Require a second factor").first.click()
    await owner.get_by_role("button", name="Require a second factor").click()
    await expect(owner.get_by_text("everybody needs a second factor")).to_be_visible()
    await picture(owner, "settings-access")

    other = await sign_in(stack, tenant, visit, name="Grace Hopper", wait_for="**/second-factor?next=**")
    await other.page.get_by_role("link", name="Add one to your account").click()
    await add_passkey(stack, other.page)
    await other.page.goto(stack.url("home"))
    await expect(other.page.get_by_role("heading", level=1)).to_be_visible()
    await owner.goto(stack.url("team"))
    await expect(owner.get_by_text("Second factor missing")).to_have_count(0)
    assert other.complaints == []


async def test_a_notice_is_on_every_page_until_it_was_me(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    visited = await sign_in(stack, tenant, visit)
    page = visited.page
    await add_passkey(stack, page)
    await page.goto(stack.url("home"))
    await page.get_by_role("link", name="Was it you?").click()
    await expect(page.get_by_role("region", name="List of notices")).to_contain_text("A passkey was added")
    await page.get_by_role("button", name="It was me").click()
    await page.goto(stack.url("home"))
    await expect(page.get_by_role("link", name="Was it you?")).to_have_count(0)
    await page.goto(stack.url("/studio/account"))
    await page.get_by_text("This was not me").first.click()
    await page.get_by_role("button", name="This was not me").click()
    await expect(page.get_by_role("status")).to_contain_text("Everywhere else you are signed out.")
    assert visited.complaints == []


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
async def test_nothing_is_wrong_with_the_pages(
    stack: Stack, tenant: factory.Tenant, visit: Visitor, screenshots: Path, look: str
) -> None:
    options: dict[str, Any] = {"light": {}, "dark": {"colours": "dark"}, "phone": {"viewport": PHONE}}[look]
    visited = await sign_in(stack, tenant, visit, **options)
    page = visited.page
    await require(tenant, required=True)
    await page.goto(stack.url("home"))
    await page.wait_for_url("**/second-factor?next=**")
    await page.screenshot(path=screenshots / f"access-second-factor-{look}.png")
    assert await violations(page) == []
    await require(tenant, required=False)
    await add_passkey(stack, page)
    for name, path in {
        "home": "home", "account": "/studio/account", "access": "settings/access", "settings": "settings",
        "audit": "audit", "team": "team",
    }.items():  # fmt: skip
        await page.goto(stack.url(path))
        await page.screenshot(path=screenshots / f"access-{name}-{look}.png", full_page=True)
        assert await violations(page) == [], path
    async with tenant.db.transaction() as tx:
        networks = [ip_network("198.51.100.0/24")]
        await tx.run("UPDATE organization SET studio_networks = $2 WHERE id = $1", tenant.id, networks)
    await page.goto(stack.url("home"))
    await expect(page.get_by_role("heading", name="Not from here")).to_be_visible()
    await page.screenshot(path=screenshots / f"access-refused-{look}.png")
    assert await violations(page) == []
