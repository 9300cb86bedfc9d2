"""The same scanner in Firefox and in WebKit: paired, without a network, from a cold start, and sent afterwards."""

from typing import Literal

import pytest
from playwright.async_api import Browser, expect
from selenium.webdriver import Remote
from selenium.webdriver.common.by import By

from gatepass.domain.cards import Card
from tests import factory
from tests.attacks.pairing.handset import Lead
from tests.browser.engines.webkit import WebkitPage
from tests.browser.scanner.network import Network
from tests.browser.scanner.phone import NAME, WORKER_READY, Phone
from tests.browser.scanner.test_offline import activations
from tests.browser.studio import Stack
from tests.browser.visit import PHONE, TELL_VIOLATIONS, Visit

pytestmark = pytest.mark.browser

# These browsers take no keys with times of their own: the keys of the reader are made in the page.
READ = """(code) => {
    const press = (key) => document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    [...code].forEach(press);
    press("Enter");
}"""


# In one question, because a result is gone after a second.
SHOWN = """
    const element = document.getElementById(arguments[0]);
    return element.checkVisibility() ? element.innerText : "";
"""


class FirefoxPhone(Phone):
    async def read(self, code: str) -> None:
        await self.page.evaluate(READ, code)


async def test_firefox(firefox: Browser, tenant: factory.Tenant, stack: Stack, network: Network) -> None:
    context = await firefox.new_context(viewport=PHONE)
    await context.add_init_script(TELL_VIOLATIONS)
    phone = FirefoxPhone(tenant, stack, network.origin, Visit(await context.new_page()))
    await phone.pair()
    cards = [await tenant.card() for _ in range(3)]
    await phone.has_list()
    await phone.knows(3)
    assert phone.faults == []
    await phone.show(cards[0])
    await phone.says("ENTER", "green")
    await network.cut()
    await phone.show(cards[1])
    await phone.says("ENTER", "green", "Decided without a network")
    await phone.is_offline()
    await phone.page.reload()
    await expect(phone.at("#status-gate")).to_have_text("North")
    await phone.show(cards[2])
    await phone.says("ENTER", "green", "Decided without a network")
    await phone.show(cards[0])
    await phone.says("USED", "red")
    await network.restore()
    await phone.is_online()
    await phone.has_sent_all()
    assert await activations(tenant) == 3
    await context.close()


class WebkitPhone(WebkitPage):
    """The same hands for a browser that Selenium drives."""

    def __init__(self, browser: Remote, tenant: factory.Tenant) -> None:
        super().__init__(browser)
        self._tenant = tenant

    async def press(self, id: str) -> None:
        await self.do(lambda browser: browser.find_element(By.ID, id).click())

    async def fill(self, id: str, text: str) -> None:
        script = "document.getElementById(arguments[0]).value = arguments[1]"
        await self.do(lambda browser: browser.execute_script(script, id, text))

    async def sees(self, id: str, *texts: str) -> str:
        """The element's text, when it is shown with these."""

        def is_shown(browser: Remote) -> str | Literal[False]:
            said = browser.execute_script(SHOWN, id)
            return said if said and all(text in said for text in texts) else False

        return await self.until(is_shown)

    async def is_gone(self, id: str) -> None:
        def is_hidden(browser: Remote) -> bool:
            return not browser.find_element(By.ID, id).is_displayed()

        await self.until(is_hidden)

    async def show(self, card: Card) -> None:
        token = self._tenant.token(card)
        await self.do(lambda browser: browser.execute_script(f"return ({READ})(arguments[0])", token))


async def test_webkit(webkit: Remote, tenant: factory.Tenant, stack: Stack, network: Network) -> None:
    phone, lead = WebkitPhone(webkit, tenant), Lead(tenant)
    code = await lead.code()
    await phone.do(lambda browser: browser.get(f"{network.origin}/gate"))
    await phone.sees("pair", "Pair this device")
    await phone.fill("pair-code", code.text)
    await phone.fill("pair-name", NAME)
    await phone.press("pair-start")
    shown = await phone.sees("compare-words")
    (request,) = await lead.requests(code)
    assert request.words == shown.split()
    await lead.confirm(code, request.request)
    await phone.sees("status", "North", "Online")
    cards = [await tenant.card() for _ in range(3)]
    await phone.press("status")
    await phone.sees("facts", "3 cards, of")
    await phone.do(lambda browser: browser.find_element(By.CSS_SELECTOR, "#settings [data-close]").click())
    assert await phone.do(lambda browser: browser.execute_async_script(f"({WORKER_READY})().then(arguments[0])"))
    await phone.show(cards[0])
    await phone.sees("result", "ENTER")
    await network.cut()
    await phone.show(cards[1])
    await phone.sees("result", "ENTER", "Decided without a network")
    await phone.do(lambda browser: browser.refresh())
    await phone.sees("status", "North", "to send")
    await phone.show(cards[2])
    await phone.sees("result", "ENTER", "Decided without a network")
    await phone.show(cards[0])
    await phone.sees("result", "USED")
    await network.restore()
    await phone.sees("status", "Online")
    await phone.is_gone("status-waiting")
    assert await activations(tenant) == 3
