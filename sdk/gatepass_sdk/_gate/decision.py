"""The decision of a gate without the service: by signature, manifest, its own journal and the rules."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from gatepass_sdk._arguments import format_time
from gatepass_sdk._gate.code import Code
from gatepass_sdk._gate.manifest import Manifest, Record
from gatepass_sdk._gate.manifest_header import ManifestCategory, ManifestEvent
from gatepass_sdk._gate.rules import CategoryRules, EventRules, Flags, judge
from gatepass_sdk._gate.shown import ADMITTED
from gatepass_sdk.tokens import CardKeys, TokenReading

# What an event lets a gate without a network do.
SIGNATURE: Final = "signature"
STOP: Final = "stop"
# A card that the manifest does not know. An event may trust its signature.
UNKNOWN: Final = frozenset({"card_not_found", "ticket_not_found"})
# Seconds. A token that ends so soon counts as a phone's own code.
FRESH: Final = 120


@dataclass(frozen=True, slots=True)
class Decision:
    verdict: str
    category: str | None = None
    tier: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def admitted(self) -> bool:
        return self.verdict == ADMITTED


def decide(manifest: Manifest | None, code: Code, at: datetime, gate: str, *, is_used_here: bool) -> Decision:
    """`is_used_here` says that this gate has let the card in, whatever the manifest knows yet."""
    if manifest is None:
        return Decision("no_manifest")
    event = manifest.header.event
    if event.offline == STOP:
        return Decision("online_only")
    reading = _reading(manifest, code, at)
    if reading is not None and reading.card_number is None:
        return Decision("invalid_token")
    record = manifest.find(code.number)
    if record is not None and is_used_here:
        record = replace(record, used=True)
    category = _category(manifest, record)
    verdict = _verdict(event, category, record, reading, at, gate)
    if verdict in UNKNOWN and is_used_here:
        # Sold since the manifest was made, and let in here.
        verdict = "already_activated"
    elif verdict in UNKNOWN and event.offline == SIGNATURE and reading is not None:
        verdict = ADMITTED
    known = {} if category is None else {"category": category.name, "tier": category.tier}
    return Decision(verdict, **known, details=_details(verdict, event, category))


def _reading(manifest: Manifest, code: Code, at: datetime) -> TokenReading | None:
    """What the token or the phone's code says; None for a typed number, which nobody has signed."""
    return None if code.token is None else CardKeys(manifest.header.card_keys).verify(code.token, at=at)


def _verdict(
    event: ManifestEvent,
    category: ManifestCategory | None,
    record: Record | None,
    reading: TokenReading | None,
    at: datetime,
    gate: str,
) -> str:
    return judge(
        EventRules(event.status, event.doors_open_at, event.codes),
        None if category is None else CategoryRules(category.valid_from, category.valid_until, category.gates),
        None if record is None else _flags(record, has_ticket=category is not None),
        moment=at,
        gate=gate,
        expired=_is_expired(reading, record),
        dynamic=_is_dynamic(reading, at),
    )


def _flags(record: Record, *, has_ticket: bool) -> Flags:
    return Flags(has_ticket, record.used, record.suspended, record.revoked, record.cancelled)


def _is_expired(reading: TokenReading | None, record: Record | None) -> bool:
    """Also the code of a phone from which the card has moved."""
    if reading is None:
        return False
    has_moved = reading.phone is not None and record is not None and record.phone != reading.phone
    return reading.expired or has_moved


def _is_dynamic(reading: TokenReading | None, at: datetime) -> bool:
    if reading is None:
        return False
    ends = reading.expires_at
    return reading.phone is not None or (ends is not None and (ends - at).total_seconds() <= FRESH)


def _category(manifest: Manifest, record: Record | None) -> ManifestCategory | None:
    if record is None or record.category is None or record.category >= len(manifest.header.categories):
        return None
    return manifest.header.categories[record.category]


def _details(verdict: str, event: ManifestEvent, category: ManifestCategory | None) -> dict[str, Any]:
    """As the service has them."""
    if verdict == "doors_closed":
        return {"doors_open_at": format_time(event.doors_open_at)}
    if verdict == "outside_window" and category is not None:
        return {"valid_from": format_time(category.valid_from), "valid_until": format_time(category.valid_until)}
    return {"gates": list(category.gates or ())} if verdict == "wrong_gate" and category is not None else {}
