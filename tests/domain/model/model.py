"""The model of one side's tickets in plain Python: what the decisions say, one scan after the other."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from gatepass.api.responses import VERDICT_STATUSES
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere, Refusal
from gatepass.domain import cards, sandbox, tickets
from gatepass.domain.cards import CardStatus
from gatepass.domain.events import EventCodes, EventStatus
from gatepass.domain.events.event import GRACE
from gatepass.domain.tickets import Scan
from tests.domain.model.organization import Answer, ModelOrganization

LATE: Final = timedelta(hours=72)


@dataclass(frozen=True)
class Intent:
    """A scan to be made. Two scans of one intent are the same request."""

    event: int
    card: int
    shown: str
    idempotency_key: str | None
    gate: str | None
    of_test_card: bool
    # Hours after T0; None: it is shown when it is sent.
    occurred: int | None = None


@dataclass
class ModelTicket:
    event_id: UUID
    category_id: UUID
    card_id: UUID
    activated: tuple[datetime, UUID, str | None, str | None] | None = None
    cancelled: bool = False

    def state(self) -> list[Any]:
        if self.activated is None:
            return [str(self.card_id), None, None, None, None, self.cancelled]
        at, request_id, gate, scanner_id = self.activated
        return [str(self.card_id), int(at.timestamp()), str(request_id), gate, scanner_id, self.cancelled]


@dataclass
class ModelEvent:
    status: EventStatus
    ends_at: datetime
    categories: list[UUID]
    codes: EventCodes = EventCodes.ANY
    doors_open_at: datetime | None = None
    ended_at: datetime | None = None

    def closed(self, scan: Scan, now: datetime) -> Answer | None:
        """Its refusal, if it is not open. An ended event takes what was shown before its end for 72 hours."""
        takes = self.status is EventStatus.PUBLISHED
        if self.ended_at is not None and scan.occurred_at is not None:
            takes = scan.occurred_at < self.ended_at and now - self.ended_at < LATE
        if not takes:
            return Answer("event_not_active")
        if self.doors_open_at is not None and self.doors_open_at > (scan.occurred_at or now):
            return Answer("doors_closed", rule={"doors_open_at": self.doors_open_at})
        return None


@dataclass
class ModelCategory:
    name: str
    tier: str
    total: int
    sold: int = 0
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    gates: list[str] | None = None

    def refused(self, shown_at: datetime, gate: str | None) -> Answer | None:
        begun = self.valid_from is None or self.valid_from <= shown_at
        if not begun or (self.valid_until is not None and self.valid_until <= shown_at):
            return Answer("outside_window", rule={"valid_from": self.valid_from, "valid_until": self.valid_until})
        if self.gates is not None and gate not in self.gates:
            return Answer("wrong_gate", rule={"gates": self.gates})
        return None


@dataclass
class Model:
    organization: ModelOrganization
    cards: dict[UUID, CardStatus] = field(default_factory=dict[UUID, CardStatus])
    numbers: dict[str, UUID] = field(default_factory=dict[str, UUID])
    events: dict[UUID, ModelEvent] = field(default_factory=dict[UUID, ModelEvent])
    categories: dict[UUID, ModelCategory] = field(default_factory=dict[UUID, ModelCategory])
    tickets: dict[UUID, ModelTicket] = field(default_factory=dict[UUID, ModelTicket])
    scans: Counter[str] = field(default_factory=Counter[str])

    @property
    def now(self) -> datetime:
        return self.organization.now

    def answer(self, scan: Scan) -> tuple[Answer, bool]:
        """The answer to a scan, and whether it is a replay."""
        answer, replayed = self._answer(scan)
        self.organization.calls[str(VERDICT_STATUSES[scan.mode][answer.verdict])] += 1
        return answer, replayed

    def _answer(self, scan: Scan) -> tuple[Answer, bool]:
        fingerprint = (scan.event_id, scan.shown, scan.gate, scan.scanner_id, scan.occurred_at)
        old = self.organization.stored.get((scan.mode, scan.idempotency_key)) if scan.idempotency_key else None
        if old is not None:
            same = old.fingerprint == fingerprint
            return (old.answer, True) if same else (Answer("idempotency_key_reused"), False)
        answer = self._judge_test_card(scan) if scan.event_id == sandbox.EVENT_ID else self._judge(scan)
        if scan.idempotency_key:
            self.organization.store(scan.mode, scan.idempotency_key, fingerprint, answer)
        self.scans[answer.verdict] += 1
        return answer, False

    def _judge(self, scan: Scan) -> Answer:
        event = self.events.get(scan.event_id)
        if event is None:
            return Answer("event_not_found")
        if (closed := event.closed(scan, self.now)) is not None:
            return closed
        if scan.expired or (event.codes is EventCodes.PHONE and not scan.fresh):
            return Answer("expired" if scan.expired else "static_code_refused")
        card_id = self.numbers.get(scan.card_number)
        if card_id is None:
            return Answer("card_not_found")
        if self.cards[card_id] is not CardStatus.ACTIVE:
            return Answer(f"card_{self.cards[card_id]}")
        return self._use_ticket(scan, card_id)

    def _use_ticket(self, scan: Scan, card_id: UUID) -> Answer:
        held = [
            (ticket_id, ticket)
            for ticket_id, ticket in self.tickets.items()
            if (ticket.event_id, ticket.card_id) == (scan.event_id, card_id)
        ]
        usable = [pair for pair in held if not pair[1].cancelled]
        if not usable:
            return Answer("ticket_cancelled" if held else "ticket_not_found")
        ((ticket_id, ticket),) = usable
        if ticket.activated is not None:
            at, _, gate, scanner_id = ticket.activated
            return Answer("already_activated", first=(at, gate, scanner_id))
        category = self.categories[ticket.category_id]
        refused = category.refused(scan.occurred_at or self.now, scan.gate)
        if refused is not None:
            return refused
        ticket.activated = (self.now, scan.request_id, scan.gate, scan.scanner_id)
        return Answer("activated", given=(ticket_id, category.tier, category.name))

    def _judge_test_card(self, scan: Scan) -> Answer:
        match scan.card_number:
            case "TEST_VALID":
                return Answer("activated", given=(UUID(int=0x71), "standard", "General"))
            case "TEST_USED":
                return Answer("already_activated", first=(sandbox.USED_AT, None, None))
            case "TEST_REVOKED":
                return Answer("card_revoked")
            case _:
                return Answer("card_not_found")

    def change_card_status(self, card_id: UUID, to: CardStatus) -> type[Refusal] | None:
        now = self.cards[card_id]
        if now is CardStatus.REVOKED or to is now:
            return NotAllowedFromHere
        self.cards[card_id] = to
        return None

    def change_event_status(self, event_id: UUID, to: EventStatus) -> type[Refusal] | None:
        transitions = {
            ("draft", "published"),
            ("draft", "cancelled"),
            ("published", "cancelled"),
            ("published", "ended"),
        }
        event = self.events[event_id]
        if (event.status, to) not in transitions:
            return NotAllowedFromHere
        event.status = to
        event.ended_at = self.now if to is EventStatus.ENDED else None
        return None

    def may_issue(self, event_id: UUID, category_id: UUID, card_id: UUID) -> type[Refusal] | None:
        category = self.categories[category_id]
        sold_out = tickets.SoldOut if category.sold == category.total else None
        return self._may_hold(event_id, card_id) or sold_out

    def _may_hold(self, event_id: UUID, card_id: UUID) -> type[Refusal] | None:
        """Whether the card may get a ticket for the event."""
        if self.events[event_id].status not in (EventStatus.DRAFT, EventStatus.PUBLISHED):
            return NotAllowedFromHere
        if self.cards[card_id] is not CardStatus.ACTIVE:
            return cards.CardSuspended if self.cards[card_id] is CardStatus.SUSPENDED else cards.CardRevoked
        return tickets.CardHasTicket if event_id in self._events_of(card_id) else None

    def _events_of(self, card_id: UUID, *, unused: bool = False) -> set[UUID]:
        """The events for which the card has a ticket that is not cancelled."""
        held = [one for one in self.tickets.values() if one.card_id == card_id and not one.cancelled]
        return {one.event_id for one in held if one.activated is None or not unused}

    def transfer(self, ticket_id: UUID, card_id: UUID) -> type[Refusal] | None:
        ticket = self.tickets[ticket_id]
        if ticket.cancelled:
            return tickets.TicketCancelled
        if ticket.activated is not None:
            return tickets.AlreadyActivated
        refused = self._may_hold(ticket.event_id, card_id)
        if refused is None:
            ticket.card_id = card_id
        return refused

    def replace(self, card_id: UUID, new_id: UUID | None) -> type[Refusal] | None:
        """The new card has an id unless PostgreSQL refused to make one."""
        if self.cards[card_id] is CardStatus.REVOKED:
            return NotAllowedFromHere
        assert new_id is not None
        self.cards[new_id] = CardStatus.ACTIVE
        self._move_all(card_id, new_id)
        return None

    def merge(self, duplicate_id: UUID, kept_id: UUID) -> type[Refusal] | None:
        if duplicate_id == kept_id or self.cards[kept_id] is not CardStatus.ACTIVE:
            return InvalidRequest
        if self.cards[duplicate_id] is CardStatus.REVOKED:
            return NotAllowedFromHere
        if self._events_of(duplicate_id, unused=True) & self._events_of(kept_id):
            return InvalidRequest
        self._move_all(duplicate_id, kept_id)
        return None

    def _move_all(self, old_id: UUID, new_id: UUID) -> None:
        """Revoke a card, and move its unused tickets to another one."""
        self.cards[old_id] = CardStatus.REVOKED
        for ticket in self.tickets.values():
            if ticket.card_id == old_id and ticket.activated is None and not ticket.cancelled:
                ticket.card_id = new_id

    def cancel(self, ticket_id: UUID) -> type[Refusal] | None:
        ticket = self.tickets[ticket_id]
        if ticket.cancelled:
            return tickets.TicketCancelled
        ticket.cancelled = True
        self.categories[ticket.category_id].sold -= 1
        return None

    def undo(self, ticket_id: UUID) -> type[Refusal] | None:
        ticket = self.tickets[ticket_id]
        if ticket.cancelled:
            return tickets.TicketCancelled
        if ticket.activated is None:
            return tickets.TicketNotFound
        ticket.activated = None
        return None

    def cancel_tickets_of_cancelled_events(self) -> int:
        due = [
            ticket_id
            for ticket_id, ticket in self.tickets.items()
            if not ticket.cancelled and self.events[ticket.event_id].status is EventStatus.CANCELLED
        ]
        for ticket_id in due:
            self.cancel(ticket_id)
        return len(due)

    def end_past_events(self) -> int:
        due = [
            event
            for event in self.events.values()
            if event.status is EventStatus.PUBLISHED and event.ends_at + GRACE <= self.now
        ]
        for event in due:
            event.status, event.ended_at = EventStatus.ENDED, self.now
        return len(due)

    def state(self) -> dict[str, Any]:
        """The expected contents of the tables, in the form of `observed.STATE`."""
        return {
            "cards": {str(id): status for id, status in self.cards.items()},
            "events": {str(id): event.status for id, event in self.events.items()},
            "sold": {str(id): category.sold for id, category in self.categories.items()},
            "tickets": {str(id): one.state() for id, one in self.tickets.items()},
            "scans": dict(self.scans),
        }
