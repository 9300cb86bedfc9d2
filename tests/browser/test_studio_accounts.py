"""Pages about accounts in a real browser: joining anew, passkeys that remain, and keys that somebody made."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, expect

from gatepass.domain import keys, staff
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.staff import Role, invitations
from tests import factory
from tests.browser.studio import Stack, sign_in, violations
from tests.browser.test_studio_people import PASSWORD, plug_in
from tests.browser.visit import PHONE, Visit, Visitor

pytestmark = pytest.mark.browser

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"colours": "light"},
    "dark": {"colours": "dark"},
    "light-phone": {"colours": "light", "viewport": PHONE},
    "dark-phone": {"colours": "dark", "viewport": PHONE},
}
EACH_LOOK = pytest.mark.parametrize("look", LOOKS)


async def see(page: Page, shots: Path, name: str) -> None:
    """No violation, nothing wider than the screen, and a picture if pictures are wanted."""
    if os.environ.get("GATEPASS_PICTURES"):
        await page.screenshot(path=shots / f"accounts-{name}.png", full_page=True)
    assert await violations(page) == [], name
    assert await page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0, name


async def open_account(stack: Stack, tenant: factory.Tenant, visit: Visitor, look: str) -> Visit:
    """Sign in, with an authenticator plugged in, and go to the page of the account."""
    visited = await sign_in(stack, tenant, visit, **LOOKS[look])
    await plug_in(visited.page)
    await visited.page.goto(stack.url("/studio/account"))
    return visited


@EACH_LOOK
async def test_joining_with_a_new_passkey(
    stack: Stack, tenant: factory.Tenant, visit: Visitor, screenshots: Path, look: str
) -> None:
    visited = await open_account(stack, tenant, visit, look)
    page = visited.page
    email = await page.locator(".lead").first.inner_text()
    other = await factory.tenant(tenant.db)
    async with tenant.db.transaction() as tx:
        made = await invitations.invite(
            tx, other.id, email, Role.ADMIN, giver=Role.OWNER, cell="a", by=factory.BY, at=factory.now()
        )
    await page.goto(stack.url(f"/studio/welcome/{made.token}"))
    await see(page, screenshots, f"joining-{look}")
    await page.get_by_label("New password").fill("password1234")
    await page.get_by_role("button", name="Join with the new password").click()
    await expect(page.get_by_text("This one is quickly guessed")).to_be_visible()
    await see(page, screenshots, f"joining-refused-{look}")
    await page.get_by_role("button", name="Create a new passkey and join").click()
    await page.wait_for_url("**/home")
    await expect(page.get_by_text("You are here as admin.")).to_be_visible()
    assert [one for one in visited.complaints if "status of 422" not in one] == []


@EACH_LOOK
async def test_passkeys_that_remain_after_a_new_password(
    stack: Stack, tenant: factory.Tenant, visit: Visitor, screenshots: Path, look: str
) -> None:
    page = (await open_account(stack, tenant, visit, look)).page
    await page.get_by_label("Name for a new one").fill("Somebody's laptop")
    await page.get_by_role("button", name="Add a passkey").click()
    await expect(page.get_by_text("The passkey is added.")).to_be_visible()
    await page.get_by_label("New password").fill(PASSWORD)
    await page.get_by_role("button", name="Set a password").click()
    await expect(page.get_by_role("heading", name="Do you know this passkey?")).to_be_visible()
    await expect(page.get_by_text("Somebody's laptop")).to_be_visible()
    await see(page, screenshots, f"passkeys-{look}")
    await page.get_by_role("button", name="Remove").click()
    await expect(page.get_by_text("The passkey is removed.")).to_be_visible()
    assert urlsplit(page.url).path == "/studio/account"


@EACH_LOOK
async def test_what_somebody_made_who_is_removed(
    stack: Stack, tenant: factory.Tenant, visit: Visitor, screenshots: Path, look: str
) -> None:
    page = (await sign_in(stack, tenant, visit, **LOOKS[look])).page
    async with tenant.db.transaction() as tx:
        bob = await staff.enrol(tx, f"bob.{tenant.id.hex}@example.org", "Bob", at=factory.now())
        await staff.join(tx, tenant.id, bob.id, Role.DEVELOPER, by=factory.BY, at=factory.now())
        for name in ("North gate, scanner 1", "Partner"):
            await keys.issue(
                tx, tenant.id, name, Mode.LIVE, [Scope.EVENTS_READ, Scope.CARDS_VERIFY], cell="a",
                by=f"person {bob.id}", at=factory.now(),
            )  # fmt: skip
    await page.goto(stack.url(f"team/{bob.id}"))
    await see(page, screenshots, f"member-{look}")
    await page.get_by_role("link", name="Remove", exact=True).click()
    await expect(page.get_by_role("heading", name="Remove Bob")).to_be_visible()
    await see(page, screenshots, f"remove-{look}")
    await page.get_by_label("Partner").check()
    await page.get_by_role("button", name="Remove, and revoke what is ticked").click()
    await expect(page.get_by_text("Revoked: Partner.")).to_be_visible()
    await expect(page.get_by_role("heading", name="What Bob made")).to_be_visible()
    await see(page, screenshots, f"made-{look}")
    await page.get_by_label("North gate, scanner 1").check()
    await page.get_by_role("button", name="Revoke what is ticked").click()
    await expect(page.get_by_text("Revoked: North gate, scanner 1.")).to_be_visible()


@EACH_LOOK
async def test_a_developer_sees_that_admin_is_for_owners(
    stack: Stack, tenant: factory.Tenant, visit: Visitor, screenshots: Path, look: str
) -> None:
    key = await tenant.key(Scope.ADMIN)
    page = (await sign_in(stack, tenant, visit, role=Role.DEVELOPER, **LOOKS[look])).page
    await page.goto(stack.url("keys/new"))
    await expect(page.get_by_label("admin", exact=True)).to_be_disabled()
    await see(page, screenshots, f"new-key-{look}")
    await page.goto(stack.url(f"keys/{key.id}/roll"))
    await expect(page.get_by_text("only an owner can roll it")).to_be_visible()
    await see(page, screenshots, f"roll-{look}")
