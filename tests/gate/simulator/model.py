"""The rules once more, in plain Python: what the service must answer, and which admissions were second ones.

It shares no code with the service or with the SDK, so a fault of theirs is not repeated here. It takes what happened at
the doors in the order in which the service received it. Times are milliseconds since the opening.
"""

from dataclasses import dataclass, field
from typing import Final

from tests.gate.simulator.records import Card, DeviceRecord, Entry, Incident, Result, Shown, Ticket
from tests.gate.simulator.scenario import Category, Change, Scenario

ACTIVATED: Final = "activated"
RECORDED: Final = "recorded"
REJECTED: Final = "rejected"
DUPLICATE: Final = "duplicate"
OVERRIDE: Final = "override"
PEOPLE: Final = "people"
# The answer to a try that comes after its scan was uploaded, as a refusal or as an admission that uses no ticket.
KEY_ENDED: Final = "idempotency_key_reused"

KINDS: Final = {
    "event_not_active": "outside_window",
    "doors_closed": "outside_window",
    "expired": "expired",
    "invalid_token": "unknown_card",
    "card_not_found": "unknown_card",
    "card_suspended": "suspended",
    "card_revoked": "revoked_meanwhile",
    "ticket_not_found": "no_ticket",
    "ticket_cancelled": "cancelled",
    "already_activated": DUPLICATE,
    "outside_window": "outside_window",
    "wrong_gate": "wrong_gate",
}

STATUS_AFTER: Final = {Change.SUSPEND: "suspended", Change.REACTIVATE: "active", Change.REVOKE: "revoked"}


@dataclass
class Model:
    """One event as the service must have it."""

    doors_open: int | None
    categories: list[Category]
    cards: dict[int, Card]
    devices: list[DeviceRecord]
    ended_at: int | None = None
    answers: dict[str, str] = field(default_factory=dict[str, str])
    incidents: list[Incident] = field(default_factory=list[Incident])

    @classmethod
    def of(cls, scenario: Scenario) -> "Model":
        cards = {
            n: Card(tickets=[] if category is None else [Ticket(category)]) for n, category in enumerate(scenario.cards)
        }
        devices = [DeviceRecord() for _ in scenario.gates]
        return cls(scenario.doors_open, list(scenario.categories), cards, devices)

    def verdict(self, shown: Shown) -> str:  # noqa: PLR0911  one for each rule
        """The first rule that fails, in the order of the contract; else `activated`."""
        if self.ended_at is not None and shown.moment >= self.ended_at:
            return "event_not_active"
        if self.doors_open is not None and shown.moment < self.doors_open:
            return "doors_closed"
        if shown.expires is not None and shown.expires <= shown.moment:
            return "expired"
        card = self.cards.get(shown.card) if shown.card is not None else None
        if card is None:
            return "card_not_found"
        if card.status != "active":
            return f"card_{card.status}"
        if card.in_use is None:
            return "ticket_cancelled" if card.tickets else "ticket_not_found"
        if card.in_use.activated_by is not None:
            return "already_activated"
        return refused_by(self.categories[card.in_use.category], shown) or ACTIVATED

    def answer(self, shown: Shown) -> str:
        """What `POST /scan` must say now. Every try of a scan has its key, and gets the first answer."""
        if shown.card is None:
            return "invalid_token"
        return self.answers.get(shown.key) or self.verdict(shown)

    def scan(self, shown: Shown, device: int) -> str:
        """`POST /scan`, and what comes of it."""
        answer = self.answer(shown)
        if shown.card is not None and shown.key not in self.answers:
            self.answers[shown.key] = answer
            if answer == ACTIVATED and self._activate(shown):
                self.incidents.append(Incident(DUPLICATE, shown.card, device))
        return answer

    def upload(self, entry: Entry) -> Result:
        """One entry of `POST /scans/batch`."""
        result = self.judge(entry)
        device = self.devices[entry.device]
        if result.outcome != REJECTED and entry.sequence not in device.results:
            self._take(entry, result, device)
            device.results[entry.sequence] = (entry, result)
            self.incidents += [
                Incident(kind, entry.shown.card, entry.device, entry.sequence) for kind in sorted(result.kinds)
            ]
        return result

    def judge(self, entry: Entry) -> Result:
        """What the service must say to it now. Nothing is changed by asking."""
        device, shown = self.devices[entry.device], entry.shown
        if entry.is_forged:
            return Result(REJECTED, code="invalid_signature")
        if entry.sequence in device.results:
            known, result = device.results[entry.sequence]
            return result if known == entry else Result(REJECTED, code="sequence_reused")
        ticket = self._ticket(shown)
        if entry.admitted and shown.card in self.cards and self.cards[shown.card].was_activated_by(shown.key):
            return Result(ACTIVATED)
        if not entry.admitted:
            return Result(RECORDED)
        verdict = self._verdict_of(entry, device)
        second = {DUPLICATE} if ticket is not None and ticket.admissions else set[str]()
        if verdict == ACTIVATED:
            return Result(ACTIVATED, frozenset(second))
        return Result(RECORDED, frozenset({KINDS.get(verdict, verdict)} | second))

    def _verdict_of(self, entry: Entry, device: DeviceRecord) -> str:
        if entry.shown.card is None:
            return "invalid_token"
        verdict = self.answers.get(entry.shown.key) or self.verdict(entry.shown)
        return OVERRIDE if verdict == ACTIVATED and is_doubtful(entry, device) else verdict

    def _take(self, entry: Entry, result: Result, device: DeviceRecord) -> None:
        """The upload is a try of its scan: the others get its answer. One that must use no ticket ends its key."""
        shown, ticket = entry.shown, self._ticket(entry.shown)
        if shown.card in self.cards and self.cards[shown.card].was_activated_by(shown.key):
            return
        if shown.card is not None:
            is_free = entry.admitted and not is_doubtful(entry, device)
            self.answers.setdefault(shown.key, self.verdict(shown) if is_free else KEY_ENDED)
        if result.outcome == ACTIVATED:
            self._activate(shown)
        elif entry.admitted and ticket is not None and shown.key not in ticket.admissions:
            ticket.admissions.append(shown.key)

    def _ticket(self, shown: Shown) -> Ticket | None:
        return self.cards[shown.card].ticket if shown.card in self.cards else None

    def can(self, change: Change, number: int) -> bool:  # noqa: PLR0911  one for each change
        """Whether people can do this to the card now."""
        card = self.cards.get(number)
        if card is None:
            return False
        match change:
            case Change.SUSPEND:
                return card.status == "active"
            case Change.REACTIVATE:
                return card.status == "suspended"
            case Change.REVOKE:
                return card.status != "revoked"
            case Change.CANCEL:
                return card.in_use is not None
            case Change.ISSUE:
                return card.in_use is None and card.status == "active" and self.ended_at is None
            case Change.LET_IN:
                return card.ticket is not None

    def alter(self, change: Change, number: int) -> bool:
        """Do it. Whether it used the ticket."""
        card = self.cards[number]
        match change:
            case Change.SUSPEND | Change.REACTIVATE | Change.REVOKE:
                card.status = STATUS_AFTER[change]
            case Change.CANCEL:
                assert card.in_use is not None
                card.in_use.is_cancelled = True
            case Change.ISSUE:
                card.tickets.append(Ticket(0))
            case Change.LET_IN:
                return self._let_in(number, card)
        return False

    def _let_in(self, number: int, card: Card) -> bool:
        """An unused ticket is used, whatever its times and gates. Anything else is an incident."""
        ticket = card.ticket
        assert ticket is not None
        is_good = self.ended_at is None and card.status == "active" and not ticket.is_cancelled
        is_used = is_good and ticket.activated_by is None
        kinds = ([] if is_used else [OVERRIDE]) + ([DUPLICATE] if ticket.admissions else [])
        self.incidents += [Incident(kind, number) for kind in kinds]
        ticket.admissions.append(f"{PEOPLE} {len(ticket.admissions)}")
        if is_used:
            ticket.activated_by = PEOPLE
        return is_used

    def _activate(self, shown: Shown) -> bool:
        """Whether it is the second admission with this ticket."""
        assert shown.card is not None
        ticket = self.cards[shown.card].in_use
        assert ticket is not None
        assert ticket.activated_by is None, "the model activates a ticket twice"
        ticket.activated_by = shown.key
        is_second = any(admission != shown.key for admission in ticket.admissions)
        ticket.admissions.append(shown.key)
        return is_second


def refused_by(category: Category, shown: Shown) -> str | None:
    """The rule of the ticket's category that fails."""
    if category.valid_from is not None and shown.moment < category.valid_from:
        return "outside_window"
    if category.valid_until is not None and shown.moment >= category.valid_until:
        return "outside_window"
    if category.gates is not None and shown.gate not in category.gates:
        return "wrong_gate"
    return None


def is_doubtful(entry: Entry, device: DeviceRecord) -> bool:
    """Such an admission uses no ticket."""
    is_from_before = device.found_at is not None and entry.shown.moment < device.found_at
    return is_from_before or device.types_too_fast(entry)
