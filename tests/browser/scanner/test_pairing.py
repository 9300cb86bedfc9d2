"""Pairing: from the studio's QR code to the first scan, by hands; and everything that can go wrong on the way."""

import time

import pytest
from playwright.async_api import expect

from tests import factory
from tests.attacks.pairing.handset import Lead
from tests.browser.card_page.holder import shown_code
from tests.browser.scanner.network import Network
from tests.browser.scanner.phone import NAME, Phone
from tests.browser.studio import Stack, sign_in
from tests.browser.visit import PHONE, Visitor
from tests.size import NIGHT, sized

pytestmark = pytest.mark.browser

# A volunteer is scanning a minute after seeing the code.
WITHIN = 60.0
# Devices of one code.
MANY = sized(short=3, full=30)


@pytest.fixture
async def fresh(tenant: factory.Tenant, stack: Stack, network: Network, visit: Visitor) -> Phone:
    """A phone that was never paired."""
    return Phone(tenant, stack, network.origin, await visit(viewport=PHONE))


async def test_from_the_studios_qr_code_to_the_first_scan(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    studio = (await sign_in(stack, tenant, visit)).page
    await studio.goto(stack.url("devices"))
    await studio.get_by_role("link", name="Pair a device").last.click()
    await studio.get_by_label("Gate").fill("North 2")
    await studio.get_by_role("button", name="Show the code").click()
    began = time.monotonic()
    # The phone's own camera reads the code, and opens what is in it.
    address = await shown_code(studio, "[data-code]")
    phone = Phone(tenant, stack, stack.origin, await visit(viewport=PHONE))
    await phone.page.goto(address)
    await expect(phone.at("#pair-start")).to_be_focused()
    assert "#" not in phone.page.url, "a picture of the address bar has no code"
    await phone.at("#pair-start").click()
    await expect(phone.at("#compare")).to_be_visible()
    words = " ".join(await phone.at("#compare-words span").all_inner_texts())
    await expect(studio.locator("[data-words]")).to_have_text(words)
    await studio.get_by_role("button", name="The words are the same: confirm").click()
    await expect(phone.at("#scan")).to_be_visible()
    await expect(phone.at("#status-gate")).to_have_text("North 2")
    await phone.show(await tenant.card())
    await phone.says("ENTER", "green")
    if NIGHT:
        assert time.monotonic() - began < WITHIN
    assert phone.visited.complaints == []
    assert phone.visited.elsewhere(stack.origin) == []


async def test_opening_the_address_alone_asks_for_nothing(fresh: Phone) -> None:
    code = await Lead(fresh.tenant).code()
    await fresh.open(code.text)
    await expect(fresh.at("#pair-code")).to_have_value(f"{code.text[:5]}-{code.text[5:]}")
    assert await Lead(fresh.tenant).requests(code) == []


async def test_a_reader_reads_the_code_of_the_studio(fresh: Phone) -> None:
    code = await Lead(fresh.tenant).code()
    await fresh.open()
    await expect(fresh.at("#pair-code")).to_be_focused()
    await fresh.read(f"https://gatepass.example/gate#{code.text}")
    await expect(fresh.at("#pair-code")).to_have_value(f"{code.text[:5]}-{code.text[5:]}")
    await fresh.read("https://example.org/something-else")
    await expect(fresh.at("#pair-trouble")).to_have_text("This QR code is no pairing code.")


async def test_codes_that_do_not_pair(fresh: Phone, network: Network) -> None:
    await fresh.open()
    trouble = fresh.at("#pair-trouble")
    for code, sentence in (("A7K29", "ten letters and digits"), ("A7K29-QXR3M", "wrong or over")):
        await fresh.at("#pair-code").fill(code)
        await fresh.at("#pair-start").click()
        await expect(trouble).to_contain_text(sentence)
    await network.cut()
    await fresh.at("#pair-start").click()
    await expect(trouble).to_contain_text("no network")


async def test_a_lead_refuses_and_a_person_cancels(fresh: Phone) -> None:
    lead = Lead(fresh.tenant)
    for is_refused in (True, False):
        code = await lead.code()
        await fresh.open()
        await fresh.at("#pair-code").fill(code.text.lower())
        await fresh.at("#pair-name").fill(NAME)
        await fresh.at("#pair-start").click()
        await expect(fresh.at("#compare")).to_be_visible()
        if is_refused:
            (request,) = await lead.requests(code)
            await lead.refuse(code, request.request)
            await expect(fresh.at("#pair-trouble")).to_contain_text("wrong or over")
        else:
            await fresh.at("#compare-cancel").click()
            await expect(fresh.at("#pair")).to_be_visible()
            await expect(fresh.at("#pair-trouble")).to_be_hidden()


async def test_a_second_tab_says_that_the_scanner_is_open(phone: Phone) -> None:
    second = await phone.page.context.new_page()
    await second.goto(f"{phone.origin}/gate")
    await expect(second.locator("#blocked-title")).to_have_text("The scanner is open in another tab")
    await phone.page.close()
    await second.get_by_role("button", name="Try again").click()
    await expect(second.locator("#scan")).to_be_visible()


async def test_a_pairing_that_is_gone_is_said(phone: Phone) -> None:
    await phone.page.evaluate(
        """async () => {
            for (const place of [indexedDB, (await navigator.storageBuckets.open("mirror")).indexedDB]) {
                for (const { name } of await place.databases()) place.deleteDatabase(name);
            }
        }"""
    )
    await phone.page.reload()
    await expect(phone.at("#pair-lost")).to_contain_text("The pairing is gone")


async def test_who_opens_the_code_again_can_go_back_to_scanning(phone: Phone) -> None:
    code = await Lead(phone.tenant).code()
    await phone.open(code.text)
    await expect(phone.at("#pair-again")).to_be_visible()
    await phone.at("#pair-back").click()
    await phone.show(await phone.tenant.card())
    await phone.says("ENTER", "green")


async def test_many_devices_are_paired_with_one_code(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    """A lead confirms each by its words, as they appear; no phone waits for another."""
    studio = (await sign_in(stack, tenant, visit)).page
    await studio.goto(stack.url("devices/pair"))
    await studio.get_by_label("Gate").fill("North 2")
    await studio.get_by_label("devices").fill(str(MANY))
    await studio.get_by_role("button", name="Show the code").click()
    address = await shown_code(studio, "[data-code]")
    began = time.monotonic()
    phones: dict[str, Phone] = {}
    for number in range(MANY):
        phone = Phone(tenant, stack, stack.origin, await visit(viewport=PHONE))
        await phone.page.goto(address)
        await phone.at("#pair-name").fill(f"Phone {number + 1}")
        await phone.at("#pair-start").click()
        await expect(phone.at("#compare")).to_be_visible()
        words = " ".join(await phone.at("#compare-words span").all_inner_texts())
        asks = studio.get_by_role("article", name=f"Phone {number + 1}", exact=True)
        await expect(asks.locator("[data-words]")).to_have_text(words)
        await asks.get_by_role("button", name="confirm").click()
        phones[words] = phone
    for phone in phones.values():
        await expect(phone.at("#scan")).to_be_visible()
    print(f"{MANY} devices were paired in {time.monotonic() - began:.0f} s")
    for phone in phones.values():
        await phone.read((await tenant.card()).number)
        await phone.says("ENTER", "green")
