"""Keys, the request log, the audit log and the settings in a real browser, with real calls to the API."""

import re

import httpx2
import pytest
from playwright.async_api import Page, expect

from gatepass.base.settings import BASE_PATH
from gatepass.domain import cards
from tests import factory
from tests.browser.studio import Stack, picture, sign_in, violations
from tests.browser.visit import Visitor

pytestmark = pytest.mark.browser

SECRET = re.compile(r"svc_(?:live|test)_[a-z][0-9A-Za-z]{36}")

# Pictures in documents show no key, not even one of a deleted database.
HIDE = "key => document.body.innerHTML = document.body.innerHTML.replaceAll(key, key.slice(0, 12) + '•'.repeat(33))"


async def scan(stack: Stack, tenant: factory.Tenant, secret: str) -> httpx2.Response:
    """A scan with this key that activates a ticket."""
    card = await tenant.card()
    body = {"event_id": str(tenant.event_id), "card_number": card.number, "gate": "North"}
    async with httpx2.AsyncClient() as gate:
        headers = {"Authorization": f"Bearer {secret}"}
        return await gate.post(stack.origin + BASE_PATH + "/scan", json=body, headers=headers)


async def good(page: Page, name: str | None = None) -> None:
    """Axe finds no violation; and a picture, if one is wanted."""
    if name is not None:
        await picture(page, name)
    assert await violations(page) == []


async def test_a_key_opens_a_gate_until_it_is_revoked(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    visited = await sign_in(stack, tenant, visit)
    page = visited.page
    await page.get_by_role("link", name="API keys").click()
    await page.get_by_role("link", name="Make a key for a gate").click()
    preview = page.get_by_label("What this key may do")
    await expect(preview).to_contain_text("POST /scan")
    await page.get_by_label("webhooks:read").check()
    await expect(preview).to_contain_text("GET /webhooks")
    await page.get_by_label("webhooks:read").uncheck()
    await expect(preview).not_to_contain_text("GET /webhooks")
    await page.get_by_label("Name", exact=True).fill("North gate, scanner 2")
    await page.evaluate("scrollTo(0, 0)")
    await picture(page, "keys-new")

    await page.get_by_role("button", name="Make the key").click()
    secret = await page.get_by_text(SECRET).first.inner_text()
    assert SECRET.fullmatch(secret)
    await good(page)
    await page.evaluate(HIDE, secret)
    await picture(page, "keys-made")
    assert (await scan(stack, tenant, secret)).status_code == 200

    await page.goto(stack.url("keys"))
    await page.get_by_role("link", name="North gate, scanner 2").click()
    await expect(page.get_by_role("heading", name="North gate, scanner 2")).to_be_visible()
    await picture(page, "keys-one")
    await page.get_by_role("link", name="Revoke").click()
    await expect(page.get_by_role("cell", name="127.0.0.1")).to_be_visible()
    await good(page, "keys-revoke")
    await page.get_by_role("button", name="Revoke now").click()
    refused = await scan(stack, tenant, secret)
    assert (refused.status_code, refused.json()["code"]) == (401, "invalid_key")

    await page.goto(stack.url(f"requests?id={refused.headers['x-request-id']}"))
    await expect(page.get_by_text("has been revoked, has expired")).to_be_visible()
    await good(page, "request-log-one")
    await page.get_by_role("link", name="Request log").first.click()
    await page.wait_for_url("**/requests")
    await picture(page, "request-log")
    await page.get_by_role("link", name="Audit").click()
    await expect(page.get_by_text("key revoked")).to_be_visible()
    await picture(page, "audit-log")
    assert visited.complaints == []
    assert visited.elsewhere(stack.origin) == []


async def test_a_key_is_made_and_rolled_without_javascript(
    stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    page = (await sign_in(stack, tenant, visit, javascript=False)).page
    await page.goto(stack.url("keys/new?preset=integrator", "sandbox"))
    await page.get_by_label("Name", exact=True).fill("")
    await page.get_by_label("Name", exact=True).fill("Partner")
    await page.get_by_role("button", name="Make the key").click()
    old = await page.get_by_text(SECRET).first.inner_text()
    await page.get_by_role("link", name="I have stored it").click()
    await page.get_by_role("link", name="Roll").click()
    await page.get_by_label("In 1 hour").check()
    await page.get_by_role("button", name="Roll the key").click()
    new = await page.get_by_text(SECRET).first.inner_text()
    assert old != new
    async with httpx2.AsyncClient(base_url=stack.origin + BASE_PATH) as client:
        for key in (old, new):
            assert (await client.get("/events", headers={"Authorization": f"Bearer {key}"})).status_code == 200


async def test_a_holder_is_erased_and_signing_keys_rotated(
    stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    async with tenant.db.transaction() as tx:
        card = await cards.issue(
            tx, tenant.id, by=factory.BY, at=factory.now(), holder_name="Grace Hopper", holder_email="grace@example.org"
        )
    page = (await sign_in(stack, tenant, visit)).page
    await page.goto(stack.url("settings"))
    await page.get_by_role("link", name="Rotate").click()
    await page.get_by_role("button", name="Rotate now").click()
    await expect(page.get_by_role("link", name="Retire")).to_have_count(2)
    await picture(page, "settings")
    await page.get_by_role("link", name="Erase a holder").click()
    await page.get_by_label("Card number or e-mail address").fill("grace@example.org")
    await page.get_by_role("button", name="Find").click()
    await expect(page.get_by_text(card.number)).to_be_visible()
    await good(page, "settings-erasure")
    await page.get_by_role("button", name="Erase for good").click()
    await expect(page.get_by_role("status")).to_contain_text("is erased")
