"""A device that ends: retired, here or in the studio, it still sends what waits; revoked it sends nothing."""

from datetime import UTC, datetime

import pytest
from playwright.async_api import expect

from gatepass.domain import devices
from gatepass.domain.keys import Mode
from tests.attacks.pairing.handset import Lead
from tests.browser.scanner.network import Network
from tests.browser.scanner.phone import Phone
from tests.browser.scanner.test_offline import activations
from tests.factory import BY, Tenant
from tests.sdk.gate.strangers import HIDE

pytestmark = pytest.mark.browser


# How many lists of events lie in both places.
MANIFESTS = """async () => {
    const wait = (request) => new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    let count = 0;
    for (const place of [indexedDB, (await navigator.storageBuckets.open("mirror")).indexedDB]) {
        for (const { name } of await place.databases()) {
            const database = await wait(place.open(name));
            count += await wait(database.transaction("manifest").objectStore("manifest").count());
            database.close();
        }
    }
    return count;
}"""


# It asks the service at once, and not after up to a minute.
LOOKED_AT_AGAIN = "dispatchEvent(new Event('online'))"


async def admit_offline(phone: Phone, network: Network) -> None:
    card = await phone.tenant.card()
    await phone.knows(1)
    assert await phone.page.evaluate(MANIFESTS) > 0
    await network.cut()
    await phone.show(card)
    await phone.says("ENTER", "green")
    await phone.is_ready()


async def end(phone: Phone, how: str) -> None:
    assert phone.device is not None
    verb = devices.retire if how == "retired" else devices.revoke
    async with phone.tenant.db.transaction() as tx:
        await verb(tx, phone.tenant.id, Mode.LIVE, phone.device.id, by=BY, at=datetime.now(UTC))


async def test_a_device_is_retired_by_hand_and_sends_what_waits(phone: Phone, network: Network) -> None:
    await admit_offline(phone, network)
    await phone.at("#open-settings").click()
    await phone.at("#retire").click()
    await phone.at("#retire-question").get_by_role("button", name="Cancel").click()
    await expect(phone.at("#settings")).to_be_visible()
    await phone.at("#retire").click()
    await phone.at("#retire-yes").click()
    await expect(phone.at("#ended-title")).to_have_text("This device is retired")
    await expect(phone.at("#ended-waiting")).to_contain_text("1 to send")
    assert await activations(phone.tenant) == 0
    await network.restore()
    await expect(phone.at("#ended-waiting")).to_have_text("Everything is sent.")
    assert await activations(phone.tenant) == 1
    assert await phone.page.evaluate(MANIFESTS) == 0, "the list is wiped"
    # After a reload it still says so, and reads nothing.
    await phone.page.reload()
    await expect(phone.at("#ended-title")).to_have_text("This device is retired")
    await phone.show(await phone.tenant.card())
    await expect(phone.at("#result")).to_be_hidden()


async def test_a_device_that_the_studio_retires_sends_what_waits(phone: Phone, network: Network) -> None:
    await admit_offline(phone, network)
    await end(phone, "retired")
    await network.restore()
    await expect(phone.at("#ended-title")).to_have_text("This device is retired")
    await expect(phone.at("#ended-waiting")).to_have_text("Everything is sent.")
    assert await activations(phone.tenant) == 1
    await expect(phone.at("#recent li")).to_have_count(0)


async def test_a_revoked_device_sends_nothing_until_it_is_paired_again(phone: Phone, network: Network) -> None:
    await admit_offline(phone, network)
    await end(phone, "revoked")
    await network.restore()
    await expect(phone.at("#ended-title")).to_have_text("This device was revoked")
    await expect(phone.at("#ended-waiting")).to_contain_text("1 to send")
    assert await phone.page.evaluate(MANIFESTS) == 0, "the list is wiped"
    await phone.at("#ended-pair").click()
    await expect(phone.at("#pair-again")).to_be_visible()
    lead = Lead(phone.tenant)
    code = await lead.code()
    await phone.at("#pair-code").fill(code.text)
    await phone.at("#pair-start").click()
    await expect(phone.at("#compare")).to_be_visible()
    (request,) = await lead.requests(code)
    assert request.known_status == "revoked"
    await lead.confirm(code, request.request)
    await expect(phone.at("#scan")).to_be_visible()
    await phone.has_sent_all()
    await phone.show(await phone.tenant.card())
    await phone.says("ENTER", "green")


async def test_a_service_that_does_not_know_the_device_does_not_end_it(phone: Phone) -> None:
    """As a process of another cell, or a database that was restored, does not know it."""
    card, later = await phone.tenant.card(), await phone.tenant.card()
    await phone.knows(2)
    await hide_keys(phone.tenant)
    await phone.page.evaluate(LOOKED_AT_AGAIN)
    await expect(phone.at("#status-warning-text")).to_have_text("Device not known")
    await phone.is_offline()
    await phone.show(card)
    await phone.says("ENTER", "green")
    await phone.is_ready()
    await phone.at("#open-settings").click()
    await expect(phone.at("#facts")).to_contain_text("The service does not know this device. Go on scanning")
    assert await activations(phone.tenant) == 0
    await hide_keys(phone.tenant)
    await phone.page.evaluate(LOOKED_AT_AGAIN)
    await phone.has_sent_all()
    await expect(phone.at("#status-warning-text")).not_to_have_text("Device not known")
    assert await activations(phone.tenant) == 1
    await phone.at("#settings [data-close]").click()
    await phone.show(later)
    await phone.says("ENTER", "green")
    assert await activations(phone.tenant) == 2


async def hide_keys(tenant: Tenant) -> None:
    """The keys of its devices are others. Done twice, it is undone."""
    async with tenant.db.transaction() as tx:
        await tx.run(HIDE.replace("%s", "$1"), tenant.event_id)
