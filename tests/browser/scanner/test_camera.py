"""With a camera, the whole way: it reads the studio's code, then those of the guests."""

from pathlib import Path

import pytest
from playwright.async_api import async_playwright, expect

from tests import factory
from tests.attacks.pairing.handset import Lead
from tests.browser.engines.programs import HEADLESS_SHELL, QUIET
from tests.browser.scanner.camera import feeds
from tests.browser.scanner.camera.conftest import FAKE
from tests.browser.scanner.network import Network
from tests.browser.scanner.phone import Phone
from tests.browser.scanner.test_looks import PICTURES
from tests.browser.studio import Stack
from tests.browser.visit import PHONE, TELL_VIOLATIONS, Visit

pytestmark = pytest.mark.browser


async def test_the_camera_pairs_and_scans(
    tenant: factory.Tenant, stack: Stack, network: Network, tmp_path: Path
) -> None:
    lead = Lead(tenant)
    code = await lead.code(gate="North 2")
    guests = [await tenant.card() for _ in range(2)]
    texts = [f"{stack.origin}/gate#{code.text}", *(tenant.token(card) for card in guests)]
    feed = feeds.write_feed(tmp_path / "feed.mjpeg", [(feeds.tilted, text) for text in texts])
    async with async_playwright() as playwright:
        options = [*QUIET, *FAKE, f"--use-file-for-fake-video-capture={feed}"]
        browser = await playwright.chromium.launch(executable_path=HEADLESS_SHELL, args=options)
        context = await browser.new_context(viewport=PHONE)
        await context.add_init_script(TELL_VIOLATIONS)
        phone = Phone(tenant, stack, network.origin, Visit(await context.new_page()))
        await phone.open()
        await phone.at("#pair-camera").click()
        await expect(phone.at("#pair-code")).to_have_value(f"{code.text[:5]}-{code.text[5:]}")
        await expect(phone.at("#pair-view")).to_be_hidden()
        await phone.at("#pair-start").click()
        await expect(phone.at("#compare")).to_be_visible()
        (request,) = await lead.requests(code)
        await lead.confirm(code, request.request)
        await expect(phone.at("#view")).to_have_attribute("data-camera", "on")
        await phone.says("ENTER", "green")
        await phone.is_ready()
        PICTURES.mkdir(parents=True, exist_ok=True)
        await phone.page.screenshot(path=PICTURES / "phone-light-camera.png")
        # The video begins again, and with it come guests who are in already, and the studio's code, which is no card.
        await phone.says("USED", "red", "First: North 2")
        await phone.at("#result-next").click()
        await phone.at("#open-settings").click()
        await phone.at("#camera").select_option("off")
        await phone.page.keyboard.press("Escape")
        await expect(phone.at("#view")).to_have_attribute("data-camera", "off")
        await expect(phone.at("#video")).to_be_hidden()
        assert phone.faults == []
        await browser.close()
