"""Scans: the checks in the service's order, one activation for each ticket, one answer for each Idempotency-Key."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from gatepass_sdk._card import as_stored
from gatepass_sdk.testing._asked import Asked, Refused, Reply, invalid
from gatepass_sdk.testing._bodies import Text, read_body, read_moment, read_uuid
from gatepass_sdk.testing._cards import FakeCard, find_card, read_sandbox_token, read_token
from gatepass_sdk.testing._messages import tell
from gatepass_sdk.testing._times import maybe_rfc3339, rfc3339

if TYPE_CHECKING:
    from gatepass_sdk.testing._world import Side, World

FIELDS: Final = {
    "event_id": Text(needed=True),
    "card_number": Text(64, 1, nullable=True),
    "token": Text(1024, 1, nullable=True),
    "scanner_id": Text(64, nullable=True),
    "gate": Text(64, nullable=True),
    "occurred_at": Text(64, nullable=True),
}
AHEAD: Final = timedelta(minutes=2)
BACK: Final = timedelta(hours=72)
ACTIVATED: Final = "activated"
# The spec answers used, expired and revoked test cards with 400.
SANDBOX_STATUS: Final = {"already_activated": 400, "expired": 400, "card_revoked": 400}


@dataclass(frozen=True)
class FakeScan:
    """A scan that was judged: what was asked, and the verdict, `activated` or the code of a refusal."""

    event_id: str
    card_number: str
    verdict: str
    replayed: bool
    gate: str | None
    scanner_id: str | None
    occurred_at: datetime | None
    idempotency_key: str | None
    at: datetime


@dataclass(frozen=True)
class Verdict:
    word: str
    ticket_id: UUID | None = None
    tier: str | None = None
    category_name: str | None = None
    details: Mapping[str, Any] | None = None

    @property
    def data(self) -> dict[str, Any]:
        return {"ticket_id": str(self.ticket_id), "tier": self.tier, "category_name": self.category_name}


SANDBOX_VERDICTS: Final = {
    "TEST_VALID": Verdict(ACTIVATED, UUID(int=0x71), "standard", "General"),
    "TEST_VIP": Verdict(ACTIVATED, UUID(int=0x72), "vip", "VIP"),
    "TEST_USED": Verdict(
        "already_activated",
        UUID(int=0x73),
        "standard",
        "General",
        {"activated_at": "2026-01-01T18:30:00Z", "gate": None, "scanner_id": None},
    ),
    "TEST_EXPIRED": Verdict("expired"),
    "TEST_REVOKED": Verdict("card_revoked"),
}


@dataclass(frozen=True)
class Shown:
    """What stands in the request; `shown` is the number or the token as it came."""

    event_id: UUID
    number: str
    shown: str
    expired: bool
    gate: str | None
    scanner_id: str | None
    occurred_at: datetime | None

    @property
    def fingerprint(self) -> tuple[object, ...]:
        return (self.event_id, self.shown, self.gate, self.scanner_id, self.occurred_at)


def scan(world: "World", asked: Asked) -> Reply:
    side, shown = world.sides[asked.mode], _shown(world, asked)
    fingerprint, verdict = side.kept.get(asked.retry_key or "", (None, None))
    replayed = verdict is not None
    if replayed and fingerprint != shown.fingerprint:
        verdict, replayed = Verdict("idempotency_key_reused"), False
    elif verdict is None:
        verdict = _judge(world, side, shown)
        _remember(world, side, asked, shown, verdict)
    world.scans.append(_record(world, asked, shown, verdict, replayed=replayed))
    return _reply(asked.mode, verdict, {"idempotent-replayed": "true"} if replayed else {})


def _shown(world: "World", asked: Asked) -> Shown:
    """The request, read in the order in which its parts may be refused."""
    body = read_body(asked.body, FIELDS)
    if (body.get("card_number") is None) == (body.get("token") is None):
        raise invalid("Send either card_number or token.", "card_number")
    if asked.retry_key is not None and not 1 <= len(asked.retry_key) <= 255:
        raise invalid("Idempotency-Key has 1 to 255 characters.", "Idempotency-Key")
    event_id = read_uuid(body["event_id"])
    if event_id is None:
        raise invalid("event_id is not a UUID.", "event_id")
    now, text = world.now(), body.get("occurred_at")
    occurred_at = None if text is None else _occurred_at(text, now)
    number, expired = _card(world, asked.mode, body, occurred_at or now)
    shown = body.get("token") or number
    return Shown(event_id, number, shown, expired, body.get("gate"), body.get("scanner_id"), occurred_at)


def _occurred_at(text: str, now: datetime) -> datetime:
    shown_at = read_moment(text, "occurred_at")
    if shown_at - now > AHEAD:
        raise invalid("occurred_at is more than 2 minutes ahead of us.", "occurred_at")
    if now - shown_at > BACK:
        raise invalid("occurred_at is more than 72 hours ago.", "occurred_at")
    return shown_at


def _card(world: "World", mode: str, body: Mapping[str, Any], at: datetime) -> tuple[str, bool]:
    token = body.get("token")
    if token is None:
        number = str(body["card_number"])
        return (number if mode == "sandbox" else as_stored(number)), False
    if mode == "sandbox":
        return read_sandbox_token(token), False
    reading = read_token(world, token, at)
    if reading.card_number is None:
        raise Refused("invalid_token")
    return reading.card_number, reading.expired


def _judge(world: "World", side: "Side", shown: Shown) -> Verdict:
    event = next((event for event in side.events if event["id"] == str(shown.event_id)), None)
    if event is None:
        return Verdict("event_not_found")
    if side.mode == "sandbox":
        return SANDBOX_VERDICTS.get(shown.number.strip().upper(), Verdict("card_not_found"))
    if event["status"] != "published":
        return Verdict("event_not_active")
    if shown.expired:
        return Verdict("expired")
    return _activate(world, find_card(world, shown.number), shown)


def _activate(world: "World", card: FakeCard | None, shown: Shown) -> Verdict:
    if card is None:
        return Verdict("card_not_found")
    if card.status != "active":
        return Verdict(f"card_{card.status}")
    if card.ticket_state is None or card.event_id != str(shown.event_id):
        return Verdict("ticket_not_found")
    if card.ticket_state == "cancelled":
        return Verdict("ticket_cancelled", card.ticket_id)
    held = Verdict(ACTIVATED, card.ticket_id, card.tier, card.category_name)
    if card.activated_at is not None:
        first = {"activated_at": rfc3339(card.activated_at), "gate": card.gate, "scanner_id": card.scanner_id}
        return replace(held, word="already_activated", details=first)
    card.ticket_state = ACTIVATED
    card.activated_at, card.gate, card.scanner_id = world.now(), shown.gate, shown.scanner_id
    return held


def _remember(world: "World", side: "Side", asked: Asked, shown: Shown, verdict: Verdict) -> None:
    """The answer for this key, and what subscribers are told."""
    if asked.retry_key is not None:
        side.kept[asked.retry_key] = (shown.fingerprint, verdict)
    now = rfc3339(world.now())
    about: dict[str, Any] = {"event_id": str(shown.event_id), "card_number": shown.number}
    ticket = None if verdict.ticket_id is None else str(verdict.ticket_id)
    if verdict.word == ACTIVATED:
        tell(world, side, "ticket.activated", {"ticket_id": ticket, **about, "activated_at": now}, id=asked.id)
        return
    place = {"gate": shown.gate, "scanner_id": shown.scanner_id, "occurred_at": maybe_rfc3339(shown.occurred_at)}
    denied = {**about, "ticket_id": ticket, "code": verdict.word, **place, "denied_at": now}
    tell(world, side, "scan.denied", denied, id=asked.id)


def _record(world: "World", asked: Asked, shown: Shown, verdict: Verdict, *, replayed: bool) -> FakeScan:
    return FakeScan(
        event_id=str(shown.event_id),
        card_number=shown.number,
        verdict=verdict.word,
        replayed=replayed,
        gate=shown.gate,
        scanner_id=shown.scanner_id,
        occurred_at=shown.occurred_at,
        idempotency_key=asked.retry_key,
        at=world.now(),
    )


def _reply(mode: str, verdict: Verdict, headers: Mapping[str, str]) -> Reply:
    if verdict.word == ACTIVATED:
        return Reply(200, {"data": verdict.data}, headers)
    status = SANDBOX_STATUS.get(verdict.word) if mode == "sandbox" else None
    raise Refused(verdict.word, details=verdict.details, status=status, headers=headers)
