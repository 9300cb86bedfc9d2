"""The same card in Firefox and in WebKit: kept on the phone, scanned, without a network."""

from typing import Literal

import pytest
from playwright.async_api import Browser, expect
from selenium.webdriver import Remote
from selenium.webdriver.common.by import By

from tests.browser.card_page.holder import WITHIN, WORKER_READY, Holder, opened, read_codes, shown_code
from tests.browser.card_page.network import Network
from tests.browser.engines.webkit import WebkitPage
from tests.browser.visit import PATIENCE, PHONE, TELL_VIOLATIONS, Visit

pytestmark = pytest.mark.browser


async def test_firefox(firefox: Browser, holder: Holder, network: Network) -> None:
    context = await firefox.new_context(viewport=PHONE)
    await context.add_init_script(TELL_VIOLATIONS)
    visited = Visit(await context.new_page())
    page = await opened(visited.page, network.origin, holder)
    # Before the first picture, for which Playwright adds a style that the policy refuses.
    assert visited.complaints == []
    assert (await shown_code(page)).startswith("SVC1.")
    await page.locator("#keep-button").click()
    await expect(page.locator("#note")).to_contain_text("renews itself")
    assert (await shown_code(page)).startswith("SVC2.")
    await network.cut()
    await page.reload()
    await expect(page.locator("#network")).to_be_visible()
    code = await shown_code(page)
    assert code.startswith("SVC2.")
    assert await holder.scan(code) == 200
    await network.restore()
    await page.evaluate("dispatchEvent(new Event('online'))")
    await expect(page.locator("#entered")).to_be_visible(timeout=WITHIN)
    await context.close()


async def test_webkit(webkit: Remote, holder: Holder, network: Network) -> None:
    page = WebkitPage(webkit)
    await page.do(lambda browser: browser.get(network.origin + holder.path))
    await sees(page, "#keep-button", "Keep the card on this phone")
    assert await page.do(lambda browser: browser.execute_async_script(f"({WORKER_READY})().then(arguments[0])"))
    await sees_code(page, "SVC1.")
    await page.do(lambda browser: browser.find_element(By.ID, "keep-button").click())
    await sees(page, "#note", "renews itself")
    await sees_code(page, "SVC2.")
    await network.cut()
    await page.do(lambda browser: browser.refresh())
    await sees(page, "#network", "No network")
    code = await sees_code(page, "SVC2.")
    assert await holder.scan(code) == 200
    await network.restore()
    await page.do(lambda browser: browser.execute_script("dispatchEvent(new Event('online'))"))
    await sees(page, "#entered", "You are in", within=WITHIN / 1000)


async def sees(page: WebkitPage, selector: str, text: str, *, within: float = PATIENCE) -> None:
    def is_there(browser: Remote) -> bool:
        return text in browser.find_element(By.CSS_SELECTOR, selector).text

    await page.until(is_there, within=within)


async def sees_code(page: WebkitPage, kind: str) -> str:
    """The code that the page shows. The first pictures may show the page as it was: it is painted after its text is."""

    def painted(browser: Remote) -> str | Literal[False]:
        (code,) = read_codes(browser.get_screenshot_as_png()) or [""]
        return code.startswith(kind) and code

    return await page.until(painted)
