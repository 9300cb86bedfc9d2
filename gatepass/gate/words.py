"""Every text of the scanner, in English. The other languages are in `languages/`; `make languages` updates them.

The person at the gate reads them in a second, so they are short. `word_` is what stands large on the screen for a
verdict, `why_` the sentence below it; English has those of the SDK. The page takes its texts from here by key, as
`data-word`, and the script from the file `words.js` that is made of them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gatepass.base.language import WordBook

LANGUAGES: Final = Path(__file__).parent / "languages"


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


VERDICTS: Final[Mapping[str, tuple[str, str]]] = {
    "activated": (_("ENTER"), _("Welcome.")),
    "event_not_found": (_("STOP"), _("This gate's event is gone. Ask the gate lead.")),
    "event_not_active": (_("CLOSED"), _("The event is not open for scans.")),
    "doors_closed": (_("TOO EARLY"), _("The doors are not open yet.")),
    "expired": (_("EXPIRED"), _("The code has expired. Ask for a fresh one.")),
    "static_code_refused": (_("PHONE"), _("Only the code on the guest's phone counts here.")),
    "card_not_found": (_("UNKNOWN"), _("This card is not known.")),
    "card_suspended": (_("SUSPENDED"), _("The card is suspended.")),
    "card_revoked": (_("REVOKED"), _("The card was revoked.")),
    "ticket_not_found": (_("NO TICKET"), _("The card has no ticket for this event.")),
    "ticket_cancelled": (_("CANCELLED"), _("The ticket was cancelled.")),
    "already_activated": (_("USED"), _("This ticket has already been used.")),
    "outside_window": (_("NOT NOW"), _("The ticket is not valid at this time.")),
    "wrong_gate": (_("OTHER GATE"), _("The ticket is for another gate.")),
    "invalid_token": (_("UNKNOWN"), _("This code is not one of ours.")),
    "unreadable": (_("UNKNOWN"), _("This is no code of Gatepass.")),
    "online_only": (_("WAIT"), _("There is no network, and this event admits online only. Show it again.")),
    "no_manifest": (_("WAIT"), _("There is no network, and this gate has no list of the event. Show it again.")),
    "was_admitted": (_("CHECK"), _("Admitted here as this gate stopped. Let in only if nobody went in.")),
    "not_kept": (_("STOP"), _("This gate cannot write to its disk. Let nobody in; ask the gate lead.")),
    "device_ended": (_("STOP"), _("This device no longer admits anybody. Ask the gate lead.")),
}

SCREENS: Final[Mapping[str, str]] = {
    "language_name": _("English"),
    "title": _("Scanner"),
    "starting": _("Starting…"),
    "needs_script": _("The scanner needs JavaScript. Allow it on this page."),
    "try_again": _("Try again"),
    "in_use": _("The scanner is open in another tab"),
    "in_use_note": _("Close it there, then try again here."),
    "unsupported": _("This browser cannot run the scanner"),
    "unsupported_note": _("Use a current Chrome, Firefox or Safari, not in a private window."),
    "failed": _("The scanner could not start"),
    # Pairing
    "pair": _("Pair this device"),
    "pair_note": _("The gate lead has a code in the studio, under Devices. Scan it, or type it here."),
    "pair_again_note": _("What waits on this device is kept and sent."),
    "code": _("Code"),
    "name": _("Name of this device"),
    "pair_start": _("Pair"),
    "pair_camera": _("Scan the code"),
    "pair_camera_stop": _("Stop the camera"),
    "asking": _("Asking…"),
    "compare": _("Compare these two words"),
    "compare_note": _("The studio shows the same two. The lead confirms there. If it shows others, cancel."),
    "waiting_for_lead": _("Waiting for the lead…"),
    "cancel": _("Cancel"),
    "pair_wrong": _("This code is wrong or over. Ask for a new one."),
    "pair_no_network": _("There is no network. Try again."),
    "pair_failed": _("That did not work. Try again."),
    "pair_busy": _("Too many try at once. Wait a minute."),
    "pair_incomplete": _("A code has ten letters and digits."),
    "pair_other": _("This QR code is no pairing code."),
    "phone": _("Phone"),
    "tablet": _("Tablet"),
    "computer": _("Computer"),
    # Scanning
    "ready": _("Ready to scan"),
    "ready_note": _("Hold a code before the camera, or use a reader."),
    "ready_reader": _("Use a reader, or type a number."),
    "checking": _("Checking…"),
    "camera_on": _("Turn the camera on"),
    "camera_refused": _("The camera is not allowed. Allow it in the browser's settings."),
    "camera_missing": _("There is no camera. Use a reader, or type a number."),
    "camera_failed": _("The camera does not start. Another app may use it."),
    "type": _("Type a number"),
    "recent": _("Last scans"),
    "last_result": _("Last result"),
    "recent_none": _("Nothing was scanned yet."),
    "recent_note": _("Only on this screen. Gone when the app closes."),
    "settings": _("Settings"),
    "torch": _("Light"),
    "lead": _("For leads"),
    "close": _("Close"),
    # Results
    "card_end": _("card … {digits}"),
    "echo": _("The same code again. It counts once."),
    "offline_decision": _("Decided without a network"),
    "first": _("First: {gate}, {when}"),
    "first_by": _("by {scanner}"),
    "go_to": _("Goes to: {gates}"),
    "valid_between": _("Valid {from} to {until}"),
    "valid_from": _("Valid from {from}"),
    "valid_until": _("Valid until {until}"),
    "doors_open": _("Doors open {when}"),
    "next": _("Tap to go on"),
    "not_judged": _("ERROR"),
    "not_judged_note": _("This code was not judged. Show it again."),
    # Typing
    "number": _("Card number"),
    "number_hint": _("As on the card: letters, then twelve digits."),
    "number_wrong": _("A digit is wrong. Compare it with the card."),
    "number_incomplete": _("That is not the whole number."),
    "check": _("Check"),
    # The status line and the settings
    "status": _("Status"),
    "online": _("Online"),
    "offline": _("Offline"),
    "offline_since": _("Offline since {when}"),
    "waiting": _("{count} to send"),
    "waiting_none": _("Everything is sent."),
    "waiting_some": _("Sent when there is a network. Do not clear the browser's data."),
    "not_known": _("Device not known"),
    "not_known_note": _("The service does not know this device. Go on scanning, and tell the lead."),
    "told_offline": _("No network. Go on scanning."),
    "told_online": _("Connected again."),
    "list": _("List of the event"),
    "list_cards": _("{count} cards, of {when}"),
    "list_none": _("No list yet: without a network nobody can be admitted."),
    "clock": _("Clock"),
    "clock_right": _("Right"),
    "clock_off": _("Off by {seconds} s. It is corrected."),
    "storage": _("Storage"),
    "storage_kept": _("Kept"),
    "storage_not_persistent": _("The browser may clear it. Install the app."),
    "storage_lost": _("One of its two copies was lost, and made again from the other."),
    "rejected": _("Not taken"),
    "rejected_note": _("{count} scans were not taken by the service. Tell the lead."),
    "rejected_again": _("Send again"),
    "gate": _("Gate"),
    "device": _("Device"),
    "version": _("Version"),
    "sound": _("Sound"),
    "vibration": _("Vibration"),
    "camera": _("Camera"),
    "camera_off": _("Off"),
    "camera_any": _("Back camera"),
    "language": _("Language"),
    "language_phone": _("As the phone"),
    "retire": _("Retire this device"),
    "retire_question": _("Retire this device?"),
    "retire_note": _("It admits nobody any more, and sends what waits. To scan again it must be paired again."),
    "retired": _("This device is retired"),
    "retired_note": _("It admits nobody any more."),
    "revoked": _("This device was revoked"),
    "revoked_note": _("Nothing is sent until it is paired again."),
    "waiting_then": _("{count} to send then. Do not clear the browser's data."),
    "pair_again": _("Pair again"),
    "lost": _("The pairing is gone"),
    "lost_note": _("The browser has cleared its data. Scans that waited are lost: tell the lead. Then pair again."),
}  # fmt: skip

WORDS: Final[Mapping[str, str]] = {
    **SCREENS,
    **{f"word_{verdict}": word for verdict, (word, _why) in VERDICTS.items()},
    **{f"why_{verdict}": why for verdict, (_word, why) in VERDICTS.items()},
}

BOOK: Final = WordBook(WORDS, LANGUAGES)
