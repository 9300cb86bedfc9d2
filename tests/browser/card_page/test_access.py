"""Who reads the page differently: screen readers, four languages, light and dark, small screens, paper."""

import pytest
from playwright.async_api import ViewportSize, expect

from gatepass.domain.events import EventStatus
from tests.browser.card_page.holder import Holder, opened
from tests.browser.card_page.network import Network
from tests.browser.studio import violations
from tests.browser.visit import PHONE, Colours, Visitor

pytestmark = pytest.mark.browser

SMALL = ViewportSize(width=320, height=568)
SAID = {"en": "You are in", "nl": "Je bent binnen", "fr": "Vous êtes à l\u2019intérieur", "de": "Sie sind drin"}
SHOW = {
    "en": "Show this code at the entrance.",
    "nl": "Toon deze code aan de ingang.",
    "fr": "Montrez ce code à l\u2019entrée.",
    "de": "Zeigen Sie diesen Code am Eingang.",
}


async def test_a_screen_reader_reads_the_card_and_hears_the_scan(
    holder: Holder, network: Network, visit: Visitor
) -> None:
    page = await opened((await visit(viewport=PHONE)).page, network.origin, holder)
    await expect(page.locator("body")).to_match_aria_snapshot(f"""
        - banner:
          - paragraph: Harbour Nights
        - main:
          - heading "Your card" [level=1]
          - status
          - region "{holder.card.number}":
            - img "Your code for the entrance, to be scanned"
            - paragraph: Card number {holder.card.number}
            - paragraph: Show this code at the entrance.
            - button "Keep the card on this phone"
          - heading "Next event" [level=2]
          - list:
            - listitem:
              - heading "Summer Opening" [level=3]
    """)
    await holder.scan(holder.tenant.token(holder.card))
    await expect(page.get_by_role("status").first).to_contain_text("You are in. Summer Opening. ")


@pytest.mark.parametrize("language", SAID)
async def test_the_page_speaks_the_language_of_the_browser(
    holder: Holder, network: Network, visit: Visitor, language: str
) -> None:
    page = (await visit(viewport=PHONE)).page
    await page.set_extra_http_headers({"Accept-Language": f"{language}-BE, en;q=0.5"})
    await opened(page, network.origin, holder)
    await expect(page.locator("#note")).to_have_text(SHOW[language])
    await holder.scan(holder.tenant.token(holder.card))
    await expect(page.locator("#entered h2")).to_have_text(SAID[language])
    await network.cut()
    await page.reload()
    await expect(page.locator("#entered h2")).to_have_text(SAID[language])
    assert await page.evaluate("document.documentElement.lang") == language


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, SMALL], ids=["390", "320"])
async def test_axe_finds_nothing_and_nothing_is_cut_off(
    holder: Holder, network: Network, visit: Visitor, colours: Colours, viewport: ViewportSize
) -> None:
    page = await opened((await visit(viewport=viewport, colours=colours)).page, network.origin, holder)
    assert await violations(page) == []
    await holder.scan(holder.tenant.token(holder.card))
    await expect(page.locator("#entered")).to_be_visible()
    await page.evaluate("document.getAnimations().forEach((one) => one.finish())")
    assert await violations(page) == []
    await holder.tenant.move_event(holder.tenant.event_id, EventStatus.CANCELLED)
    await expect(page.locator("#next .pill")).to_have_text("Cancelled")
    assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


async def test_on_paper_there_is_a_code_and_nothing_to_press(holder: Holder, network: Network, visit: Visitor) -> None:
    page = await opened((await visit()).page, network.origin, holder)
    await page.emulate_media(media="print")
    await expect(page.locator("#keep-button")).to_be_hidden()
    box = await page.locator("#code svg").bounding_box()
    assert box is not None
    # 70 mm at 96 pixels an inch.
    assert box["width"] == pytest.approx(264, abs=2)
