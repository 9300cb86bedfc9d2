"""Without a network: in the middle of a request, from a cold start, and back again; and what the studio sees of it."""

import pytest
from playwright.async_api import expect

from gatepass.domain.cards import CardStatus
from tests.browser.card_page.holder import WORKER_READY
from tests.browser.scanner.network import Network
from tests.browser.scanner.phone import Phone, service_scan
from tests.browser.studio import sign_in
from tests.browser.visit import Visitor
from tests.card_page.links import path_of
from tests.factory import Tenant

pytestmark = pytest.mark.browser

SCANS = "SELECT count(*) FROM scan WHERE organization_id = $1 AND verdict = 'activated'"

DELETE_CACHES = """async () => {
    for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const request of await cache.keys()) await cache.delete(request);
    }
}"""


async def activations(tenant: Tenant) -> int:
    async with tenant.db.autocommit() as tx:
        return await tx.value(SCANS, tenant.id)


async def test_the_network_goes_and_comes_back(phone: Phone, network: Network) -> None:
    good, suspended = await phone.tenant.card(), await phone.tenant.card()
    await phone.tenant.move_card(suspended, CardStatus.SUSPENDED)
    await phone.show(await phone.tenant.card())
    await phone.says("ENTER")
    await phone.knows(3)
    await network.cut()
    await phone.show(good)
    await phone.says("ENTER", "green", "General", "Decided without a network")
    await phone.is_offline()
    await expect(phone.at("#status-network")).to_contain_text("Offline since")
    await expect(phone.at("#status-waiting")).to_have_text("1 to send")
    await phone.show(suspended)
    await phone.says("SUSPENDED", "red", "Decided without a network")
    await phone.is_ready()
    await phone.at("#status").click()
    await expect(phone.at("#facts")).to_contain_text("2 to send. Sent when there is a network.")
    await phone.page.keyboard.press("Escape")
    await network.restore()
    await phone.is_online()
    await phone.has_sent_all()
    assert await activations(phone.tenant) == 2


async def test_an_answer_that_is_lost_is_decided_here_and_counts_once(phone: Phone, network: Network) -> None:
    card = await phone.tenant.card()
    await phone.knows(1)
    network.loses_answers = True
    await phone.show_and_see_checking(card)
    await phone.says("ENTER", "green", "Decided without a network")
    assert await activations(phone.tenant) == 1
    network.loses_answers = False
    await network.cut()
    await network.restore()
    await phone.has_sent_all()
    await phone.is_online()
    assert await activations(phone.tenant) == 1
    await phone.show(card)
    await phone.says("USED", "red")


async def test_a_cold_start_without_a_network(phone: Phone, network: Network) -> None:
    first, last, other = [await phone.tenant.card() for _ in range(3)]
    await phone.knows(3)
    await network.cut()
    for card in (first, last):
        await phone.show(card)
        await phone.says("ENTER", "green")
        await phone.is_ready()
    context = phone.page.context
    await phone.page.close()
    phone.visited.page = await context.new_page()
    await phone.open()
    await expect(phone.at("#scan")).to_be_visible()
    await expect(phone.at("#status-gate")).to_have_text("North")
    await expect(phone.at("#status-waiting")).to_have_text("2 to send")
    await phone.show(other)
    await phone.says("ENTER", "green", "Decided without a network")
    await phone.show(first)
    await phone.says("USED", "red", "First: North")
    # The app was closed after it: it cannot know whether somebody saw the screen.
    await phone.show(last)
    await phone.says("CHECK", "amber", "First: North")
    await network.restore()
    await phone.has_sent_all()
    assert await activations(phone.tenant) == 3


async def test_a_guests_card_on_the_scanning_phone_leaves_the_app_there(phone: Phone, network: Network) -> None:
    """Both keep their files at one origin, each with a worker of its own."""
    card = await phone.tenant.card()
    await phone.knows(1)
    path = await path_of(phone.tenant, card)
    page = await phone.page.context.new_page()
    await page.goto(network.origin + path)
    await page.evaluate(WORKER_READY)
    await page.close()
    await network.cut()
    await phone.page.reload()
    await expect(phone.at("#status-gate")).to_have_text("North")
    await phone.show(card)
    await phone.says("ENTER", "green", "Decided without a network")


async def test_files_that_somebody_deleted_are_kept_again(phone: Phone, network: Network) -> None:
    await phone.page.evaluate(DELETE_CACHES)
    await phone.page.reload()
    await expect(phone.at("#status-gate")).to_have_text("North")
    await network.cut()
    await phone.page.reload()
    await expect(phone.at("#status-gate")).to_have_text("North")


async def test_two_gates_without_a_network_and_the_conflict_in_the_studio(
    phone: Phone, network: Network, visit: Visitor
) -> None:
    card = await phone.tenant.card()
    await phone.knows(1)
    await network.cut()
    assert await service_scan(phone.tenant, phone.stack, card, "South 1") == 200
    await phone.show(card)
    await phone.says("ENTER", "green")
    await network.restore()
    await phone.has_sent_all()
    studio = (await sign_in(phone.stack, phone.tenant, visit)).page
    await studio.goto(phone.stack.url(f"events/{phone.tenant.event_id}/live"))
    await studio.get_by_role("link", name="Look at them").click()
    for gate in ("North", "South 1"):
        await expect(studio.get_by_text(gate).first).to_be_visible()


async def test_without_a_list_nobody_is_admitted(phone: Phone, network: Network) -> None:
    """A card that was issued after the network went is not on the list."""
    await network.cut()
    await phone.show(await phone.tenant.card())
    await phone.says("UNKNOWN", "red")
