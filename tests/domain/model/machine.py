"""The state machine: Hypothesis makes up histories, and after every step PostgreSQL and the model must agree."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID

import pytest
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
)

from gatepass.api.responses import VERDICT_STATUSES
from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain import cards, demo, events, keys, maintenance, organizations, sandbox, tickets
from gatepass.domain.cards import Card, CardStatus, InvalidToken, Signer
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.organizations import Organization
from gatepass.domain.tickets import Scan, ScanOutcome, TicketRequest
from tests import factory
from tests.domain.model.model import T0, Intent, Model, ModelCategory, ModelEvent, ModelTicket
from tests.domain.model.observed import STATE, answer_of
from tests.domain.model.strategies import CARD_STATUSES, CARDS, CHANGED_EVENTS, EVENTS, TOKEN_LIFE, UNKNOWN, intents
from tests.domain.model.world import World

BY: Final = "model"
MOST_CARDS: Final = 5
MOST_EVENTS: Final = 5
NOWHERE: Final = UUID(int=7)


class TicketMachine(RuleBasedStateMachine):
    world: World

    scanned: Bundle[Intent] = Bundle("scanned")

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.cards: list[Card] = []
        self.organization: Organization | None = None
        self.sign: Signer
        self.key_id: UUID

    @initialize()
    def create_organization(self) -> None:
        async def create(tx: Tx) -> None:
            self.organization = await organizations.create(tx, "Model", at=T0, demo=True)
            await cards.rotate(tx, self.id, factory.VAULT, by=BY, at=T0)
            self.sign = await cards.signer(tx, self.id, factory.VAULT, at=T0)
            key = await keys.issue(tx, self.id, "gate", Mode.LIVE, [Scope.ADMIN], cell="a", by=BY, at=T0)
            self.key_id = key.id
            await tx.run("UPDATE idempotency_generation SET current = 0, opened_at = $1", T0)

        self.world.change(create)
        for _ in range(3):
            self.issue_card()
        self.create_event(EventStatus.PUBLISHED, 3, 2000)
        self.create_event(EventStatus.PUBLISHED, 1, 20)
        self.issue_ticket(0, 0, 0)
        self.issue_ticket(0, 1, 1)

    def teardown(self) -> None:
        if self.organization is not None:
            self.world.change(lambda tx: demo.clear(tx, self.id))

    @property
    def id(self) -> UUID:
        assert self.organization is not None
        return self.organization.id

    def _tick(self) -> datetime:
        self.model.now += timedelta(seconds=1)
        return self.model.now

    # -- scans

    @rule(target=scanned, intent=intents())
    def scan(self, intent: Intent) -> Intent:
        self._scan([intent])
        return intent

    @rule(intent=scanned)
    def scan_again(self, intent: Intent) -> None:
        self._scan([intent])

    @rule(target=scanned, several=st.lists(st.one_of(intents(), scanned), min_size=2, max_size=4))
    def scan_several(self, several: list[Intent]) -> MultipleResults[Intent]:
        self._scan(several)
        return multiple(*several)

    @rule(target=scanned, several=st.lists(intents(), min_size=1, max_size=2))
    def scan_twice_in_one_batch(self, several: list[Intent]) -> MultipleResults[Intent]:
        """The same card, and the same idempotency key if there is one."""
        self._scan(several * 2)
        return multiple(*several)

    @rule(intent=intents(), card=st.sampled_from(CARDS), key=st.sampled_from(["k1", "k2", "k3", "k4"]))
    def scan_two_cards_under_one_key(self, intent: Intent, card: int, key: str) -> None:
        self._scan([replace(intent, idempotency_key=key), replace(intent, idempotency_key=key, card=card)])

    def _scan(self, intents: list[Intent]) -> None:
        at = self._tick()
        batch = [self._presented(intent) for intent in intents]
        expected = [self.model.answer(scan) for scan in batch]
        assert [answer_of(outcome) for outcome in self.world.run(self._activate(batch, at))] == expected

    @rule(card=st.sampled_from(CARDS), place=st.integers(0, 400), life=st.sampled_from(sorted(TOKEN_LIFE)))
    def show_a_forged_token(self, card: int, place: int, life: str) -> None:
        token = self._token(self._card(card).number, life)
        place = place % len(token)
        forged = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        public = self.world.change(lambda tx: cards.verifying_keys(tx, self.id))
        with pytest.raises(InvalidToken):
            cards.read_token(forged, public)

    async def _activate(self, batch: list[Scan], at: datetime) -> list[ScanOutcome]:
        async with self.world.db.autocommit() as tx:
            outcomes = await tickets.activate(tx, batch, at=at, statuses=VERDICT_STATUSES)
        return [outcome for outcome in outcomes if outcome is not None]

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
            idempotency_key=intent.idempotency_key,
            event_id=event_id,
            card_number=number,
            shown=shown,
            expired=expired and not intent.in_sandbox,
            gate=intent.gate,
            scanner_id=f"{intent.gate} 1" if intent.gate else None,
            occurred_at=None,
            given=sandbox.judge(number) if event_id == sandbox.EVENT_ID else None,
        )

    def _shown(self, intent: Intent) -> tuple[str, str, bool]:
        """The card's number, the text that was shown for it, and whether that had expired."""
        number = cards.format_number("SVC", 0) if intent.card == UNKNOWN else self._card(intent.card).number
        if intent.shown in TOKEN_LIFE:
            text = self._token(number, intent.shown)
            token = cards.read_token(text, self.world.change(lambda tx: cards.verifying_keys(tx, self.id)))
            expired = token.is_expired(self.model.now)
            assert expired == (self.model.now >= T0 + TOKEN_LIFE[intent.shown])
            return token.card_number, text, expired
        number = cards.normalize_number(number.lower().replace(" ", "-")) if intent.shown == "typed" else number
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

    @rule(card=st.sampled_from(CARDS), to=st.sampled_from(CARD_STATUSES))
    def change_card_status(self, card: int, to: CardStatus) -> None:
        card_id, at = self._card(card).id, self._tick()
        refused = self.world.refused(
            lambda tx: cards.change_status(tx, self.id, card_id, to, by=BY, at=at, reason="so")
        )
        assert refused is self.model.change_card_status(card_id, to)

    @rule(event=st.sampled_from(EVENTS), card=st.sampled_from(CARDS), category=st.integers(0, 1))
    def issue_ticket(self, event: int, card: int, category: int) -> None:
        event_id, card_id = self._event(event), self._card(card).id
        category_id = self.model.events[event_id].categories[category]
        expected, at = self.model.may_issue(event_id, category_id, card_id), self._tick()

        async def issue(tx: Tx) -> None:
            request = TicketRequest(event_id, category_id, card_id=card_id)
            issued = await tickets.issue(tx, self.id, request, by=BY, at=at)
            self.model.tickets[issued.ticket_id] = ModelTicket(event_id, category_id, card_id)
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
    def change_a_ticket_that_does_not_exist(self) -> None:
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
    def create_event(self, status: EventStatus, places: int, hours: int) -> None:
        at = self._tick()
        ends_at = at + timedelta(hours=hours)

        async def create(tx: Tx) -> UUID:
            event_id = await events.create(tx, self.id, "Night", at, ends_at, by=BY, at=at)
            for name, tier, total in (("General", "standard", places), ("VIP", "vip", 1)):
                category_id = await events.add_category(
                    tx, self.id, event_id, name, Decimal(10), "EUR", total, tier=tier, by=BY, at=at
                )
                self.model.categories[category_id] = ModelCategory(name, tier, total)
                made.append(category_id)
            if status is EventStatus.PUBLISHED:
                await events.change_status(tx, self.id, event_id, status, by=BY, at=at)
            return event_id

        made: list[UUID] = []
        event_id = self.world.change(create)
        self.model.events[event_id] = ModelEvent(status, ends_at, made)

    @rule(event=st.sampled_from(CHANGED_EVENTS), to=st.sampled_from(EventStatus))
    def change_event_status(self, event: int, to: EventStatus) -> None:
        event_id, at = self._event(event), self._tick()
        refused = self.world.refused(lambda tx: events.change_status(tx, self.id, event_id, to, by=BY, at=at))
        assert refused is self.model.change_event_status(event_id, to)

    # -- time and maintenance

    @rule(hours=st.sampled_from([1, 11, 24]))
    def let_time_pass(self, hours: int) -> None:
        self.model.now += timedelta(hours=hours)

    @rule()
    def end_past_events(self) -> None:
        ended = self.world.change(lambda tx: events.end_past_events(tx, at=self.model.now))
        assert ended == self.model.end_past_events()

    @rule()
    def cancel_tickets_of_cancelled_events(self) -> None:
        at = self._tick()
        cancelled = self.world.change(lambda tx: tickets.cancel_some_of_cancelled_events(tx, at=at))
        assert cancelled == self.model.cancel_tickets_of_cancelled_events()

    @rule(hours=st.sampled_from([23, 24]))
    def rotate_idempotency_keys_after(self, hours: int) -> None:
        self.model.now += timedelta(hours=hours)
        done = maintenance.MaintenanceReport()
        rotated = self.world.run(maintenance._rotate(self.world.db, done, self.model.now))
        if not done.put_off:
            assert rotated == self.model.rotate()

    @invariant()
    def tables_and_model_agree(self) -> None:
        if self.organization is not None:
            assert json.loads(self.world.change(lambda tx: tx.value(STATE, self.id))) == self.model.state()
