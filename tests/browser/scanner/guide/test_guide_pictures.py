"""The pictures of the guide for those who scan: the real app, with a camera that sees a guest's phone."""

import io
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from playwright.async_api import ViewportSize, async_playwright, expect

from tests import factory
from tests.attacks.pairing.handset import Lead
from tests.browser.engines.programs import HEADLESS_SHELL, QUIET
from tests.browser.scanner.camera import feeds
from tests.browser.scanner.camera.conftest import FAKE
from tests.browser.scanner.network import Network
from tests.browser.scanner.phone import Phone
from tests.browser.scanner.test_looks import HOLD_RESULTS, SETTLED, followed
from tests.browser.studio import ROOT, Stack
from tests.browser.visit import Visit
from tests.size import FULL

pytestmark = pytest.mark.browser

PICTURES = ROOT / "docs" / "images" / "scanner"
SCREEN = ViewportSize(width=390, height=760)
# So many suffice, and a picture is a third of its size.
COLOURS = 64


def unreadable(moment: feeds.Moment) -> Image.Image:
    """A code as guests hold it, which no decoder finds: the middles of its three corners are white."""
    code = moment.code.copy()
    module = 8
    side = code.width // module - 8
    for x, y in ((4, 4), (side - 3, 4), (4, side - 3)):
        at = [(x + 2) * module, (y + 2) * module, (x + 5) * module - 1, (y + 5) * module - 1]
        ImageDraw.Draw(code).rectangle(at, fill="white")
    return feeds.straight(feeds.Moment(code, moment.gone, moment.draw))


@pytest.fixture
async def phone(tenant: factory.Tenant, stack: Stack, network: Network, tmp_path: Path) -> AsyncGenerator[Phone]:
    """One that is not paired yet."""
    feed = feeds.write_feed(tmp_path / "feed.mjpeg", [(unreadable, feeds.tokens(2, seed=1)[1])], held=30, empty=0)
    async with async_playwright() as playwright:
        options = [*QUIET, *FAKE, f"--use-file-for-fake-video-capture={feed}"]
        browser = await playwright.chromium.launch(executable_path=HEADLESS_SHELL, args=options)
        context = await browser.new_context(viewport=SCREEN, color_scheme="light", locale="en-GB")
        yield Phone(tenant, stack, network.origin, Visit(await context.new_page()))
        await browser.close()


@pytest.mark.skipif(not FULL and "GATEPASS_PICTURES" not in os.environ, reason="other tests go the same way")
async def test_the_pictures_show_the_way_of_a_volunteer(phone: Phone, network: Network) -> None:
    lead = Lead(phone.tenant)
    code = await lead.code(gate="North 2")
    await phone.open(code.text)
    await phone.at("#pair-name").fill("Red phone")
    await phone.at("#pair-start").click()
    await expect(phone.at("#compare-words")).to_be_visible()
    await keep(phone, "compare")
    (request,) = await lead.requests(code)
    phone.device = await lead.confirm(code, request.request)
    await expect(phone.at("#view")).to_have_attribute("data-camera", "on")
    await phone.has_list()
    await keep(phone, "ready")
    await network.cut()
    await phone.is_offline()
    await keep(phone, "offline")
    await network.restore()
    await phone.is_online()
    await results(phone, network)


async def results(phone: Phone, network: Network) -> None:
    await phone.page.evaluate(HOLD_RESULTS)
    card = await phone.tenant.card()
    for word, colour in (("ENTER", "green"), ("USED", "red")):
        await phone.show(card)
        await phone.says(word, colour)
        await keep(phone, colour)
        await phone.page.evaluate("() => window.goOn()")
        await phone.is_ready()
        if colour == "green":
            # The same code within three seconds is an echo.
            await phone.page.wait_for_timeout(3_200)
    card = await followed(phone, "stop", 2)
    await network.cut()
    await phone.show(card)
    await phone.says("WAIT", "amber")
    await keep(phone, "amber")


async def keep(phone: Phone, name: str) -> None:
    """Write it into the documents, if GATEPASS_PICTURES is set: `make pictures`."""
    await phone.page.evaluate(f"{SETTLED}; document.activeElement?.blur()")
    taken = await phone.page.screenshot()
    if os.environ.get("GATEPASS_PICTURES"):
        picture = Image.open(io.BytesIO(taken)).convert("RGB").quantize(COLOURS)
        PICTURES.mkdir(parents=True, exist_ok=True)
        picture.save(PICTURES / f"{name}.png", optimize=True)
