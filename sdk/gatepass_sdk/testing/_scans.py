"""Scans: the checks in the service's order, one activation for each ticket, one answer for each Idempotency-Key."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from gatepass_sdk._card import as_stored
from gatepass_sdk._gate.rules import ACTIVATED, CategoryRules, EventRules, Flags, judge
from gatepass_sdk.testing._body_reader import Text, read_body, read_moment, read_uuid
from gatepass_sdk.testing._cards import find_card, named_card, read_token
from gatepass_sdk.testing._events import is_fictional
from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._outbox import emit
from gatepass_sdk.testing._platform.once import REPLAYED, require_key
from gatepass_sdk.testing._platform.records import CardRecord, ScanRecord, TicketRecord
from gatepass_sdk.testing._state import SANDBOX, Decision, FakeScan, Side, World
from gatepass_sdk.testing._times import maybe_rfc3339, rfc3339

FIELDS: Final = {
    "event_id": Text(needed=True),
    "card_number": Text(64, 1, nullable=True),
    "token": Text(1024, 1, nullable=True),
    "scanner_id": Text(64, nullable=True),
    "gate": Text(64, nullable=True),
    "occurred_at": Text(64, nullable=True),
}
LARGEST_LEAD: Final = timedelta(minutes=2)
LARGEST_DELAY: Final = timedelta(hours=72)
# An event that wants phones' own codes takes tokens that end this soon.
FRESH: Final = timedelta(minutes=2)
# Judged before the card is looked at.
BEFORE_THE_CARD: Final = frozenset({"event_not_active", "doors_closed", "expired", "static_code_refused"})
# The spec answers used, expired and revoked cards of the sandbox with 400.
SANDBOX_STATUS: Final = {"already_activated": 400, "expired": 400, "card_revoked": 400}
SANDBOX_DECISIONS: Final = {
    "TEST_VALID": Decision(ACTIVATED, UUID(int=0x71), "standard", "General"),
    "TEST_VIP": Decision(ACTIVATED, UUID(int=0x72), "vip", "VIP"),
    "TEST_USED": Decision(
        "already_activated",
        UUID(int=0x73),
        "standard",
        "General",
        {"activated_at": "2026-01-01T18:30:00Z", "gate": None, "scanner_id": None},
    ),
    "TEST_EXPIRED": Decision("expired"),
    "TEST_REVOKED": Decision("card_revoked"),
    "TEST_SUSPENDED": Decision("card_suspended"),
    "TEST_NO_TICKET": Decision("ticket_not_found"),
    "TEST_CANCELLED": Decision("ticket_cancelled"),
}


@dataclass(frozen=True)
class ScanRequest:
    """The body of a scan. `credential` is the card number or the token, as it was sent."""

    event_id: UUID
    number: str
    credential: str
    expired: bool
    lendable: bool
    gate: str | None
    scanner_id: str | None
    occurred_at: datetime | None
    # As it was sent: a device's scan is stored with the gate that it works for.
    sent_gate: str | None

    @property
    def fingerprint(self) -> tuple[object, ...]:
        return (self.event_id, self.credential, self.sent_gate, self.scanner_id, self.occurred_at)


def scan(world: World, request: Request) -> Reply:
    side, wanted = world.sides[request.mode], _read(world, request)
    fingerprint, decision = side.answers.get(request.idempotency_key or "", (None, None))
    replayed = decision is not None
    if replayed and fingerprint != wanted.fingerprint:
        decision, replayed = Decision("idempotency_key_reused"), False
    elif decision is None:
        decision = _decide(world, side, wanted)
        _store(world, side, request, wanted, decision)
    world.scans.append(_record(world, request, wanted, decision, replayed=replayed))
    return _reply(request.mode, decision, REPLAYED if replayed else {})


def _read(world: World, request: Request) -> ScanRequest:
    """The body, checked in the order in which the service checks its parts."""
    body = read_body(request.body, FIELDS)
    if (body.get("card_number") is None) == (body.get("token") is None):
        raise invalid("Send either card_number or token.", "card_number")
    if request.idempotency_key is not None:
        require_key(request.idempotency_key)
    event_id = read_uuid(body["event_id"])
    if event_id is None:
        raise invalid("event_id is not a UUID.", "event_id")
    now, text = world.now(), body.get("occurred_at")
    occurred_at = None if text is None else _occurred_at(text, now)
    number, expired, lendable = _card(world, world.sides[request.mode], str(event_id), body, occurred_at or now)
    credential = body.get("token") or number
    if request.device is not None and request.device.event_id != event_id:
        raise Refused("event_not_found")
    gate = body.get("gate") if request.device is None else request.device.gate
    where = (gate, body.get("scanner_id"), occurred_at, body.get("gate"))
    return ScanRequest(event_id, number, credential, expired, lendable, *where)


def _occurred_at(text: str, now: datetime) -> datetime:
    shown_at = read_moment(text, "occurred_at")
    if shown_at - now > LARGEST_LEAD:
        raise invalid("occurred_at is more than 2 minutes ahead of us.", "occurred_at")
    if now - shown_at > LARGEST_DELAY:
        raise invalid("occurred_at is more than 72 hours ago.", "occurred_at")
    return shown_at


def _card(world: World, side: Side, event_id: str, body: Mapping[str, Any], at: datetime) -> tuple[str, bool, bool]:
    """The card's number, whether its token had expired, and whether a picture of it could be lent."""
    token = body.get("token")
    if token is None:
        number = str(body["card_number"])
        typed = number.strip().upper()
        is_named = is_fictional(side, event_id) and typed in SANDBOX_DECISIONS
        return (typed if is_named else as_stored(number)), False, True
    name = named_card(token) if side.mode == SANDBOX else None
    if name is not None:
        return name, False, True
    reading = read_token(world, side.mode, token, at)
    if reading.card_number is None:
        raise Refused("invalid_token")
    is_short = reading.expires_at is not None and reading.expires_at - at <= FRESH
    return reading.card_number, reading.expired, reading.phone is None and not is_short


def _decide(world: World, side: Side, wanted: ScanRequest) -> Decision:
    event = next((event for event in side.events if event["id"] == str(wanted.event_id)), None)
    if event is None:
        return Decision("event_not_found")
    if is_fictional(side, event["id"]):
        return SANDBOX_DECISIONS.get(wanted.number, Decision("card_not_found"))
    card = find_card(side, wanted.number)
    ticket = None if card is None else _ticket(side, card, event)
    now = world.now()
    verdict = judge(
        _event_rules(side, event),
        None if ticket is None else _category_rules(ticket.category),
        None if card is None else _flags(card, ticket),
        moment=wanted.occurred_at or now,
        gate=wanted.gate,
        expired=wanted.expired,
        dynamic=not wanted.lendable,
        received_at=now if wanted.occurred_at else None,
    )
    if card is None or verdict in BEFORE_THE_CARD:
        return Decision(verdict, details=_details(verdict, event, None))
    if ticket is None or ticket.state == "cancelled" or card.status != "active":
        return Decision(verdict, card_id=card.id)
    tier, name = ticket.category["tier"], ticket.category["name"]
    if verdict == ACTIVATED:
        ticket.state = ACTIVATED
        ticket.activated_at, ticket.gate, ticket.scanner_id = now, wanted.gate, wanted.scanner_id
    return Decision(verdict, ticket.id, tier, name, _details(verdict, event, ticket), card_id=card.id)


def _ticket(side: Side, card: CardRecord, event: Mapping[str, Any]) -> TicketRecord | None:
    """The card's ticket for the event; one that is not cancelled comes first."""
    held = [one for one in side.tickets if one.card is card and one.event_id == event["id"] and one.state]
    return min(reversed(held), key=lambda one: one.state == "cancelled", default=None)


def _event_rules(side: Side, event: Mapping[str, Any]) -> EventRules:
    ended_at = side.ended.get(event["id"]) or _moment(event["ends_at"])
    return EventRules(event["status"], _moment(event["doors_open_at"]), event["codes"], ended_at)


def _category_rules(category: Mapping[str, Any]) -> CategoryRules:
    gates = None if category["gates"] is None else tuple(category["gates"])
    return CategoryRules(_moment(category["valid_from"]), _moment(category["valid_until"]), gates)


def _flags(card: CardRecord, ticket: TicketRecord | None) -> Flags:
    return Flags(
        ticket=ticket is not None and ticket.state != "cancelled",
        used=ticket is not None and ticket.activated_at is not None,
        suspended=card.status == "suspended",
        revoked=card.status == "revoked",
        cancelled=ticket is not None,
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _details(verdict: str, event: Mapping[str, Any], ticket: TicketRecord | None) -> dict[str, Any] | None:
    """What the refusal says besides its sentence."""
    if verdict == "doors_closed":
        return {"doors_open_at": event["doors_open_at"]}
    if ticket is None:
        return None
    if verdict == "already_activated":
        return {
            "activated_at": maybe_rfc3339(ticket.activated_at),
            "gate": ticket.gate,
            "scanner_id": ticket.scanner_id,
        }
    if verdict == "outside_window":
        return {name: ticket.category[name] for name in ("valid_from", "valid_until")}
    return {"gates": ticket.category["gates"]} if verdict == "wrong_gate" else None


def _store(world: World, side: Side, request: Request, wanted: ScanRequest, decision: Decision) -> None:
    """Keep the decision under its Idempotency-Key, list the scan, and emit the message."""
    if request.idempotency_key is not None:
        side.answers[request.idempotency_key] = (wanted.fingerprint, decision)
    event_id, origin = str(wanted.event_id), (wanted.gate, wanted.scanner_id, wanted.occurred_at)
    about_card = (wanted.number, decision.card_id, decision.ticket_id, decision.verdict)
    side.scans.append(ScanRecord(request.id, world.now(), event_id, *about_card, *origin))
    now = rfc3339(world.now())
    about: dict[str, Any] = {"event_id": str(wanted.event_id), "card_number": wanted.number}
    ticket = None if decision.ticket_id is None else str(decision.ticket_id)
    occurred = {"occurred_at": maybe_rfc3339(wanted.occurred_at)}
    scanner = {"gate": wanted.gate, "scanner_id": wanted.scanner_id}
    if decision.verdict == ACTIVATED:
        activated = {"ticket_id": ticket, **about, "activated_at": now, **occurred, **scanner}
        emit(world, side, "ticket.activated", activated, id=request.id)
        return
    denied = {**about, "ticket_id": ticket, "code": decision.verdict, **scanner, **occurred, "denied_at": now}
    emit(world, side, "scan.denied", denied, id=request.id)


def _record(world: World, request: Request, wanted: ScanRequest, decision: Decision, *, replayed: bool) -> FakeScan:
    return FakeScan(
        event_id=str(wanted.event_id),
        card_number=wanted.number,
        verdict=decision.verdict,
        replayed=replayed,
        gate=wanted.gate,
        scanner_id=wanted.scanner_id,
        occurred_at=wanted.occurred_at,
        idempotency_key=request.idempotency_key,
        at=world.now(),
    )


def _reply(mode: str, decision: Decision, headers: Mapping[str, str]) -> Reply:
    if decision.verdict == ACTIVATED:
        return Reply(200, {"data": decision.data}, headers)
    status = SANDBOX_STATUS.get(decision.verdict) if mode == "sandbox" else None
    raise Refused(decision.verdict, details=decision.details, status=status, headers=headers)
