"""Phones with a key of their own: enrolled, without a network, moved, taken off, and phones that cannot sign."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.card_page.holder import WITHIN, Holder, opened, read_codes, shown_code
from tests.browser.card_page.network import Network
from tests.browser.studio import violations
from tests.browser.visit import PHONE, Visit, Visitor

pytestmark = pytest.mark.browser

# Whether the private half of the phone's key can be read by a script.
EXTRACTABLE = """() => new Promise((resolve) => {
    const opening = indexedDB.open("gatepass-card");
    opening.onsuccess = () => {
        const found = opening.result.transaction("phones").objectStore("phones").getAll();
        found.onsuccess = () => resolve(found.result.map((phone) => phone.keys.privateKey.extractable));
    };
})"""


def refusing_keys(fault: str, where: str) -> str:
    """A script: this browser refuses to make some keys, by their `algorithm` or by how many were `asked` for."""
    return f"""
        const right = SubtleCrypto.prototype.generateKey;
        let asked = 0;
        SubtleCrypto.prototype.generateKey = function (algorithm, ...rest) {{
            asked += 1;
            if ({where}) return Promise.reject(new DOMException("", "{fault}"));
            return right.call(this, algorithm, ...rest);
        }};
    """


# A browser of before Ed25519.
CANNOT_SIGN = refusing_keys("NotSupportedError", 'algorithm === "Ed25519"')
# WebKitGTK refuses one key in 128 (WebKit's bug 307095). This browser makes only every fifth.
MAKES_FEW_KEYS = refusing_keys("OperationError", "asked % 5 !== 0")


# What was kept of the card at the moment when the page said that its code renews itself.
KEPT_WHEN_SHOWN = """() => {
    const note = document.getElementById("note");
    window.keptWhenShown = new Promise((resolve) => {
        const opening = indexedDB.open("gatepass-card");
        opening.onsuccess = () => new MutationObserver(() => {
            if (!note.textContent.includes("renews itself")) return;
            const found = opening.result.transaction("states").objectStore("states").getAll();
            found.onsuccess = () => resolve(found.result.map((kept) => kept.state.phone.state));
        }).observe(note, { childList: true });
    });
}"""


async def enrolled(visit: Visitor, network: Network, holder: Holder) -> Visit:
    """A phone that keeps the card, and shows a code of its own."""
    visited = await visit(viewport=PHONE)
    page = await opened(visited.page, network.origin, holder)
    await page.locator("#keep-button").click()
    await expect(page.locator("#note")).to_contain_text("renews itself")
    return visited


async def test_a_phone_shows_a_code_of_its_own_that_gates_take(
    holder: Holder, network: Network, visit: Visitor
) -> None:
    visited = await enrolled(visit, network, holder)
    page = visited.page
    code = await shown_code(page)
    assert code.startswith("SVC2.")
    assert len(code) <= 311
    assert await page.evaluate(EXTRACTABLE) == [False]
    assert await holder.scan(code) == 200
    await expect(page.locator("#entered")).to_be_visible(timeout=WITHIN)
    assert visited.complaints == []


async def test_what_a_phone_shows_is_kept_already(holder: Holder, network: Network, visit: Visitor) -> None:
    page = await opened((await visit(viewport=PHONE)).page, network.origin, holder)
    await page.evaluate(KEPT_WHEN_SHOWN)
    await page.locator("#keep-button").click()
    assert await page.evaluate("window.keptWhenShown") == ["enrolled"]


async def test_without_a_network_the_reloaded_phone_still_makes_codes(
    holder: Holder, network: Network, visit: Visitor
) -> None:
    page = (await enrolled(visit, network, holder)).page
    await network.cut()
    await page.reload()
    await expect(page.locator("#network")).to_be_visible()
    code = await shown_code(page)
    assert code.startswith("SVC2.")
    assert await holder.scan(code) == 200
    await network.restore()
    await page.evaluate("dispatchEvent(new Event('online'))")
    await expect(page.locator("#entered")).to_be_visible(timeout=WITHIN)


async def test_a_network_that_wants_a_sign_in_is_no_word_of_the_service(
    holder: Holder, network: Network, visit: Visitor
) -> None:
    """It answers everything with 200 and a page of its own."""
    page = (await enrolled(visit, network, holder)).page
    await page.route("**/state*", lambda route: route.fulfill(status=200, content_type="text/html", body="<h1>Hotel"))
    await page.evaluate("dispatchEvent(new Event('online'))")
    await expect(page.locator("#network")).to_be_visible()
    assert (await shown_code(page)).startswith("SVC2.")
    await page.unroute("**/state*")
    await page.evaluate("dispatchEvent(new Event('online'))")
    await expect(page.locator("#network")).to_be_hidden()


async def test_a_code_renews_itself_every_twenty_seconds(holder: Holder, network: Network, visit: Visitor) -> None:
    page = (await visit(viewport=PHONE)).page
    await page.clock.install()
    await opened(page, network.origin, holder)
    await page.locator("#keep-button").click()
    await expect(page.locator("#note")).to_contain_text("renews itself")
    # The page goes by the server's clock, which this test cannot move.
    await network.cut()
    before = await shown_code(page)
    drawn = await page.locator("#code path").get_attribute("d")
    await page.clock.fast_forward(20_000)
    await expect(page.locator("#code path")).not_to_have_attribute("d", drawn or "")
    assert seconds_of(await shown_code(page)) - seconds_of(before) in (20, 21, 22)


def seconds_of(code: str) -> int:
    return int(code.split(".")[2])


async def test_a_second_phone_sees_no_code_and_takes_the_card_with_the_first_ones_consent(
    holder: Holder, network: Network, visit: Visitor
) -> None:
    old = (await enrolled(visit, network, holder)).page
    new = (await visit(viewport=PHONE)).page
    await new.goto(network.origin + holder.path)
    await expect(new.get_by_role("heading", name="This card is on another phone")).to_be_visible()
    assert read_codes(await new.screenshot()) == []
    assert await violations(new) == []
    await new.get_by_text("With the other phone").click()
    await new.locator("#request svg").scroll_into_view_if_needed()
    await old.goto(await shown_code(new, "#request svg"))
    await old.get_by_role("button", name="Move the card").click()
    await expect(old.get_by_role("heading", name="This card is on another phone")).to_be_visible()
    await expect(new.locator("#code svg")).to_be_visible()
    assert await holder.scan(await code_of(new)) == 200


async def code_of(page: Page) -> str:
    await page.evaluate("scrollTo(0, 0)")
    return await shown_code(page)


async def test_a_card_that_is_taken_off_a_phone_can_be_kept_on_it_again(
    holder: Holder, network: Network, visit: Visitor
) -> None:
    page = (await enrolled(visit, network, holder)).page
    await page.get_by_role("button", name="Take the card off this phone").click()
    await expect(page.locator("#note")).to_have_text("Show this code at the entrance.")
    assert await page.evaluate(EXTRACTABLE) == []
    await page.locator("#keep-button").click()
    await expect(page.locator("#note")).to_contain_text("renews itself")
    assert await holder.scan(await shown_code(page)) == 200


async def test_a_phone_that_cannot_sign_asks_for_short_codes_and_says_so(
    holder: Holder, network: Network, visit: Visitor
) -> None:
    page = (await visit(viewport=PHONE)).page
    await page.add_init_script(CANNOT_SIGN)
    await opened(page, network.origin, holder)
    await expect(page.locator("#note")).to_contain_text("cannot make its own code")
    await expect(page.locator("#keep")).to_be_hidden()
    code = await shown_code(page)
    now = await page.evaluate("Date.now() / 1000")
    assert 0 < seconds_of(code) - now <= 61
    assert await holder.scan(code) == 200


async def test_a_key_that_the_browser_refuses_costs_nothing(holder: Holder, network: Network, visit: Visitor) -> None:
    page = (await visit(viewport=PHONE)).page
    await page.add_init_script(MAKES_FEW_KEYS)
    await opened(page, network.origin, holder)
    await page.locator("#keep-button").click()
    await expect(page.locator("#note")).to_contain_text("renews itself")
    assert await holder.scan(await shown_code(page)) == 200
