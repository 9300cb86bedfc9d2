"""Hardware readers: keyboards to the browser, heard whatever has the focus, told apart from people by their speed."""

import pytest
from playwright.async_api import expect

from tests.browser.scanner.phone import Phone

pytestmark = pytest.mark.browser

# Milliseconds a key, of somebody who types fast.
PERSON = 90
# What a German keyboard makes of keys of an American one; the reader presses the same keys.
GERMAN = """(code) => {
    const keys = { y: "z", z: "y", Y: "Z", Z: "Y", "-": "ß", "_": "?" };
    const places = { "-": "Minus", "_": "Minus", ".": "Period" };
    const press = (options) =>
        document.body.dispatchEvent(new KeyboardEvent("keydown", { ...options, bubbles: true, cancelable: true }));
    for (const letter of code) {
        const place = places[letter] ?? (/[0-9]/.test(letter) ? `Digit${letter}` : `Key${letter.toUpperCase()}`);
        const shiftKey = /[A-Z_]/.test(letter);
        press({ key: keys[letter] ?? letter, code: place, shiftKey });
    }
    press({ key: "Enter", code: "Enter" });
}"""


@pytest.mark.parametrize("focused", ["#open-settings", "#status", "#result-next"])
async def test_a_button_that_has_the_focus_is_not_pressed(phone: Phone, focused: str) -> None:
    if focused == "#result-next":
        await phone.show(await phone.tenant.card())
        await phone.says("ENTER")
    await phone.at(focused).focus()
    # With spaces, which press buttons too.
    await phone.read((await phone.tenant.card()).number)
    await phone.says("ENTER", "green")
    await expect(phone.at("dialog[open]")).to_have_count(0)


async def test_a_sheet_that_is_open_closes_and_its_field_is_left_as_it_was(phone: Phone) -> None:
    await phone.at("#open-typing").click()
    await phone.page.keyboard.type("SVC 12", delay=PERSON)
    await phone.show(await phone.tenant.card())
    await phone.says("ENTER", "green")
    await expect(phone.at("#typing")).to_be_hidden()
    await expect(phone.at("#number")).to_have_value("SVC 12")
    await phone.is_ready()
    await phone.at("#open-settings").click()
    await phone.at("#sound").focus()
    await phone.show(await phone.tenant.card())
    await phone.says("ENTER", "green")
    await phone.is_ready()
    await phone.at("#open-settings").click()
    await expect(phone.at("#sound")).to_be_checked()


async def test_a_person_who_types_is_no_reader(phone: Phone) -> None:
    await phone.at("#view").click()
    await phone.page.keyboard.type("SVC 1234 5678 9012", delay=PERSON)
    await phone.page.keyboard.press("Enter")
    await expect(phone.at("#result")).to_be_hidden()
    await expect(phone.at("#last")).to_be_hidden()


async def test_a_reader_with_another_keyboard_is_understood(phone: Phone) -> None:
    await phone.page.evaluate(GERMAN, phone.tenant.token(await phone.tenant.card()))
    await phone.says("ENTER", "green")


async def test_two_codes_in_a_hurry_are_both_judged(phone: Phone) -> None:
    first, second = await phone.tenant.card(), await phone.tenant.card()
    await phone.show(first)
    await phone.show(second)
    await phone.says("ENTER", "green")
    await phone.is_ready()
    await phone.at("#open-recent").click()
    await expect(phone.at("#recent li")).to_have_count(2)
