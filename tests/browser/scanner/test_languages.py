"""Four languages: the phone's own, or the one that somebody chose, also without a network."""

import pytest
from playwright.async_api import Browser, expect

from gatepass.base.language import Language
from gatepass.gate.words import BOOK
from tests import factory
from tests.browser.scanner.network import Network
from tests.browser.scanner.phone import new_phone
from tests.browser.scanner.test_looks import PICTURES
from tests.browser.studio import Stack, violations
from tests.browser.visit import PHONE, Visit
from tests.size import sized

pytestmark = pytest.mark.browser


LANGUAGES = sized(short=[Language.GERMAN], full=[Language.DUTCH, Language.FRENCH, Language.GERMAN])


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_scanner_speaks_the_language_of_the_phone(
    browser: Browser, tenant: factory.Tenant, stack: Stack, network: Network, language: Language
) -> None:
    said = BOOK.words(language)
    context = await browser.new_context(viewport=PHONE, locale=f"{language}-BE")
    phone = await new_phone(tenant, stack, network.origin, Visit(await context.new_page()), said=said)
    card = await tenant.card()
    await phone.show(card)
    await phone.says(said["word_activated"], "green", said["why_activated"])
    await phone.is_ready()
    PICTURES.mkdir(parents=True, exist_ok=True)
    await phone.page.screenshot(path=PICTURES / f"phone-light-{language}.png")
    assert await violations(phone.page) == []
    assert await phone.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    # Somebody chooses English, and it stays so.
    await phone.at("#open-settings").click()
    await phone.at("#language").select_option("en")
    await expect(phone.at("#settings-title")).to_have_text("Settings")
    await network.cut()
    await phone.page.reload()
    await expect(phone.at("#ready-title")).to_have_text("Ready to scan")
    assert await phone.page.evaluate("document.documentElement.lang") == "en"
    await context.close()
