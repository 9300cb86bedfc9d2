"""The whole of tickets against a model of it that fits on a page: cards, events, tickets, retry keys and time.

Hypothesis makes up histories and PostgreSQL lives through them; after every step the two must agree on
what was answered and on every row. That the machine is able to find a fault is tested too: each mutant
below breaks one line of `activation.sql`, and the machine must notice.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, TypeVar
from uuid import UUID

import psycopg
import pytest
import uvloop
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

import gatepass
from gatepass.api.errors import VERDICT_STATUSES
from gatepass.base.database import Database, Tx
from gatepass.base.ids import new_id
from gatepass.base.refusals import NotAllowedFromHere, Refusal
from gatepass.domain import cards, demonstration, events, keys, organizations, sandbox, tickets, upkeep
from gatepass.domain.cards import Card, CardStatus, InvalidToken, Signer
from gatepass.domain.events import EventStatus
from gatepass.domain.events.event import GRACE
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.organizations import Organization
from gatepass.domain.tickets import Scan, Verdict
from gatepass.migrations import runner
from gatepass.migrations.sql import statements
from tests import make
from tests.postgres import Cluster
from tests.size import sized

T = TypeVar("T")

BY: Final = "model"
T0: Final = datetime(2031, 5, 1, tzinfo=UTC)
KEPT: Final = timedelta(hours=24)
# Time passes in steps that leave the short one behind; the old one was never good.
TOKEN_LIFE: Final = {
    "old token": timedelta(hours=-1),
    "short token": timedelta(minutes=50),
    "long token": timedelta(days=900),
}
MOST_CARDS: Final = 5
MOST_EVENTS: Final = 5
NOWHERE: Final = UUID(int=7)


# ---- the model: what the decisions say, one scan after the other -----------------------------------------------


@dataclass(frozen=True)
class Intent:
    """What somebody wants to scan; told twice, it is the same request."""

    event: int
    card: int
    shown: str
    retry_key: str | None
    gate: str | None
    in_sandbox: bool


@dataclass(frozen=True)
class Answer:
    verdict: str
    given: tuple[UUID, str, str] | None = None
    first: tuple[datetime, str | None, str | None] | None = None


@dataclass
class ModelTicket:
    event_id: UUID
    category_id: UUID
    card_id: UUID
    activated: tuple[datetime, UUID, str | None, str | None] | None = None
    cancelled: bool = False

    def state(self) -> list[Any]:
        if self.activated is None:
            return [None, None, None, None, self.cancelled]
        at, request_id, gate, scanner_id = self.activated
        return [int(at.timestamp()), str(request_id), gate, scanner_id, self.cancelled]


@dataclass
class ModelEvent:
    status: EventStatus
    ends_at: datetime
    categories: list[UUID]


@dataclass
class ModelCategory:
    name: str
    tier: str
    total: int
    sold: int = 0


@dataclass
class Remembered:
    fingerprint: object
    answer: Answer
    at: datetime
    generation: int


@dataclass
class Model:
    now: datetime = T0
    cards: dict[UUID, CardStatus] = field(default_factory=dict[UUID, CardStatus])
    numbers: dict[str, UUID] = field(default_factory=dict[str, UUID])
    events: dict[UUID, ModelEvent] = field(default_factory=dict[UUID, ModelEvent])
    categories: dict[UUID, ModelCategory] = field(default_factory=dict[UUID, ModelCategory])
    tickets: dict[UUID, ModelTicket] = field(default_factory=dict[UUID, ModelTicket])
    remembered: dict[tuple[Mode, str], Remembered] = field(default_factory=dict[tuple[Mode, str], Remembered])
    generation: int = 0
    opened_at: datetime = T0
    scans: Counter[str] = field(default_factory=Counter[str])
    calls: Counter[str] = field(default_factory=Counter[str])

    def answer(self, scan: Scan) -> tuple[Answer, bool]:
        """The answer to a scan and whether it is a replayed one."""
        answer, replayed = self._answer(scan)
        self.calls[str(VERDICT_STATUSES[scan.mode][answer.verdict])] += 1
        return answer, replayed

    def _answer(self, scan: Scan) -> tuple[Answer, bool]:
        asked = (scan.event_id, scan.shown, scan.gate, scan.scanner_id)
        old = self.remembered.get((scan.mode, scan.retry_key)) if scan.retry_key else None
        if old is not None:
            same = old.fingerprint == asked
            return (old.answer, True) if same else (Answer("idempotency_key_reused"), False)
        answer = self._judge_in_sandbox(scan) if scan.mode is Mode.SANDBOX else self._judge(scan)
        if scan.retry_key:
            self.remembered[scan.mode, scan.retry_key] = Remembered(asked, answer, self.now, self.generation)
        self.scans[answer.verdict] += 1
        return answer, False

    def _judge(self, scan: Scan) -> Answer:
        event = self.events.get(scan.event_id)
        if event is None:
            return Answer("event_not_found")
        if event.status is not EventStatus.PUBLISHED:
            return Answer("event_not_active")
        if scan.expired:
            return Answer("expired")
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
        ticket.activated = (self.now, scan.request_id, scan.gate, scan.scanner_id)
        category = self.categories[ticket.category_id]
        return Answer("activated", given=(ticket_id, category.tier, category.name))

    def _judge_in_sandbox(self, scan: Scan) -> Answer:
        if scan.event_id != sandbox.EVENT_ID:
            return Answer("event_not_found")
        match scan.card_number:
            case "TEST_VALID":
                return Answer("activated", given=(UUID(int=0x71), "standard", "General"))
            case "TEST_USED":
                return Answer("already_activated", first=(sandbox.USED_AT, None, None))
            case "TEST_REVOKED":
                return Answer("card_revoked")
            case _:
                return Answer("card_not_found")

    def move_card(self, card_id: UUID, to: CardStatus) -> type[Refusal] | None:
        now = self.cards[card_id]
        if now is CardStatus.REVOKED or to is now:
            return NotAllowedFromHere
        self.cards[card_id] = to
        return None

    def move_event(self, event_id: UUID, to: EventStatus) -> type[Refusal] | None:
        moves = {("draft", "published"), ("draft", "cancelled"), ("published", "cancelled"), ("published", "ended")}
        event = self.events[event_id]
        if (event.status, to) not in moves:
            return NotAllowedFromHere
        event.status = to
        return None

    def may_issue(self, event_id: UUID, category_id: UUID, card_id: UUID) -> type[Refusal] | None:
        if self.events[event_id].status not in (EventStatus.DRAFT, EventStatus.PUBLISHED):
            return NotAllowedFromHere
        category = self.categories[category_id]
        if category.sold == category.total:
            return tickets.SoldOut
        in_use = [one for one in self.tickets.values() if not one.cancelled]
        if any((one.event_id, one.card_id) == (event_id, card_id) for one in in_use):
            return tickets.CardHasTicket
        return None

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

    def end_past(self) -> int:
        due = [
            event
            for event in self.events.values()
            if event.status is EventStatus.PUBLISHED and event.ends_at + GRACE <= self.now
        ]
        for event in due:
            event.status = EventStatus.ENDED
        return len(due)

    def rotate(self) -> int:
        """A generation is read while it is open and while the next one is. What is forgotten was kept a day."""
        if self.now - self.opened_at < KEPT:
            return 0
        self.generation += 1
        self.opened_at = self.now
        for key, one in list(self.remembered.items()):
            if one.generation < self.generation - 1:
                assert self.now - one.at >= KEPT
                del self.remembered[key]
        return 1

    def state(self) -> dict[str, Any]:
        """What the tables must say, in the form of STATE below."""
        return {
            "cards": {str(id): status for id, status in self.cards.items()},
            "events": {str(id): event.status for id, event in self.events.items()},
            "sold": {str(id): category.sold for id, category in self.categories.items()},
            "tickets": {str(id): one.state() for id, one in self.tickets.items()},
            "scans": dict(self.scans),
            "calls": dict(self.calls),
        }


STATE: Final = """
    SELECT json_build_object(
        'cards', (SELECT coalesce(json_object_agg(id, status), '{}') FROM card WHERE organization_id = $1),
        'events', (SELECT coalesce(json_object_agg(id, status), '{}') FROM event WHERE organization_id = $1),
        'sold', (SELECT coalesce(json_object_agg(id, quantity_sold), '{}')
                   FROM ticket_category WHERE organization_id = $1),
        'tickets', (SELECT coalesce(json_object_agg(id, json_build_array(
                                extract(epoch FROM activated_at)::bigint, activated_by, activated_gate,
                                activated_scanner_id, cancelled_at IS NOT NULL)), '{}')
                      FROM ticket WHERE organization_id = $1),
        'scans', (SELECT coalesce(json_object_agg(verdict, n), '{}')
                    FROM (SELECT verdict, count(*) AS n FROM scan WHERE organization_id = $1 GROUP BY verdict) s),
        'calls', (SELECT coalesce(json_object_agg(status, n), '{}')
                    FROM (SELECT status, count(*) AS n FROM audit WHERE organization_id = $1 GROUP BY status) a))
"""


# ---- the machine -----------------------------------------------------------------------------------------------


@dataclass
class World:
    """A database of our own, and a loop to reach it from a machine that knows no `await`."""

    loop: asyncio.AbstractEventLoop
    db: Database

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def change(self, verb: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        async def in_transaction() -> T:
            async with self.db.transaction() as tx:
                return await verb(tx)

        return self.run(in_transaction())

    def refused(self, verb: Callable[[Tx], Coroutine[Any, Any, object]]) -> type[Refusal] | None:
        """Do it, and say how it was refused, if it was."""
        try:
            self.change(verb)
        except Refusal as refusal:
            return type(refusal)
        return None


# Places in the lists of cards and events. Few, and the first ones more often, so that things meet; UNKNOWN is in
# no list. The first event is seldom moved, so that something is open most of the time.
UNKNOWN: Final = -1
CARDS: Final = [0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4]
EVENTS: Final = [0, 0, 0, 0, 0, 0, 1, 1, 2, 3]
MOVED_EVENTS: Final = [1, 1, 2, 2, 3, 0]
SEVERAL_CARD_MOVES: Final = [CardStatus.SUSPENDED, CardStatus.ACTIVE] * 2 + [CardStatus.REVOKED]


def intents() -> st.SearchStrategy[Intent]:
    return st.builds(
        Intent,
        event=st.sampled_from([*EVENTS, UNKNOWN]),
        card=st.sampled_from([*CARDS, UNKNOWN]),
        shown=st.sampled_from(["number", "number", "typed", *TOKEN_LIFE]),
        retry_key=st.sampled_from([None] * 4 + ["k1", "k2", "k3", "k4"]),
        gate=st.sampled_from([None, "North", "South"]),
        in_sandbox=st.sampled_from([False] * 9 + [True]),
    )


class Turnstile(RuleBasedStateMachine):
    world: World

    said: Bundle[Intent] = Bundle("said")

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.cards: list[Card] = []
        self.organization: Organization | None = None
        self.sign: Signer
        self.key_id: UUID

    @initialize()
    def found(self) -> None:
        async def found(tx: Tx) -> None:
            self.organization = await organizations.found(tx, "Turnstile", at=T0, demo=True)
            await cards.rotate(tx, self.id, make.VAULT, by=BY, at=T0)
            self.sign = await cards.signer(tx, self.id, make.VAULT)
            key = await keys.issue(tx, self.id, "gate", Mode.LIVE, [Scope.ADMIN], cell="a", by=BY, at=T0)
            self.key_id = key.id
            await tx.run("UPDATE idempotency_generation SET current = 0, opened_at = $1", T0)

        self.world.change(found)
        for _ in range(3):
            self.issue_card()
        self.announce(EventStatus.PUBLISHED, 3, 2000)
        self.announce(EventStatus.PUBLISHED, 1, 20)
        self.issue_ticket(0, 0, 0)
        self.issue_ticket(0, 1, 1)

    def teardown(self) -> None:
        if self.organization is not None:
            self.world.change(lambda tx: demonstration.clear(tx, self.id))

    @property
    def id(self) -> UUID:
        assert self.organization is not None
        return self.organization.id

    def _tick(self) -> datetime:
        self.model.now += timedelta(seconds=1)
        return self.model.now

    # -- scans

    @rule(target=said, wanted=intents())
    def scan(self, wanted: Intent) -> Intent:
        self._scan([wanted])
        return wanted

    @rule(wanted=said)
    def scan_again(self, wanted: Intent) -> None:
        self._scan([wanted])

    @rule(target=said, wanted=st.lists(st.one_of(intents(), said), min_size=2, max_size=4))
    def scan_several(self, wanted: list[Intent]) -> MultipleResults[Intent]:
        self._scan(wanted)
        return multiple(*wanted)

    @rule(target=said, wanted=st.lists(intents(), min_size=1, max_size=2))
    def scan_twins(self, wanted: list[Intent]) -> MultipleResults[Intent]:
        """Twice in one batch: the same card and, where there is one, the same retry key."""
        self._scan(wanted * 2)
        return multiple(*wanted)

    @rule(wanted=intents(), card=st.sampled_from(CARDS), key=st.sampled_from(["k1", "k2", "k3", "k4"]))
    def scan_two_cards_under_one_key(self, wanted: Intent, card: int, key: str) -> None:
        self._scan([replace(wanted, retry_key=key), replace(wanted, retry_key=key, card=card)])

    def _scan(self, wanted: list[Intent]) -> None:
        at = self._tick()
        batch = [self._presented(intent) for intent in wanted]
        expected = [self.model.answer(scan) for scan in batch]
        assert [told(verdict) for verdict in self.world.run(self._activate(batch, at))] == expected

    @rule(card=st.sampled_from(CARDS), place=st.integers(0, 400), life=st.sampled_from(sorted(TOKEN_LIFE)))
    def show_a_forged_token(self, card: int, place: int, life: str) -> None:
        token = self._token(self._card(card).number, life)
        place = place % len(token)
        forged = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        public = self.world.change(lambda tx: cards.verifying_keys(tx, self.id))
        with pytest.raises(InvalidToken):
            cards.read_token(forged, public)

    async def _activate(self, batch: list[Scan], at: datetime) -> list[Verdict]:
        async with self.world.db.statement() as tx:
            verdicts = await tickets.activate(tx, batch, at=at, statuses=VERDICT_STATUSES)
        return [verdict for verdict in verdicts if verdict is not None]

    def _presented(self, intent: Intent) -> Scan:
        event_id = NOWHERE if intent.event == UNKNOWN else self._event(intent.event)
        number, shown, expired = self._shown(intent)
        if intent.in_sandbox:
            event_id = NOWHERE if intent.event == UNKNOWN else sandbox.EVENT_ID
            number = shown = ["TEST_VALID", "TEST_USED", "TEST_REVOKED", "TEST"][intent.card % 4]
        return Scan(
            request_id=new_id(),
            organization_id=self.id,
            mode=Mode.SANDBOX if intent.in_sandbox else Mode.LIVE,
            key_id=self.key_id,
            address=None,
            elapsed_us=1,
            retry_key=intent.retry_key,
            event_id=event_id,
            card_number=number,
            shown=shown,
            expired=expired and not intent.in_sandbox,
            gate=intent.gate,
            scanner_id=f"{intent.gate} 1" if intent.gate else None,
            occurred_at=None,
            given=sandbox.judge(event_id, number) if intent.in_sandbox else None,
        )

    def _shown(self, intent: Intent) -> tuple[str, str, bool]:
        """The card's number, what was shown for it, and whether that had expired."""
        number = cards.written("SVC", 0) if intent.card == UNKNOWN else self._card(intent.card).number
        if intent.shown in TOKEN_LIFE:
            text = self._token(number, intent.shown)
            token = cards.read_token(text, self.world.change(lambda tx: cards.verifying_keys(tx, self.id)))
            expired = token.is_expired(self.model.now)
            assert expired == (self.model.now >= T0 + TOKEN_LIFE[intent.shown])
            return token.card_number, text, expired
        number = cards.read(number.lower().replace(" ", "-")) if intent.shown == "typed" else number
        return number, number, False

    def _token(self, number: str, life: str) -> str:
        return self.sign(number, T0 + TOKEN_LIFE[life])

    def _card(self, place: int) -> Card:
        return self.cards[place % len(self.cards)]

    def _event(self, place: int) -> UUID:
        return [*self.model.events][place % len(self.model.events)]

    # -- cards and tickets

    @precondition(lambda self: len(self.cards) < MOST_CARDS)
    @rule()
    def issue_card(self) -> None:
        card = self.world.change(lambda tx: cards.issue(tx, self.id, by=BY, at=self._tick()))
        self.cards.append(card)
        self.model.cards[card.id] = CardStatus.ACTIVE
        self.model.numbers[card.number] = card.id

    @rule(card=st.sampled_from(CARDS), to=st.sampled_from(SEVERAL_CARD_MOVES))
    def move_card(self, card: int, to: CardStatus) -> None:
        card_id, at = self._card(card).id, self._tick()
        refused = self.world.refused(lambda tx: cards.move(tx, self.id, card_id, to, by=BY, at=at, reason="so"))
        assert refused is self.model.move_card(card_id, to)

    @rule(event=st.sampled_from(EVENTS), card=st.sampled_from(CARDS), category=st.integers(0, 1))
    def issue_ticket(self, event: int, card: int, category: int) -> None:
        event_id, card_id = self._event(event), self._card(card).id
        category_id = self.model.events[event_id].categories[category]
        expected, at = self.model.may_issue(event_id, category_id, card_id), self._tick()

        async def issue(tx: Tx) -> None:
            ticket_id = await tickets.issue(tx, self.id, event_id, category_id, card_id, by=BY, at=at)
            self.model.tickets[ticket_id] = ModelTicket(event_id, category_id, card_id)
            self.model.categories[category_id].sold += 1

        assert self.world.refused(issue) is expected

    @precondition(lambda self: self.model.tickets)
    @rule(ticket=st.integers(0, 20))
    def cancel_ticket(self, ticket: int) -> None:
        ticket_id, at = self._ticket(ticket), self._tick()
        refused = self.world.refused(lambda tx: tickets.cancel(tx, self.id, ticket_id, by=BY, at=at, reason="so"))
        assert refused is self.model.cancel(ticket_id)

    @precondition(lambda self: self.model.tickets)
    @rule(ticket=st.integers(0, 20))
    def undo_activation(self, ticket: int) -> None:
        ticket_id, at = self._ticket(ticket), self._tick()
        refused = self.world.refused(
            lambda tx: tickets.undo_activation(tx, self.id, ticket_id, by=BY, at=at, reason="so")
        )
        assert refused is self.model.undo(ticket_id)

    @rule()
    def touch_a_ticket_that_is_not_there(self) -> None:
        at = self._tick()
        for verb in (tickets.cancel, tickets.undo_activation):
            refused = self.world.refused(lambda tx, verb=verb: verb(tx, self.id, NOWHERE, by=BY, at=at, reason="so"))
            assert refused is tickets.TicketNotFound

    def _ticket(self, place: int) -> UUID:
        return [*self.model.tickets][place % len(self.model.tickets)]

    # -- events

    @precondition(lambda self: len(self.model.events) < MOST_EVENTS)
    @rule(
        status=st.sampled_from([EventStatus.DRAFT, EventStatus.PUBLISHED]),
        places=st.integers(0, 2),
        hours=st.sampled_from([3, 300]),
    )
    def announce(self, status: EventStatus, places: int, hours: int) -> None:
        at = self._tick()
        ends_at = at + timedelta(hours=hours)

        async def announce(tx: Tx) -> UUID:
            event_id = await events.create(tx, self.id, "Night", at, ends_at, by=BY, at=at)
            for name, tier, total in (("General", "standard", places), ("VIP", "vip", 1)):
                category_id = await events.add_category(
                    tx, self.id, event_id, name, Decimal(10), "EUR", total, tier=tier, by=BY, at=at
                )
                self.model.categories[category_id] = ModelCategory(name, tier, total)
                made.append(category_id)
            if status is EventStatus.PUBLISHED:
                await events.move(tx, self.id, event_id, status, by=BY, at=at)
            return event_id

        made: list[UUID] = []
        event_id = self.world.change(announce)
        self.model.events[event_id] = ModelEvent(status, ends_at, made)

    @rule(event=st.sampled_from(MOVED_EVENTS), to=st.sampled_from(EventStatus))
    def move_event(self, event: int, to: EventStatus) -> None:
        event_id, at = self._event(event), self._tick()
        refused = self.world.refused(lambda tx: events.move(tx, self.id, event_id, to, by=BY, at=at))
        assert refused is self.model.move_event(event_id, to)

    # -- time and upkeep

    @rule(hours=st.sampled_from([1, 11, 24]))
    def let_time_pass(self, hours: int) -> None:
        self.model.now += timedelta(hours=hours)

    @rule()
    def end_past_events(self) -> None:
        ended = self.world.change(lambda tx: events.end_past(tx, at=self.model.now))
        assert ended == self.model.end_past()

    @rule()
    def cancel_tickets_of_cancelled_events(self) -> None:
        at = self._tick()
        cancelled = self.world.change(lambda tx: tickets.cancel_some_of_cancelled_events(tx, at=at))
        assert cancelled == self.model.cancel_tickets_of_cancelled_events()

    @rule(hours=st.sampled_from([23, 24]))
    def rotate_retry_keys_after(self, hours: int) -> None:
        self.model.now += timedelta(hours=hours)
        done = upkeep.Done()
        rotated = self.world.run(upkeep._rotate(self.world.db, done, self.model.now))
        if not done.put_off:
            assert rotated == self.model.rotate()

    @invariant()
    def tables_and_model_agree(self) -> None:
        if self.organization is not None:
            assert json.loads(self.world.change(lambda tx: tx.value(STATE, self.id))) == self.model.state()


def told(verdict: Verdict) -> tuple[Answer, bool]:
    """A verdict as the door tells it: what a caller never sees is not compared."""
    refusal = verdict.refusal()
    if refusal is None:
        assert verdict.ticket_id is not None
        given = (verdict.ticket_id, verdict.tier or "", verdict.category_name or "")
        return Answer(verdict.verdict, given=given), verdict.replayed
    if isinstance(refusal, tickets.AlreadyActivated):
        assert verdict.first_at is not None
        first = (verdict.first_at, verdict.first_gate, verdict.first_scanner_id)
        return Answer(verdict.verdict, first=first), verdict.replayed
    return Answer(verdict.verdict), verdict.replayed


# ---- running it ------------------------------------------------------------------------------------------------


@contextmanager
def turnstile(url: str) -> Generator[type[Turnstile]]:
    """The machine on this database. It has a loop of its own, because Hypothesis calls it from outside of any."""
    loop = uvloop.new_event_loop()

    async def connect() -> Database:
        return Database(url, connections=2, deadline=30)

    world = World(loop, loop.run_until_complete(connect()))
    try:
        yield type("Turnstile", (Turnstile,), {"world": world})
    finally:
        world.run(world.db.close())
        loop.close()


@pytest.fixture(scope="module")
def model_url(cluster: Cluster) -> str:
    """Apart from other tests, because the machine rotates retry keys and ends events for everybody."""
    url = cluster.create_database("gatepass_model")
    runner.upgrade(url)
    return url


def explore(runs: int, steps: int, **more: Any) -> settings:
    return settings(max_examples=runs, stateful_step_count=steps, deadline=None, suppress_health_check=SLOW, **more)


SLOW: Final = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def test_tickets_behave_as_the_model_says(model_url: str) -> None:
    with turnstile(model_url) as machine:
        run_state_machine_as_test(machine, settings=explore(30, 25))


@pytest.mark.slow
def test_tickets_behave_as_the_model_says_for_long(model_url: str) -> None:
    with turnstile(model_url) as machine:
        run_state_machine_as_test(machine, settings=explore(sized(short=100, full=300), 50))


# ---- what it must find -----------------------------------------------------------------------------------------

ACTIVATION: Final = Path(gatepass.__file__).parent / "domain" / "tickets" / "activation.sql"

# Each is a way of breaking a promise by one careless edit: what stands there, and what the mutant says instead.
MUTANTS: Final = {
    "a retry key that was answered may activate again": (
        "AND old.generation IN (this_generation, last_generation)\n                               OFFSET 0)",
        "AND false)",
    ),
    "a ticket is activated however often": (
        (
            "                                    AND x.activated_at IS NULL\n",
            "\n       AND t.activated_at IS NULL\n",
        ),
        ("", "\n"),
    ),
    "a cancelled ticket is activated": (
        (
            "AND x.cancelled_at IS NULL\n                                    AND x.activated_at IS NULL",
            "       AND t.cancelled_at IS NULL;",
        ),
        ("AND x.activated_at IS NULL", ";"),
    ),
    "twins with one retry key in a batch are each sent forward": (
        "SELECT DISTINCT ON (u.organization_id, coalesce(u.retry_key, u.request)) u.*",
        "SELECT u.*",
    ),
    "the last to arrive wins": ("ORDER BY i.organization_id, found.ticket_id, i.n)", "ORDER BY 1, 2, i.n DESC)"),
    "answers are forgotten at the first rotation": (
        "(g.current + 2) % 3 INTO this_generation, last_generation",
        "g.current INTO this_generation, last_generation",
    ),
    "a retry key answers for any request": (
        "WHEN j.known_fingerprint IS DISTINCT FROM j.fingerprint",
        "WHEN false",
    ),
    "an expired token opens the gate": ("               AND NOT i.expired\n", ""),
    "a suspended card opens the gate": ("                                    AND c.status = 'active'\n", ""),
    "an event that is not published lets people in": (
        "                                    AND e.status = 'published'\n",
        "",
    ),
    "a replay is recorded as a scan": ("FROM answer a\n         WHERE NOT a.is_replay\n", "FROM answer a\n"),
    "refusals are not remembered": (
        "WHERE a.retry_key IS NOT NULL AND NOT a.is_replay",
        "WHERE a.retry_key IS NOT NULL AND NOT a.is_replay AND a.verdict = 'activated'",
    ),
    "a replay is not told as one": (
        "a.is_replay AND a.verdict <> 'idempotency_key_reused'",
        "false",
    ),
    "the first gate is forgotten": ("           activated_gate = first.gate,\n", ""),
    "an old ticket of the card hides that it has none now": (
        "AND x.cancelled_at IS NOT NULL)\n                            THEN 'ticket_cancelled' ELSE",
        "AND x.cancelled_at IS NULL)\n                            THEN 'ticket_cancelled' ELSE",
    ),
}


def mutated(mutant: str) -> str:
    before, after = MUTANTS[mutant]
    text = ACTIVATION.read_text()
    pairs = [(before, after)] if isinstance(before, str) else zip(before, after, strict=True)
    for old, new in pairs:
        assert isinstance(new, str)
        assert text.count(old) == 1, f"the mutant does not fit activation.sql any more: {old!r}"
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def mutant_url(cluster: Cluster) -> str:
    url = cluster.create_database("gatepass_mutants")
    runner.upgrade(url)
    return url


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_model_finds_the_mutant(mutant_url: str, mutant: str) -> None:
    with psycopg.connect(mutant_url, autocommit=True) as connection:
        for statement in statements(mutated(mutant)):
            connection.execute(statement.encode())
    looking = explore(300, 50, phases=[Phase.generate], database=None, derandomize=True, print_blob=False)
    with turnstile(mutant_url) as machine, pytest.raises(AssertionError):
        run_state_machine_as_test(machine, settings=looking)
