"""A holder with a card, and what a gate sees of it: the code that is read from a picture of the screen."""

import io
from dataclasses import dataclass

import zxingcpp
from PIL import Image
from playwright.async_api import Page, expect

from gatepass.domain.cards import Card
from tests import factory
from tests.browser.studio import Stack
from tests.card_page.links import path_of

# What the issue allows between a scan and the words on the page, in milliseconds.
WITHIN = 2_000
# The worker has the shell when it is ready: it waits for its files before it is installed.
WORKER_READY = "() => navigator.serviceWorker.ready.then((ready) => ready.active !== null)"


@dataclass
class Holder:
    tenant: factory.Tenant
    stack: Stack
    card: Card
    path: str
    key: str

    async def scan(self, code: str, gate: str = "North 2") -> int:
        """The status that a gate is answered."""
        body = {"token": code, "event_id": str(self.tenant.event_id), "gate": gate}
        async with self.stack.server.client(self.key) as client:
            return (await client.post("/scan", json=body)).status_code


async def new_holder(tenant: factory.Tenant, stack: Stack) -> Holder:
    card, key = await tenant.card(), await tenant.key()
    return Holder(tenant, stack, card, await path_of(tenant, card), key.text)


async def opened(page: Page, origin: str, holder: Holder) -> Page:
    """The card in this page, and the shell in its service worker."""
    await page.goto(origin + holder.path)
    await expect(page.locator("#code svg")).to_be_visible()
    assert await page.evaluate(WORKER_READY)
    return page


async def shown_code(page: Page, at: str = "#code svg") -> str:
    """The one code that a camera would read, once it is there."""
    await expect(page.locator(at)).to_be_visible()
    (code,) = read_codes(await page.screenshot())
    return code


def read_codes(picture: bytes) -> list[str]:
    """Every QR code in a picture of the screen."""
    # Without the format, a line of the page is now and then taken for a bar code.
    shown, kind = Image.open(io.BytesIO(picture)), zxingcpp.BarcodeFormat.QRCodeModel2
    found = zxingcpp.read_barcodes(shown, formats=kind)  # pyright: ignore[reportArgumentType]
    return [code.text for code in found]
