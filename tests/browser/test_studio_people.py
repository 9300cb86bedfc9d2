"""People in a real browser: sign-up by link, a passkey, signing out and in, re-authentication, the team."""

import os
from base64 import b32decode
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Role, invitations, one_time_code
from tests import factory
from tests.browser.studio import Stack, picture, sign_in, violations
from tests.browser.visit import PHONE, Visit, Visitor

pytestmark = pytest.mark.browser

# Otherwise conditional mediation in the e-mail field answers before the button is pressed.
WAIT_FOR_THE_BUTTON = "PublicKeyCredential.isConditionalMediationAvailable = async () => false"
PASSWORD = "three brown llamas"
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


async def plug_in(page: Page) -> None:
    """Chromium's virtual authenticator: it stores passkeys, and confirms user presence by itself."""
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("WebAuthn.enable")
    await devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})


@dataclass
class Grace:
    """A person who signed up by a link, with a passkey."""

    visited: Visit
    email: str


async def invited(tenant: factory.Tenant, role: Role = Role.ADMIN) -> tuple[str, str]:
    """An e-mail address, and the path of its invitation link."""
    email = f"grace.{new_id().hex[-6:]}@example.org"
    async with tenant.db.transaction() as tx:
        made = await invitations.invite(
            tx, tenant.id, email, role, giver=Role.OWNER, cell="a", by=factory.BY, at=factory.now()
        )
    return email, f"/studio/welcome/{made.token}"


async def forget_confirmation(tenant: factory.Tenant, email: str) -> None:
    """As if eleven minutes had passed."""
    async with tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE studio_session SET confirmed_at = $2 WHERE person_id = (SELECT id FROM person WHERE email = $1)",
            email,
            factory.now() - timedelta(minutes=11),
        )


@pytest.fixture
async def grace(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> Grace:
    email, link = await invited(tenant)
    visited = await visit()
    await plug_in(visited.page)
    await visited.page.goto(stack.url(link))
    await visited.page.get_by_label("Your name").fill("Grace Hopper")
    await picture(visited.page, "people-welcome")
    await visited.page.get_by_role("button", name="Create a passkey").click()
    await visited.page.wait_for_url(stack.page("live/home"))
    return Grace(visited, email)


async def test_sign_up_by_link_sign_out_sign_in_and_confirm_with_a_passkey(
    stack: Stack, tenant: factory.Tenant, grace: Grace
) -> None:
    visited, page = grace.visited, grace.visited.page
    await expect(page.get_by_role("status")).to_contain_text("You are here as admin")
    await page.add_init_script(WAIT_FOR_THE_BUTTON)
    await page.get_by_text("Grace Hopper").first.click()
    await page.get_by_role("button", name="Sign out").click()
    await page.wait_for_url("**/sign-in")
    await expect(page.get_by_text("You are signed out.")).to_be_visible()
    await page.goto(stack.url("team/invite"))
    await page.wait_for_url("**/sign-in?next=**")
    await picture(page, "people-sign-in")
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await page.wait_for_url(stack.page("team/invite"))

    # Asked before the form, so that nothing that is typed is lost.
    await forget_confirmation(tenant, grace.email)
    await page.goto(stack.url("team"))
    await page.get_by_role("link", name="Invite").first.click()
    await page.wait_for_url("**/confirm?next=**")
    await page.get_by_role("button", name="Confirm with a passkey").click()
    await page.wait_for_url(stack.page("team/invite"))
    await page.get_by_label("E-mail address").fill("new@example.org")
    await page.get_by_label("Developer").check()
    await page.get_by_role("button", name="Make the link").click()
    await expect(page.get_by_role("heading", name="Send this link")).to_be_visible()
    await expect(page.locator("pre")).to_contain_text(f"{stack.origin}/studio/welcome/")
    assert visited.elsewhere(stack.origin) == []
    assert visited.complaints == []


async def test_the_field_offers_a_passkey_by_itself(stack: Stack, grace: Grace) -> None:
    """Conditional mediation: with automatic presence the virtual authenticator answers at once."""
    page = grace.visited.page
    await page.context.clear_cookies()
    await page.goto(stack.url("/studio/sign-in"))
    await page.wait_for_url(stack.page("live/home"))


# Pages that follow a POST. test_studio_pages.py checks all others with axe.
SEEN_HERE_ALONE = {"account-refused", "codes", "recovery", "account", "invited", "confirm", "sign-in-refused", "code"}


@dataclass
class Eye:
    """Checks pages with axe on the way, and takes a picture of each if pictures are wanted."""

    page: Page
    shots: Path
    look: str
    blind: bool = False

    async def see(self, name: str) -> None:
        if not self.blind:
            if os.environ.get("GATEPASS_PICTURES"):
                await self.page.screenshot(path=self.shots / f"people-{self.look}-{name}.png", full_page=True)
            if name in SEEN_HERE_ALONE:
                assert await violations(self.page) == [], name
            width = await self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert width <= 0, f"{name} is wider than the screen"

    async def keep(self, name: str) -> None:
        """A picture for the guide, in one colour scheme."""
        if self.look == "light":
            await picture(self.page, name)


LOOKS: dict[str, dict[str, Any]] = {
    "light": {"colours": "light"},
    "dark-phone": {"colours": "dark", "viewport": PHONE},
    "without-javascript": {"javascript": False},
}


@pytest.mark.parametrize("look", LOOKS)
async def test_a_password_codes_and_the_team(
    stack: Stack, tenant: factory.Tenant, visit: Visitor, screenshots: Path, look: str
) -> None:
    visited = await sign_in(stack, tenant, visit, **LOOKS[look])
    page, eye = visited.page, Eye(visited.page, screenshots, look, blind=look == "without-javascript")
    email = await _set_password(stack, page, eye)
    recovery = await _turn_codes_on(page, eye)
    await _see_the_team(stack, tenant, page, eye)
    await _sign_in_again(stack, page, eye, email, recovery[0])
    # Chromium logs the two forms that were refused.
    assert [one for one in visited.complaints if "status of 422" not in one] == []
    assert visited.elsewhere(stack.origin) == []


async def _set_password(stack: Stack, page: Page, eye: Eye) -> str:
    await page.goto(stack.url("/studio/account"))
    await eye.see("account-new")
    await page.get_by_label("New password").fill("password1234")
    await page.get_by_role("button", name="Set a password").click()
    await expect(page.get_by_text("This one is quickly guessed")).to_be_visible()
    await eye.see("account-refused")
    await page.get_by_label("New password").fill(PASSWORD)
    await page.get_by_role("button", name="Set a password").click()
    await expect(page.get_by_text("Your password is set.")).to_be_visible()
    return await page.locator(".lead").first.inner_text()


async def _turn_codes_on(page: Page, eye: Eye) -> list[str]:
    await page.get_by_role("button", name="Turn on").click()
    seed = await page.locator("li .mono").inner_text()
    await eye.see("codes")
    await eye.keep("people-codes")
    code = one_time_code.code_of(b32decode(seed), one_time_code.step_of(factory.now()))
    await page.get_by_label("One-time code").fill(code)
    await page.get_by_role("button", name="Turn on").click()
    shown = (await page.locator("pre").inner_text()).split()
    await eye.see("recovery")
    await page.get_by_role("link", name="I have kept them").click()
    await page.wait_for_url("**/account")
    await eye.see("account")
    await eye.keep("people-account")
    return shown


async def _see_the_team(stack: Stack, tenant: factory.Tenant, page: Page, eye: Eye) -> None:
    async with tenant.db.transaction() as tx:
        for name, role in (("Barbara Liskov", Role.DEVELOPER), ("Edsger Dijkstra", Role.GATE_LEAD)):
            email = f"{name.split()[0].lower()}.{new_id().hex[-6:]}@example.org"
            person = await staff.enrol(tx, email, name, at=factory.now())
            await staff.join(tx, tenant.id, person.id, role, by=factory.BY, at=factory.now() - timedelta(days=40))
    await page.goto(stack.url("team/invitations"))
    await eye.see("invitations-empty")
    await page.get_by_role("link", name="Invite somebody").click()
    await page.wait_for_url(stack.page("team/invite"))
    await eye.see("invite")
    await page.get_by_label("E-mail address").fill("margaret@example.org")
    await page.get_by_label("Admin").check()
    await page.get_by_role("button", name="Make the link").click()
    await expect(page.get_by_role("heading", name="Send this link")).to_be_visible()
    await eye.see("invited")
    await eye.keep("people-invitation")
    await page.get_by_role("link", name="Done").click()
    await page.wait_for_url("**/team")
    await eye.see("team")
    await eye.keep("people-team")
    await page.get_by_role("link", name="Open invitations").click()
    await page.wait_for_url("**/team/invitations")
    await eye.see("invitations")
    await page.goto(stack.url("team"))
    await page.get_by_role("link", name="Barbara Liskov").click()
    await page.wait_for_url("**/team/*")
    await eye.see("member")
    await page.get_by_label("Role", exact=True).select_option("viewer")
    await page.get_by_role("button", name="Change").click()
    await expect(page.get_by_text("The role is changed.")).to_be_visible()


async def _sign_in_again(stack: Stack, page: Page, eye: Eye, email: str, recovery_code: str) -> None:
    await page.goto(stack.url("/studio/confirm?next=/studio/account"))
    await eye.see("confirm")
    await page.get_by_role("button", name="Not you? Sign out").click()
    await page.get_by_label("E-mail address").fill(email)
    await page.get_by_label("Password").fill("not my password")
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await expect(page.get_by_text("The e-mail address or the password is not right.")).to_be_visible()
    await eye.see("sign-in-refused")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await expect(page.get_by_label("One-time code")).to_be_visible()
    await eye.see("code")
    await page.get_by_label("One-time code").fill(recovery_code)
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await page.wait_for_url(stack.page("live/home"))
