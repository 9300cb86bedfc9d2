"""The card in Chromium on a phone: shown, scanned, without a network, without JavaScript, and ended."""

import pytest
from playwright.async_api import expect

from gatepass.domain.cards import CardStatus
from gatepass.domain.events import EventStatus
from tests.browser.card_page.holder import WITHIN, Holder, opened, shown_code
from tests.browser.card_page.network import Network
from tests.browser.visit import PHONE, Visitor
from tests.card_page.links import changed_path_of

pytestmark = pytest.mark.browser

# What the browser keeps of a card, in IndexedDB.
KEPT = """() => new Promise((resolve) => {
    const opening = indexedDB.open("gatepass-card");
    opening.onsuccess = () => {
        const counts = ["states", "phones"].map((name) => opening.result.transaction(name).objectStore(name).count());
        counts[1].onsuccess = () => resolve(counts.map((count) => count.result));
    };
})"""
CACHED = """async () => {
    const names = await caches.keys();
    const found = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys())));
    return found.flat().map((request) => new URL(request.url).pathname);
}"""


async def test_a_code_is_scanned_and_the_page_says_so_within_two_seconds(
    holder: Holder, network: Network, visit: Visitor
) -> None:
    visited = await visit(viewport=PHONE)
    page = await opened(visited.page, network.origin, holder)
    assert await holder.scan(await shown_code(page)) == 200
    await expect(page.locator("#entered")).to_be_visible(timeout=WITHIN)
    assert "North 2" in await page.locator("#entered-when").inner_text()
    assert visited.elsewhere(network.origin) == []
    assert visited.complaints == []


async def test_without_a_network_a_reloaded_page_shows_a_code_that_is_taken(
    holder: Holder, network: Network, visit: Visitor
) -> None:
    page = await opened((await visit(viewport=PHONE)).page, network.origin, holder)
    await network.cut()
    await page.reload()
    await expect(page.locator("#network")).to_have_text("No network. Your code works all the same.")
    await expect(page.locator("#number")).to_have_text(holder.card.number)
    await expect(page.locator("#next h3")).to_have_text("Summer Opening")
    assert await holder.scan(await shown_code(page)) == 200
    await expect(page.locator("#entered")).to_be_hidden()
    await network.restore()
    await page.evaluate("dispatchEvent(new Event('online'))")
    await expect(page.locator("#entered")).to_be_visible(timeout=WITHIN)
    await expect(page.locator("#network")).to_be_hidden()


async def test_the_service_worker_keeps_the_shell_alone(holder: Holder, network: Network, visit: Visitor) -> None:
    page = await opened((await visit(viewport=PHONE)).page, network.origin, holder)
    await page.reload()
    await expect(page.locator("#code svg")).to_be_visible()
    cached: list[str] = await page.evaluate(CACHED)
    assert len(cached) > 10
    assert [path for path in cached if not path.startswith("/c/static/")] == []
    assert await page.evaluate(KEPT) == [1, 0]


async def test_without_javascript_the_card_its_code_and_its_event_are_there(
    holder: Holder, network: Network, visit: Visitor
) -> None:
    page = (await visit(viewport=PHONE, javascript=False)).page
    await page.goto(network.origin + holder.path)
    for text in (holder.card.number, "Summer Opening", "Hall 1, Brussels", "General"):
        assert await page.get_by_text(text).is_visible()
    assert not await page.get_by_role("button").count()
    assert await holder.scan(await shown_code(page)) == 200
    await page.reload()
    assert await page.get_by_text("North 2").is_visible()


async def test_a_cancelled_event_is_said_while_the_page_is_open(
    holder: Holder, network: Network, visit: Visitor
) -> None:
    page = await opened((await visit(viewport=PHONE)).page, network.origin, holder)
    await holder.tenant.move_event(holder.tenant.event_id, EventStatus.CANCELLED)
    await expect(page.locator("#next .pill")).to_have_text("Cancelled", timeout=WITHIN)
    await expect(page.get_by_role("status").first).to_have_text("Cancelled: Summer Opening.")


@pytest.mark.parametrize("how", ["revoked", "the link was changed"])
async def test_a_card_that_ends_leaves_nothing_on_the_phone(
    holder: Holder, network: Network, visit: Visitor, how: str
) -> None:
    page = await opened((await visit(viewport=PHONE)).page, network.origin, holder)
    assert await page.evaluate(KEPT) == [1, 0]
    if how == "revoked":
        await holder.tenant.move_card(holder.card, CardStatus.REVOKED)
    else:
        await changed_path_of(holder.tenant, holder.card)
    await expect(page.locator("#nothing-why")).to_be_visible(timeout=WITHIN)
    assert await page.evaluate(KEPT) == [0, 0]
    for text in (holder.card.number, "Summer Opening", "Harbour Nights", "SVC1"):
        assert text not in await page.content()
    await network.cut()
    await page.reload()
    await expect(page.locator("#nothing-why")).to_contain_text("not kept on this phone")


async def test_a_suspended_card_shows_no_code(holder: Holder, network: Network, visit: Visitor) -> None:
    page = await opened((await visit(viewport=PHONE)).page, network.origin, holder)
    await holder.tenant.move_card(holder.card, CardStatus.SUSPENDED)
    await expect(page.locator("#note")).to_contain_text("suspended", timeout=WITHIN)
    await expect(page.locator("#code")).to_be_hidden()


async def test_the_page_can_be_installed(holder: Holder, network: Network, visit: Visitor) -> None:
    page = await opened((await visit(viewport=PHONE)).page, network.origin, holder)
    session = await page.context.new_cdp_session(page)
    found = await session.send("Page.getInstallabilityErrors")
    errors = {error["errorId"] for error in found["installabilityErrors"]}
    assert errors <= {"in-incognito"}, "a test's profile is like a private window"
    manifest = await session.send("Page.getAppManifest")
    assert manifest["errors"] == []
