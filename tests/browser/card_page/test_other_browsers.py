"""The same card in Firefox and in WebKit: kept on the phone, scanned, without a network."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Literal, TypeVar

import pytest
from playwright.async_api import Browser, async_playwright, expect
from selenium.webdriver import Remote
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.card_page.holder import WITHIN, WORKER_READY, Holder, opened, read_codes, shown_code
from tests.browser.card_page.network import Network
from tests.browser.card_page.webkit import webkit_browser
from tests.browser.visit import PHONE, TELL_VIOLATIONS, Visit

pytestmark = pytest.mark.browser

T = TypeVar("T")
FIREFOX = "/usr/bin/firefox-esr"
PATIENCE = 15


@pytest.fixture(scope="module")
async def firefox() -> AsyncGenerator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.firefox.launch(channel="moz-firefox", executable_path=FIREFOX)
        yield browser
        await browser.close()


@pytest.fixture(scope="module")
def webkit() -> Generator[Remote]:
    with webkit_browser() as browser:
        yield browser


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
    await in_thread(lambda: webkit.get(network.origin + holder.path))
    await until(webkit, "#keep-button", "Keep the card on this phone")
    assert await in_thread(lambda: webkit.execute_async_script(f"({WORKER_READY})().then(arguments[0])"))
    await webkit_code(webkit, "SVC1.")
    await in_thread(lambda: webkit.find_element(By.ID, "keep-button").click())
    await until(webkit, "#note", "renews itself")
    await webkit_code(webkit, "SVC2.")
    await network.cut()
    await in_thread(webkit.refresh)
    await until(webkit, "#network", "No network")
    code = await webkit_code(webkit, "SVC2.")
    assert await holder.scan(code) == 200
    await network.restore()
    await in_thread(lambda: webkit.execute_script("dispatchEvent(new Event('online'))"))
    await until(webkit, "#entered", "You are in", within=WITHIN / 1000)


async def in_thread(action: Callable[[], T]) -> T:
    """Selenium waits for its answers; the network of this test runs meanwhile."""
    return await asyncio.to_thread(action)


async def until(browser: Remote, selector: str, text: str, *, within: float = PATIENCE) -> None:
    def is_there(driver: Remote) -> bool:
        return text in driver.find_element(By.CSS_SELECTOR, selector).text

    await in_thread(lambda: WebDriverWait(browser, within, 0.1).until(is_there))


async def webkit_code(browser: Remote, kind: str) -> str:
    """The code that the page shows. The first pictures may show the page as it was: it is painted after its text is."""

    def painted(driver: Remote) -> str | Literal[False]:
        (code,) = read_codes(driver.get_screenshot_as_png()) or [""]
        return code.startswith(kind) and code

    return await in_thread(lambda: WebDriverWait(browser, PATIENCE, 0.1).until(painted))
