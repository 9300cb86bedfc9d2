"""A device is paired on two screens, works, and is ended, in a real browser with a real service."""

import pytest
from playwright.async_api import Page, expect

from gatepass.domain.devices import pairing
from gatepass.domain.keys import Mode
from tests import factory
from tests.attacks.pairing.handset import Handset
from tests.browser.studio import Stack, picture, sign_in, violations
from tests.browser.visit import Visitor
from tests.faults.gates import client_of

pytestmark = pytest.mark.browser


async def good(page: Page, name: str | None = None) -> None:
    """Axe finds no violation; and a picture, if one is wanted."""
    if name is not None:
        await picture(page, name)
    assert await violations(page) == []


async def test_a_device_is_paired_on_two_screens_and_revoked(
    stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    visited = await sign_in(stack, tenant, visit)
    page = visited.page
    await page.goto(stack.url(f"events/{tenant.event_id}/live"))
    await page.get_by_role("link", name="Devices").last.click()
    await good(page)
    await page.get_by_role("link", name="Pair a device").last.click()
    await page.get_by_label("Gate").fill("North")
    await good(page)
    await page.get_by_role("button", name="Show the code").click()
    code = await page.locator("[data-code]").inner_text()
    assert pairing.canonical_code(code) is not None

    async with client_of(stack.server, "no key yet") as client:
        client.base_url, client.headers = stack.origin, {}  # pyright: ignore[reportAttributeAccessIssue]
        device = Handset(client, name="Red phone")
        asked = (await device.ask(code)).json()["data"]
        # The page follows by itself.
        await expect(page.locator("[data-words]")).to_have_text(" ".join(asked["words"]))
        await good(page, "devices-code")
        await page.get_by_role("button", name="The words are the same: confirm").click()
        await expect(page.get_by_text("fetches its key", exact=True)).to_be_visible()
        key = (await device.fetch(asked["request"])).json()["data"]["key"]
        headers = {"Authorization": f"Bearer {key}"}
        body = {"at": factory.now().isoformat(), "queued": 3, "app": "gatepass-cli/0.3.0"}
        beat = await client.post("/api/public/v1/devices/heartbeat", json=body, headers=headers)
        assert beat.json()["data"]["device"]["gate"] == "North"
        await expect(page.locator("#requests").get_by_text("paired", exact=True)).to_be_visible()

        await page.get_by_role("link", name="Its page").click()
        await good(page)
        await page.get_by_label("Gate").fill("South")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("works at South from its next scan on")).to_be_visible()
        await page.goto(stack.url("devices"))
        await good(page, "devices-list")
        await page.get_by_role("link", name="Red phone").click()
        await page.get_by_role("link", name="Revoke").click()
        await good(page)
        await page.get_by_role("button", name="Revoke now").click()
        await expect(page.get_by_text("Its next request is refused")).to_be_visible()
        assert (await client.get("/api/public/v1/card/keys", headers=headers)).status_code == 401
    assert visited.complaints == []
    assert visited.elsewhere(stack.origin) == []


async def test_two_devices_at_one_code_are_told(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    page = (await sign_in(stack, tenant, visit)).page
    await page.goto(stack.url("devices/pair"))
    await page.get_by_label("Gate").fill("North")
    await page.get_by_role("button", name="Show the code").click()
    code = await page.locator("[data-code]").inner_text()
    async with client_of(stack.server, "no key yet") as client:
        client.base_url, client.headers = stack.origin, {}  # pyright: ignore[reportAttributeAccessIssue]
        await Handset(client).ask(code)
        await Handset(client).ask(code)
    await page.reload()
    await expect(page.get_by_role("alert")).to_contain_text("Two devices used this code")
    await expect(page.locator("[data-code]")).to_have_count(0)
    async with tenant.db.autocommit() as tx:
        assert await pairing.open_codes(tx, tenant.id, Mode.LIVE, at=factory.now()) == []
