"""A subscriber's copy of cards, tickets and events: it begins with what is there, and then only applies messages."""

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from gatepass.base.database import Database
from gatepass.domain import events
from gatepass.domain.events.messages import described
from gatepass.domain.imports.undo import IMPORT_UNDONE

Json = dict[str, Any]

TIMES: Final = frozenset({"issued_at", "activated_at", "cancelled_at", "updated_at", "starts_at", "ends_at"})
# Statuses after which a message no longer tells when the row of the event was changed.
FINAL: Final = ("cancelled", "ended")
ABSENT: Final = "absent"


@dataclass
class Mirror:
    """Each object by its id, in the fields that messages tell."""

    cards: dict[str, Json] = field(default_factory=dict[str, Json])
    tickets: dict[str, Json] = field(default_factory=dict[str, Json])
    events: dict[str, Json] = field(default_factory=dict[str, Json])

    def copy(self) -> "Mirror":
        return deepcopy(self)

    def apply(self, message: Json) -> None:
        data: Json = {name: _read(name, value) for name, value in message["data"].items()}
        noun, _, change = message["type"].partition(".")
        {"card": self._card, "ticket": self._ticket, "event": self._event, "scan": _nothing}[noun](change, data)

    def _card(self, change: str, data: Json) -> None:
        id = data["card_id"]
        match change:
            case "issued":
                self.cards[id] = _new_card(data)
            case "status_changed" if data["reason"] == IMPORT_UNDONE:
                del self.cards[id]
            case "status_changed":
                self.cards[id] |= {"status": data["status"], "updated_at": _time(data["changed_at"])}
            case "updated":
                self.cards[id] |= {"external_id": data["external_id"], "updated_at": data["updated_at"]}
            case _:
                assert change == "replaced"
                self.cards[id]["external_id"] = None
                self.cards[data["new_card_id"]]["external_id"] = data["external_id"]

    def _ticket(self, change: str, data: Json) -> None:
        id = data["ticket_id"]
        match change:
            case "issued":
                self.tickets[id] = _new_ticket(data)
            case "cancelled" if data["reason"] == IMPORT_UNDONE:
                del self.tickets[id]
            case _:
                self.tickets[id] |= _changed_ticket(change, data)

    def _event(self, change: str, data: Json) -> None:
        id = data["event_id"]
        match change:
            case "updated" | "published":
                self.events[id] = {name: data[name] for name in data if name != "published_at"}
            case "deleted":
                del self.events[id]
            case _:
                assert change in FINAL
                self.events[id] |= {"status": change, "updated_at": None}

    def differences(self, other: "Mirror") -> list[str]:
        """For each field that differs: the object, the field, and both values."""
        return [
            f"{kind} {id} {name}: {mine.get(name, ABSENT)!r}, not {theirs.get(name, ABSENT)!r}"
            for kind in ("cards", "tickets", "events")
            for id in getattr(self, kind).keys() | getattr(other, kind).keys()
            for mine, theirs in [(getattr(self, kind).get(id, {}), getattr(other, kind).get(id, {}))]
            for name in mine.keys() | theirs.keys()
            if mine.get(name, ABSENT) != theirs.get(name, ABSENT)
        ]

    def sold(self) -> Counter[str]:
        return Counter(one["category_id"] for one in self.tickets.values() if one["cancelled_at"] is None)


def _nothing(_change: str, _data: Json) -> None:
    """What happened at a gate changes none of these objects; where it does, a message of the object tells it."""


def _new_card(data: Json) -> Json:
    told = {"number": data["card_number"], "status": data["status"], "external_id": data["external_id"]}
    return {**told, "updated_at": data["issued_at"]}


def _new_ticket(data: Json) -> Json:
    names = ("event_id", "category_id", "card_id", "card_number", "external_id", "issued_at")
    unused = dict.fromkeys(("activated_at", "gate", "scanner_id", "cancelled_at", "cancel_reason"))
    return {**{name: data[name] for name in names}, **unused, "updated_at": data["issued_at"]}


def _changed_ticket(change: str, data: Json) -> Json:
    match change:
        case "activated":
            told = {name: data[name] for name in ("activated_at", "gate", "scanner_id")}
            return {**told, "updated_at": data["activated_at"]}
        case "activation_undone":
            unused = dict.fromkeys(("activated_at", "gate", "scanner_id"))
            return {**unused, "updated_at": _time(data["undone_at"])}
        case "transferred":
            told = {name: data[name] for name in ("card_id", "card_number")}
            return {**told, "updated_at": _time(data["transferred_at"])}
        case _:
            assert change == "cancelled"
            at = data["cancelled_at"]
            return {"cancelled_at": at, "cancel_reason": data["reason"], "updated_at": at}


def _read(name: str, value: Any) -> Any:
    return _time(value) if name in TIMES and value is not None else value


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def stored(db: Database, organization_id: UUID) -> tuple[Mirror, Counter[str]]:
    """The same of the database, and how many tickets each category has sold."""
    async with db.autocommit() as tx:
        cards = [dict(row) for row in await tx.rows(CARDS, organization_id)]
        tickets = [dict(row) for row in await tx.rows(TICKETS, organization_id)]
        ids = [row["id"] for row in await tx.rows(EVENTS, organization_id)]
        entries = [await events.find(tx, organization_id, id) for id in ids]
        sold = {row["id"]: row["quantity_sold"] for row in await tx.rows(SOLD, organization_id)}
    shown = [described(entry) for entry in entries]
    found = Mirror(
        {one.pop("id"): one for one in cards},
        {one.pop("id"): one for one in tickets},
        {one["event_id"]: {name: _read(name, value) for name, value in one.items()} for one in shown},
    )
    for event in found.events.values():
        event["updated_at"] = None if event["status"] in FINAL else event["updated_at"]
    return found, +Counter(sold)


CARDS: Final = """
    SELECT c.id::text, c.number, c.status, x.external_id, greatest(c.issued_at, c.changed_at) AS updated_at
      FROM card c
      LEFT JOIN card_external_id x ON x.organization_id = c.organization_id AND x.card_id = c.id
     WHERE c.organization_id = $1
"""

TICKETS: Final = """
    SELECT t.id::text, t.event_id::text, t.category_id::text, t.card_id::text, c.number AS card_number,
           r.reference AS external_id, t.issued_at, t.activated_at, t.activated_gate AS gate,
           t.activated_scanner_id AS scanner_id, t.cancelled_at, t.cancel_reason,
           greatest(t.issued_at, t.activated_at, t.cancelled_at, t.changed_at) AS updated_at
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
      LEFT JOIN ticket_reference r ON r.organization_id = t.organization_id AND r.ticket_id = t.id
     WHERE t.organization_id = $1
"""

EVENTS: Final = "SELECT id FROM event WHERE organization_id = $1"

SOLD: Final = "SELECT id::text, quantity_sold FROM ticket_category WHERE organization_id = $1"
