"""Every text of the card page, in English. The other languages are in `languages/`; `make languages` updates them.

The page is drawn twice: by a template, and by the script, which also draws without a network. Both take their texts
from here, by key: the template as `words.key`, the script from the file `words.js` that is made of them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gatepass.base.language import WordBook

LANGUAGES: Final = Path(__file__).parent / "languages"


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


WORDS: Final[Mapping[str, str]] = {
    "title": _("Your card"),
    "sandbox": _("Sandbox"),
    "sandbox_note": _("This is a trial card. No entrance takes it."),
    "number": _("Card number"),
    "code": _("Your code for the entrance, to be scanned"),
    "code_moves": _("This code renews itself. A picture of it does not work."),
    "code_static": _("Show this code at the entrance."),
    "code_short": _("This phone cannot make its own code. It asks for a new one each minute, and needs a network."),
    "code_waits": _("Waiting for a network to get a code."),
    "code_needs_phone": _("The entrance takes only a code that a phone makes itself."),
    "code_needs_script": _("The entrance takes only a code that a phone makes itself. Allow JavaScript on this page."),
    "no_code": _("There is no code to show."),
    "elsewhere_short": _("No code is shown here."),
    "certificate_ended": _("Open this page once with a network, so that this phone may go on showing the code."),
    "keep": _("Keep the card on this phone"),
    "keep_why": _("Its code then renews itself, works without a network, and nobody else can show it."),
    "keep_failed": _("That did not work. Try again."),
    "entered": _("You are in"),
    "next": _("Next event"),
    "others": _("Also coming"),
    "no_ticket": _("There is no ticket for a coming event on this card."),
    "state_in": _("You are in"),
    "state_changed": _("Changed"),
    "state_cancelled": _("Cancelled"),
    "state_over": _("Over"),
    "told_changed": _("Changed: {event}. {when}."),
    "told_cancelled": _("Cancelled: {event}."),
    "told_entered": _("You are in. {event}. {when}."),
    "offline": _("No network. Your code works all the same."),
    "offline_no_code": _("No network."),
    "online": _("Connected again."),
    "not_here": _("There is no network, and this card is not kept on this phone."),
    "suspended": _("This card is suspended. Ask the organizer."),
    "not_found": _("There is no card at this address. Check that you have the whole link."),
    "elsewhere": _("This card is on another phone"),
    "elsewhere_note": _("One phone at a time shows the code. To use this one instead:"),
    "move_by_phone": _("With the other phone"),
    "move_by_phone_note": _("Point the camera of the other phone at this picture, and agree there."),
    "move_by_phone_code": _("A code for the camera of the other phone"),
    "move_by_mail": _("With a code by mail"),
    "move_by_mail_note": _("We send twelve digits to the address that the organizer has of you."),
    "mail_send": _("Send me the digits"),
    "mail_sent": _("If the organizer has your address, the digits are on their way."),
    "mail_none": _("This service sends no mail. Ask the organizer."),
    "mail_digits": _("Twelve digits"),
    "mail_use": _("Use this phone"),
    "mail_wrong": _("These digits are wrong, or too old."),
    "move_by_organizer": _("Or ask the organizer"),
    "move_by_organizer_note": _("They can free the card, at the entrance too."),
    "move_question": _("Move your card to another phone?"),
    "move_question_note": _("Agree only if you hold the other phone yourself. This one then shows no code any more."),
    "move_yes": _("Move the card"),
    "move_no": _("Keep it here"),
    "moved": _("The card is on the other phone now."),
    "move_late": _("The picture on the other phone is too old. Point the camera at it again."),
    "remove": _("Take the card off this phone"),
    "removed": _("The card is no longer on this phone."),
    "wallet_apple": _("Add to Apple Wallet"),
    "wallet_google": _("Add to Google Wallet"),
}  # fmt: skip

BOOK: Final = WordBook(WORDS, LANGUAGES)
