"""A pass for Apple Wallet, in the style `eventTicket`: the next event of the card, those after it, and the code.

No phone has opened one of these yet; docs/operate/wallets.md says what was checked instead.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from gatepass.domain.card_look import ink_on
from gatepass.domain.wallets import archive
from gatepass.domain.wallets.apple_certificate import AppleCertificate
from gatepass.domain.wallets.subject import Subject


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


# Phones show these in their own language, from the catalogues in `languages/`.
TEXTS: Final = frozenset(
    [
        _("Event"),
        _("Where"),
        _("When"),
        _("Ticket"),
        _("Card"),
        _("Cancelled"),
        _("No coming event"),
        _("This card has ended"),
        _("This card is suspended"),
        _("At the gate, open your card's page: the code is there"),
        _("The event has changed: %@"),
    ]
)

Field = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Identity:
    """What names this pass at our service, and the token that it shows there."""

    serial: str
    token: str
    service_url: str


def apple_pass(
    subject: Subject, identity: Identity, code: str | None, certificate: AppleCertificate, *, at: datetime
) -> bytes:
    """The signed `.pkpass`. `code` is the card's token, if this pass shows one."""
    return archive.pack(content(subject, identity, code, certificate, at=at), TEXTS, certificate)


def content(
    subject: Subject, identity: Identity, code: str | None, certificate: AppleCertificate, *, at: datetime
) -> dict[str, Any]:
    """What `pass.json` says."""
    ink = _rgb(ink_on(subject.colour))
    document: dict[str, Any] = {
        "formatVersion": 1,
        "passTypeIdentifier": certificate.pass_type,
        "teamIdentifier": certificate.team,
        "organizationName": subject.organizer,
        "description": subject.organizer,
        "logoText": subject.organizer,
        "serialNumber": identity.serial,
        "webServiceURL": identity.service_url,
        "authenticationToken": identity.token,
        "backgroundColor": _rgb(subject.colour),
        "foregroundColor": ink,
        "labelColor": ink,
        # Whoever is handed the pass would have the code.
        "sharingProhibited": True,
    }
    if not subject.is_live:
        return document | {"voided": True, "eventTicket": {"primaryFields": [_field("event", "This card has ended")]}}
    if subject.coming:
        document["relevantDates"] = [
            {"startDate": _time(event.starts_at), "endDate": _time(event.ends_at)} for event in subject.coming
        ]
        document["relevantDate"] = _time(subject.coming[0].starts_at)
    if code is not None:
        document["barcodes"] = [{"format": "PKBarcodeFormatQR", "message": code, "messageEncoding": "iso-8859-1"}]
        document["expirationDate"] = _time(subject.code_ends_at(at))
    return document | {"eventTicket": dict(_ticket(subject, has_code=code is not None))}


def _ticket(subject: Subject, *, has_code: bool) -> Iterator[tuple[str, list[Field]]]:
    coming = subject.coming
    first = coming[0] if coming else None
    yield "primaryFields", [_field("event", first.title if first else "No coming event", "Event", changes=True)]
    if first is not None:
        yield "headerFields", [_moment("day", first.starts_at, "When", time_style="PKDateStyleNone")]
        yield (
            "secondaryFields",
            [
                *([_field("place", first.place, "Where", changes=True)] if first.place else []),
                _moment("when", first.starts_at, "When"),
            ],
        )
    yield (
        "auxiliaryFields",
        [
            *([_field("ticket", first.category, "Ticket")] if first else []),
            *([_field("number", subject.number, "Card")] if subject.shows_number() else []),
        ],
    )
    yield "backFields", list(_back(subject, has_code=has_code))


def _back(subject: Subject, *, has_code: bool) -> Iterator[Field]:
    if subject.status != "active":
        yield _field("standing", "This card is suspended")
    elif not has_code and subject.coming:
        yield _field("code", "At the gate, open your card's page: the code is there")
    for event in subject.coming[1:]:
        yield _moment(f"also-{event.id}", event.starts_at, event.title)
    for event in subject.events:
        if event.is_cancelled:
            yield _field(f"cancelled-{event.id}", event.title, "Cancelled", changes=True)


def _field(key: str, value: str, label: str | None = None, *, changes: bool = False) -> Field:
    """A field; one that `changes` is told of on the locked screen when it does."""
    field: Field = {"key": key, "value": value}
    if label is not None:
        field["label"] = label
    if changes:
        field["changeMessage"] = "The event has changed: %@"
    return field


def _moment(key: str, at: datetime, label: str, *, time_style: str = "PKDateStyleShort") -> Field:
    """A time in the venue's own zone, which the phone writes in its language."""
    field = _field(key, _time(at), label, changes=True)
    return field | {"dateStyle": "PKDateStyleMedium", "timeStyle": time_style, "ignoresTimeZone": True}


def _rgb(colour: str) -> str:
    return "rgb({}, {}, {})".format(*bytes.fromhex(colour[1:]))


def _time(at: datetime) -> str:
    return at.isoformat(timespec="seconds")
