"""Sound and vibration tell the colours apart, can be turned off, and the screen stays on."""

import pytest
from playwright.async_api import expect

from gatepass.domain.cards import CardStatus
from tests import factory
from tests.browser.scanner.network import Network
from tests.browser.scanner.phone import Phone, new_phone
from tests.browser.studio import Stack
from tests.browser.visit import PHONE, Visitor

pytestmark = pytest.mark.browser

# What the phone plays, shakes and holds.
LISTEN = """
    window.heard = [];
    window.shaken = [];
    window.held = [];
    const start = OscillatorNode.prototype.start;
    OscillatorNode.prototype.start = function (...when) {
        window.heard.push(this.frequency.value);
        return start.apply(this, when);
    };
    navigator.vibrate = (pattern) => window.shaken.push(pattern);
    navigator.wakeLock.request = async (kind) => {
        window.held.push(kind);
        return { released: false, release: async () => window.held.push("released") };
    };
"""
TAKE = "(name) => window[name].splice(0)"


@pytest.fixture
async def phone(tenant: factory.Tenant, stack: Stack, network: Network, visit: Visitor) -> Phone:
    visited = await visit(viewport=PHONE)
    await visited.page.add_init_script(LISTEN)
    return await new_phone(tenant, stack, network.origin, visited)


async def test_colours_are_heard_and_felt_and_can_be_silent(phone: Phone) -> None:
    page, tenant = phone.page, phone.tenant
    card, suspended = await tenant.card(), await tenant.card()
    await tenant.move_card(suspended, CardStatus.SUSPENDED)
    await phone.show(card)
    await phone.says("ENTER", "green")
    green = await page.evaluate(TAKE, "heard")
    felt = await page.evaluate(TAKE, "shaken")
    await phone.read(suspended.number)
    await phone.says("SUSPENDED", "red")
    red = await page.evaluate(TAKE, "heard")
    assert len(green) == len(red) == 2
    assert min(green) > 2 * max(red), "high is good, low is not"
    assert felt != await page.evaluate(TAKE, "shaken")
    # An echo is silent: nobody else went in.
    await phone.read(suspended.number)
    await phone.says("SUSPENDED", "red", "The same code again")
    assert await page.evaluate(TAKE, "heard") == []

    await phone.is_ready()
    await phone.at("#open-settings").click()
    await phone.at("#sound").uncheck()
    await phone.at("#vibration").uncheck()
    await page.keyboard.press("Escape")
    await phone.show(await tenant.card())
    await phone.says("ENTER")
    assert await page.evaluate(TAKE, "heard") == await page.evaluate(TAKE, "shaken") == []
    await page.reload()
    await phone.at("#open-settings").click()
    await expect(phone.at("#sound")).not_to_be_checked()


async def test_the_screen_stays_on_while_it_scans(phone: Phone) -> None:
    assert await phone.page.evaluate(TAKE, "held") == ["screen"]
    await phone.at("#open-settings").click()
    await phone.at("#retire").click()
    await phone.at("#retire-yes").click()
    await expect(phone.at("#ended")).to_be_visible()
    assert await phone.page.evaluate(TAKE, "held") == ["released"]
