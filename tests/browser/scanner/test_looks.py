"""Every state of the screen, on phones and tablets, light and dark: axe finds nothing, and nothing is cut off.

The pictures are in test-results/scanner, to be looked at.
"""

from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import ViewportSize, expect

from gatepass.domain.cards import Card, CardStatus
from tests import factory
from tests.attacks.pairing.handset import Lead
from tests.browser.scanner.network import Network
from tests.browser.scanner.phone import Phone
from tests.browser.scanner.test_ending import end
from tests.browser.studio import Stack, violations
from tests.browser.visit import PHONE, Colours, Visitor
from tests.size import sized

pytestmark = pytest.mark.browser

PICTURES: Final = Path(__file__).parents[3] / "test-results" / "scanner"
SIZES: Final = {
    "phone": PHONE,
    "small": ViewportSize(width=320, height=568),
    "tablet": ViewportSize(width=1180, height=820),
    "upright": ViewportSize(width=820, height=1180),
}
LOOKS: Final = sized(
    short=[("phone", "light"), ("tablet", "dark")],
    full=[(size, colours) for size in SIZES for colours in ("light", "dark")],
)
# What is drawn is drawn to its end.
SETTLED: Final = "document.getAnimations().forEach((one) => one.finish())"
# Elements whose text does not fit into them, or into the screen.
CUT_OFF: Final = """() => [...document.querySelectorAll("body *")]
    .filter((one) => one.checkVisibility() && !one.closest("dialog:not([open]), svg, .spoken, option"))
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 || one.scrollWidth > one.clientWidth + 1)
    .filter((one) => getComputedStyle(one).display !== "inline" && one.tagName !== "INPUT" && one.tagName !== "SELECT")
    .map((one) => one.id || one.className)"""


# A result that was shown stays, until `goOn`.
HOLD_RESULTS: Final = """() => {
    const result = document.getElementById("result");
    let isHeld = false;
    new MutationObserver(() => {
        if (!result.hidden) isHeld = true;
        else if (isHeld) result.hidden = false;
    }).observe(result, { attributeFilter: ["hidden"] });
    window.goOn = () => {
        isHeld = false;
        result.hidden = true;
    };
}"""


class Look:
    """Looks at a screen: the picture, axe, and what is cut off."""

    def __init__(self, phone: Phone, name: str) -> None:
        self._phone = phone
        self._name = name
        self._count = 0
        PICTURES.mkdir(parents=True, exist_ok=True)

    async def at(self, state: str) -> None:
        page = self._phone.page
        await page.evaluate(SETTLED)
        self._count += 1
        await page.screenshot(path=PICTURES / f"{self._name}-{self._count:02}-{state}.png")
        assert await violations(page) == [], state
        assert await page.evaluate(CUT_OFF) == [], state
        size = page.viewport_size
        assert size is not None
        assert await page.evaluate("document.documentElement.scrollWidth") <= size["width"], state

    async def at_result(self, state: str) -> None:
        """A result, which stays until it is looked at: axe and a picture take longer than a second."""
        await self.at(state)
        await self._phone.page.evaluate("() => window.goOn()")
        await self._phone.is_ready()


@pytest.mark.parametrize(("size", "colours"), LOOKS, ids=[f"{size}-{colours}" for size, colours in LOOKS])
async def test_every_state(
    tenant: factory.Tenant, stack: Stack, network: Network, visit: Visitor, size: str, colours: Colours
) -> None:
    visited = await visit(viewport=SIZES[size], colours=colours)
    phone = Phone(tenant, stack, network.origin, visited)
    look = Look(phone, f"{size}-{colours}")
    await pairing(phone, look)
    await phone.has_list()
    await results(phone, look)
    await sheets(phone, look)
    await without_a_network(phone, network, look)
    await ended(phone, network, look)


async def pairing(phone: Phone, look: Look) -> None:
    lead = Lead(phone.tenant)
    code = await lead.code(gate="North 2")
    await phone.open(code.text)
    await expect(phone.at("#pair")).to_be_visible()
    await look.at("pair")
    await phone.at("#pair-code").fill("A7K29-QXR3M")
    await phone.at("#pair-start").click()
    await expect(phone.at("#pair-trouble")).to_be_visible()
    await look.at("pair-wrong")
    await phone.at("#pair-code").fill(code.text)
    await phone.at("#pair-name").fill("Red phone")
    await phone.at("#pair-start").click()
    await expect(phone.at("#compare")).to_be_visible()
    await look.at("compare")
    (request,) = await lead.requests(code)
    phone.device = await lead.confirm(code, request.request)
    await expect(phone.at("#scan")).to_be_visible()
    await look.at("ready")


async def results(phone: Phone, look: Look) -> None:
    tenant = phone.tenant
    await phone.page.evaluate(HOLD_RESULTS)
    good, twice, suspended = [await tenant.card() for _ in range(3)]
    await tenant.move_card(suspended, CardStatus.SUSPENDED)
    await phone.show(good)
    await phone.says("ENTER", "green")
    await look.at_result("green")
    # The number is read sooner than a token: after three seconds it would be no echo any more.
    for _ in range(2):
        await phone.read(twice.number)
        await phone.says("ENTER", "green")
    await phone.says("ENTER", "green", "The same code again")
    await look.at_result("echo")
    await phone.show(suspended)
    await phone.says("SUSPENDED", "red")
    await look.at_result("red-suspended")
    await phone.show(good)
    await phone.says("USED", "red", "First: North 2")
    await look.at_result("red-used")
    await look.at("after-used")


async def sheets(phone: Phone, look: Look) -> None:
    await phone.type("SVC 1234 5678 9013")
    await expect(phone.at("#number-trouble")).to_be_visible()
    await look.at("typing-wrong")
    await phone.page.keyboard.press("Escape")
    if await phone.at("#open-recent").is_visible():
        await phone.at("#open-recent").click()
        await look.at("recent")
        await phone.page.keyboard.press("Escape")
    await phone.at("#open-settings").click()
    await look.at("settings")
    await phone.at("#retire").click()
    await look.at("retire")
    await phone.page.keyboard.press("Escape")
    await phone.page.keyboard.press("Escape")


async def without_a_network(phone: Phone, network: Network, look: Look) -> None:
    card = await followed(phone, "stop", 4)
    await network.cut()
    await phone.show(card)
    await phone.says("WAIT", "amber")
    await look.at_result("amber-wait")
    await look.at("after-amber")
    await phone.is_offline()
    await network.restore()
    await phone.is_online()
    card = await followed(phone, "manifest", 5)
    network.loses_answers = True
    await phone.show_and_see_checking(card)
    await look.at("checking")
    await phone.says("ENTER", "green", "Decided without a network")
    await look.at_result("green-offline")
    network.loses_answers = False
    await network.cut()
    await phone.is_offline()
    await look.at("offline")


async def followed(phone: Phone, policy: str, cards: int) -> Card:
    """The event admits so without a network, and the phone knows it, with a new card."""
    async with phone.tenant.db.transaction() as tx:
        await tx.run("UPDATE event SET offline = $2 WHERE organization_id = $1", phone.tenant.id, policy)
    card = await phone.tenant.card()
    await phone.knows(cards)
    return card


async def ended(phone: Phone, network: Network, look: Look) -> None:
    await end(phone, "revoked")
    await network.restore()
    await expect(phone.at("#ended-title")).to_have_text("This device was revoked")
    await look.at("revoked")
