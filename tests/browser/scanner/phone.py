"""A phone with the scanner: what a person does with it, and what its screen says."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from playwright.async_api import Locator, Page, expect
from playwright.async_api import TimeoutError as TimedOut

from gatepass.domain.cards import Card
from gatepass.domain.devices import Device
from gatepass.gate.words import WORDS
from tests import factory
from tests.attacks.pairing.handset import Lead
from tests.browser.studio import Stack
from tests.browser.visit import Visit

# Milliseconds between two keys of a reader.
READER = 8
CHECKING = "() => !document.querySelector('#checking').hidden"
# Whether the result is shown, and has this word, this colour and these texts.
SAYS = """({ word, colour, texts }) => {
    const result = document.getElementById("result");
    return !result.hidden
        && document.getElementById("result-word").textContent === word
        && (!colour || result.dataset.colour === colour)
        && texts.every((text) => result.textContent.includes(text));
}"""
WORKER_READY = "() => navigator.serviceWorker.ready.then((ready) => ready.active !== null)"
NAME = "Red phone"


@dataclass
class Phone:
    tenant: factory.Tenant
    stack: Stack
    origin: str
    visited: Visit
    # The texts of its screen.
    said: Mapping[str, str] = field(default_factory=lambda: WORDS)
    device: Device | None = None

    @property
    def page(self) -> Page:
        return self.visited.page

    @property
    def faults(self) -> list[str]:
        """What the console complains of, but for refusals and a network that is not there."""
        return [one for one in self.visited.complaints if not one.startswith(("error: Failed to load", "failed:"))]

    def at(self, selector: str) -> Locator:
        return self.page.locator(selector)

    async def open(self, code: str = "") -> None:
        await self.page.goto(f"{self.origin}/gate{code and '#' + code}")

    async def pair(self, gate: str = "North") -> None:
        """Type a code, and let a lead who compares the words confirm it."""
        lead = Lead(self.tenant)
        code = await lead.code(gate=gate)
        await self.open()
        await self.at("#pair-code").fill(code.text)
        await self.at("#pair-name").fill(NAME)
        await self.at("#pair-start").click()
        await expect(self.at("#compare-words")).to_be_visible()
        shown = await self.at("#compare-words span").all_inner_texts()
        (request,) = await lead.requests(code)
        assert request.words == shown
        self.device = await lead.confirm(code, request.request)
        await expect(self.at("#scan")).to_be_visible()

    async def has_list(self) -> None:
        """Until the phone has the list of its event, and its app: from then on it needs no network."""
        await self.at("#status").click()
        await expect(self.at("#facts")).to_contain_text(self._cards(""))
        await self.page.keyboard.press("Escape")
        assert await self.page.evaluate(WORKER_READY)

    async def knows(self, cards: int) -> None:
        """Until its list has so many cards."""
        await self.at("#status").click()
        await expect(self.at("#facts")).to_contain_text(self._cards(str(cards)))
        await self.page.keyboard.press("Escape")

    def _cards(self, count: str) -> str:
        return self.said["list_cards"].partition("{when}")[0].replace("{count}", count)

    async def read(self, code: str) -> None:
        """A hardware reader reads this code."""
        await read_by(self.page, code)

    async def show(self, card: Card) -> None:
        await self.read(self.tenant.token(card))

    async def show_and_see_checking(self, card: Card) -> None:
        """While the service is asked, for 1.5 s at most: the page itself looks at each of its frames."""
        checking = asyncio.create_task(self.page.wait_for_function(CHECKING))
        await self.show(card)
        await checking

    async def type(self, number: str) -> None:
        await self.at("#open-typing").click()
        await self.at("#number").fill(number)
        await self.page.keyboard.press("Enter")

    async def says(self, word: str, colour: str | None = None, *texts: str) -> None:
        """The result that fills the screen. It does so for a second: the page itself looks at each of its frames."""
        wanted = {"word": word, "colour": colour, "texts": texts}
        try:
            await self.page.wait_for_function(SAYS, arg=wanted)
        except TimedOut:
            last = await self.at("#result").inner_text() or await self.at("#last").inner_text()
            raise AssertionError(f"It does not say {wanted}, but at last: {last}") from None

    async def is_ready(self) -> None:
        """Back to scanning."""
        await expect(self.at("#result")).to_be_hidden()
        await expect(self.at("#checking")).to_be_hidden()

    async def is_online(self) -> None:
        await expect(self.at("#status")).to_have_attribute("data-network", "online")

    async def is_offline(self) -> None:
        await expect(self.at("#status")).to_have_attribute("data-network", "offline")

    async def has_sent_all(self) -> None:
        await expect(self.at("#status-waiting")).to_be_hidden()


async def read_by(page: Page, code: str) -> None:
    """Real keys, with times of their own: those of a reader, however busy this machine is."""
    session = await page.context.new_cdp_session(page)
    began = time.time()
    keys: list[dict[str, str | float]] = []
    for count, text in enumerate([*code, "\r"]):
        named = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13} if text == "\r" else {"key": text}
        at = began + count * READER / 1000
        keys += [
            {"type": "keyDown", "text": text, "timestamp": at, **named},
            {"type": "keyUp", "timestamp": at, **named},
        ]
    # They are sent in this order, and none waits for the one before.
    await asyncio.gather(*[session.send("Input.dispatchKeyEvent", key) for key in keys])
    await session.detach()


async def new_phone(
    tenant: factory.Tenant, stack: Stack, origin: str, visited: Visit, said: Mapping[str, str] = WORDS
) -> Phone:
    phone = Phone(tenant, stack, origin, visited, said)
    await phone.pair()
    await phone.has_list()
    await phone.is_online()
    return phone


async def service_scan(tenant: factory.Tenant, stack: Stack, card: Card, gate: str) -> int:
    """Another gate, with a key of its own, scans this card. The status that it is answered."""
    key = await tenant.key()
    body = {"token": tenant.token(card), "event_id": str(tenant.event_id), "gate": gate}
    async with stack.server.client(key.text) as client:
        return (await client.post("/scan", json=body)).status_code
