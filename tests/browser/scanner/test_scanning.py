"""Scanning with a network: admitted, refused, the same code again, another gate; by a reader and by hand."""

import re

import pytest
from playwright.async_api import expect

from gatepass.domain.cards import CardStatus
from tests.browser.scanner.phone import Phone
from tests.size import NIGHT

pytestmark = pytest.mark.browser

# When the result appears and disappears, in milliseconds.
WATCH_RESULT = """() => {
    window.times = [];
    const result = document.getElementById("result");
    new MutationObserver(() => {
        if (result.hidden === (window.times.length % 2 === 1)) window.times.push(performance.now());
    }).observe(result, { attributeFilter: ["hidden"] });
}"""


async def test_a_guest_is_admitted_once_and_then_it_says_who_was_first(phone: Phone) -> None:
    card, other = await phone.tenant.card(), await phone.tenant.card()
    await phone.show(card)
    await phone.says("ENTER", "green", "General", "standard", "Welcome.")
    await phone.is_ready()
    await expect(phone.at("#last")).to_contain_text("ENTER")
    await phone.show(other)
    await phone.says("ENTER", "green")
    # At once, with the next code: nobody waits for the second to end.
    await phone.show(card)
    await phone.says("USED", "red", "First: North", "by Red phone")
    await phone.is_ready()
    await expect(phone.at("#last")).to_contain_text("First: North")
    assert phone.faults == []


async def test_the_same_code_again_is_an_echo_and_counts_once(phone: Phone) -> None:
    card = await phone.tenant.card()
    # A number is read sooner than a token: after three seconds it is no echo any more.
    await phone.read(card.number)
    await phone.says("ENTER", "green")
    await phone.read(card.number)
    await phone.says("ENTER", "green", "The same code again. It counts once.")
    await expect(phone.at("#result")).to_have_attribute("data-echo", "true")
    await phone.at("#open-recent").click()
    await expect(phone.at("#recent li")).to_have_count(1)


@pytest.mark.parametrize(
    ("status", "word"), [(CardStatus.SUSPENDED, "SUSPENDED"), (CardStatus.REVOKED, "REVOKED"), (None, "NO TICKET")]
)
async def test_refusals(phone: Phone, status: CardStatus | None, word: str) -> None:
    card = await phone.tenant.card(with_ticket=status is not None)
    if status is not None:
        await phone.tenant.move_card(card, status)
    await phone.show(card)
    await phone.says(word, "red")


async def test_another_gate_is_named(phone: Phone) -> None:
    async with phone.tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE ticket_category SET gates = $2 WHERE organization_id = $1", phone.tenant.id, ["South", "West 1"]
        )
    await phone.show(await phone.tenant.card())
    await phone.says("OTHER GATE", "red", "Goes to: South, West 1")


async def test_what_is_no_code_of_ours_is_unknown(phone: Phone) -> None:
    await phone.read("00340123450000000018")
    await phone.says("UNKNOWN", "red", "This is no code of Gatepass.")


async def test_a_number_is_typed_and_its_check_digit_is_looked_at(phone: Phone) -> None:
    card, second = await phone.tenant.card(), await phone.tenant.card()
    trouble = phone.at("#number-trouble")
    await phone.type(card.number[:-1])
    await expect(trouble).to_have_text("That is not the whole number.")
    last = str((int(card.number[-1]) + 1) % 10)
    await phone.at("#number").fill(card.number[:-1] + last)
    await phone.page.keyboard.press("Enter")
    await expect(trouble).to_have_text("A digit is wrong. Compare it with the card.")
    await phone.at("#number").fill(card.number.lower().replace(" ", "-"))
    await phone.page.keyboard.press("Enter")
    await phone.says("ENTER", "green")
    # The letters are known from now on, and a keyboard of digits is enough.
    await phone.is_ready()
    await phone.at("#open-typing").click()
    await expect(phone.at("#number")).to_have_value(f"{card.number[:3]} ")
    await expect(phone.at("#number")).to_have_attribute("inputmode", "numeric")
    await phone.page.keyboard.press("End")
    await phone.page.keyboard.type(second.number[4:].replace(" ", ""), delay=90)
    await phone.page.keyboard.press("Enter")
    await phone.says("ENTER", "green")


async def test_the_last_ten_are_in_memory_without_names_and_whole_numbers(phone: Phone) -> None:
    for _ in range(11):
        card = await phone.tenant.card()
        await phone.show(card)
        await phone.says("ENTER")
        await expect(phone.at("#beside-title + ol li, #recent li").first).to_contain_text(card.number[-4:])
        await phone.at("#result-next").click()
    await phone.at("#open-recent").click()
    items = phone.at("#recent li")
    await expect(items).to_have_count(10)
    for text in await items.all_inner_texts():
        assert re.search(r"card … \d{4} · ", text), text
    await phone.page.reload()
    await phone.at("#open-recent").click()
    await expect(items).to_have_count(0)


async def test_a_result_is_gone_after_a_second(phone: Phone) -> None:
    await phone.page.evaluate(WATCH_RESULT)
    await phone.show(await phone.tenant.card())
    await phone.says("ENTER")
    await phone.is_ready()
    shown, hidden = await phone.page.evaluate("() => window.times")
    assert hidden - shown > 950
    if NIGHT:
        assert hidden - shown < 1300
