"""A new version of the app: fetched as soon as it is served, used when nobody is scanning."""

import pytest
from playwright.async_api import expect

from gatepass.gate.templates import static_version
from tests import factory
from tests.browser.scanner.network import Network
from tests.browser.scanner.phone import Phone, new_phone
from tests.browser.studio import Stack
from tests.browser.visit import PHONE, Visitor

pytestmark = pytest.mark.browser

NEXT = "0123456789abcdef"
VERSION = "() => document.querySelector('meta[name=gatepass-version]').content"
# Asks for the new version, and is done when all of it is there and waits.
FETCHED = """async () => {
    const registration = await (await navigator.serviceWorker.getRegistration("/gate")).update();
    const worker = registration.installing ?? registration.waiting;
    while (worker.state === "installing") {
        await new Promise((changed) => worker.addEventListener("statechange", changed, { once: true }));
    }
    if (worker.state !== "installed") throw new Error(`The new version is ${worker.state}.`);
}"""
KEPT = "() => caches.keys()"


@pytest.fixture
async def phone(tenant: factory.Tenant, stack: Stack, network: Network, visit: Visitor) -> Phone:
    """A phone whose clock this test can move."""
    visited = await visit(viewport=PHONE)
    await visited.page.clock.install()
    return await new_phone(tenant, stack, network.origin, visited)


async def test_a_new_version_waits_until_nobody_scans(phone: Phone, network: Network) -> None:
    page = phone.page
    assert await page.evaluate(VERSION) == static_version()
    await phone.show(await phone.tenant.card())
    await phone.says("ENTER")
    network.another_version = (static_version().encode(), NEXT.encode())
    await page.evaluate("() => { window.isSame = true; }")
    await page.evaluate(FETCHED)
    # Somebody has just scanned: the app goes on as it is.
    await phone.show(await phone.tenant.card())
    await phone.says("ENTER")
    await page.clock.run_for(6_000)
    assert await page.evaluate("() => window.isSame")
    assert await page.evaluate(VERSION) == static_version()
    async with page.expect_event("load"):
        await page.clock.fast_forward(25_000)
    await expect(phone.at("#scan")).to_be_visible()
    assert await page.evaluate(VERSION) == NEXT
    assert await page.evaluate(KEPT) == [f"scanner-{NEXT}"]
    # It starts without a network, and is still paired.
    await network.cut()
    await page.reload()
    await expect(phone.at("#status-gate")).to_have_text("North")


async def test_the_app_can_be_installed(phone: Phone) -> None:
    session = await phone.page.context.new_cdp_session(phone.page)
    found = await session.send("Page.getInstallabilityErrors")
    errors = {error["errorId"] for error in found["installabilityErrors"]}
    assert errors <= {"in-incognito"}, "a test's profile is like a private window"
    assert (await session.send("Page.getAppManifest"))["errors"] == []
