"""What the screen of a gate shows: a colour, a word, and why. Never colour alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

Colour = Literal["green", "red", "amber"]

ADMITTED: Final = "activated"

# A large word for each verdict, and a sentence for the person at the gate.
REFUSALS: Final[Mapping[str, tuple[str, str]]] = {
    "event_not_found": ("STOP", "This gate's event is gone. Ask the gate lead."),
    "event_not_active": ("CLOSED", "The event is not open for scans."),
    "doors_closed": ("TOO EARLY", "The doors are not open yet."),
    "expired": ("EXPIRED", "The code has expired. Ask for a fresh one."),
    "static_code_refused": ("PHONE", "Only the code on the guest's phone counts here."),
    "card_not_found": ("UNKNOWN", "This card is not known."),
    "card_suspended": ("SUSPENDED", "The card is suspended."),
    "card_revoked": ("REVOKED", "The card was revoked."),
    "ticket_not_found": ("NO TICKET", "The card has no ticket for this event."),
    "ticket_cancelled": ("CANCELLED", "The ticket was cancelled."),
    "already_activated": ("USED", "This ticket has already been used."),
    "outside_window": ("NOT NOW", "The ticket is not valid at this time."),
    "wrong_gate": ("OTHER GATE", "The ticket is for another gate."),
    "invalid_token": ("UNKNOWN", "This code is not one of ours."),
    "unreadable": ("UNKNOWN", "This is no code of Gatepass."),
}
WARNINGS: Final[Mapping[str, tuple[str, str]]] = {
    "online_only": ("WAIT", "There is no network, and this event admits online only. Show it again."),
    "no_manifest": ("WAIT", "There is no network, and this gate has no list of the event. Show it again."),
    "was_admitted": ("CHECK", "Admitted here as this gate stopped. Let in only if nobody went in."),
    "not_kept": ("STOP", "This gate cannot write to its disk. Let nobody in; ask the gate lead."),
    "device_ended": ("STOP", "This device no longer admits anybody. Ask the gate lead."),
}


@dataclass(frozen=True, kw_only=True)
class First:
    """Who was first, where and when."""

    at: datetime | None
    gate: str | None
    scanner_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The answer to one code.

    `verdict` is `activated`, the code of a refusal, or one of `online_only`, `no_manifest`, `was_admitted`, `not_kept`
    and `device_ended`, which are amber: a person decides. `online` says whether the service decided, `echo` that it is
    the same answer to the same code again. `sequence` is its number in the journal if the device decided.
    """

    colour: Colour
    word: str
    message: str
    verdict: str
    category: str | None = None
    tier: str | None = None
    first: First | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    online: bool = False
    echo: bool = False
    sequence: int | None = None

    @property
    def admitted(self) -> bool:
        return self.colour == "green"

    @classmethod
    def of(cls, verdict: str, **known: Any) -> "Shown":
        if verdict == ADMITTED:
            return cls(colour="green", word="ENTER", message="Welcome.", verdict=verdict, **known)
        if verdict in WARNINGS:
            word, message = WARNINGS[verdict]
            return cls(colour="amber", word=word, message=message, verdict=verdict, **known)
        word, message = REFUSALS.get(verdict, ("STOP", "The service refuses this code."))
        return cls(colour="red", word=word, message=message, verdict=verdict, **known)


def first_of(details: Mapping[str, Any]) -> First | None:
    """From the details of `already_activated`."""
    if not details.get("activated_at"):
        return None
    try:
        at = datetime.fromisoformat(str(details["activated_at"]))
    except ValueError:
        at = None
    return First(at=at, gate=details.get("gate"), scanner_id=details.get("scanner_id"))
