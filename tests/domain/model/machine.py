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
from gatepass.domain import cards, demo, events, keys, maintenance, organizations, tickets, twin
from gatepass.domain.cards import CardStatus, InvalidToken
from gatepass.domain.events import EventCodes, EventStatus
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.tickets import Scan, ScanOutcome, TicketRequest
from tests import factory
from tests.domain.model.model import Intent, Model, ModelCategory, ModelEvent, ModelTicket
from tests.domain.model.observed import CALLS, STATE, answer_of
from tests.domain.model.organization import T0, ModelOrganization
from tests.domain.model.side import NOWHERE, Side
from tests.domain.model.strategies import CARD_STATUSES, CARDS, CHANGED_EVENTS, EVENTS, TOKEN_LIFE, intents
from tests.domain.model.world import World

BY: Final = "model"
MOST_CARDS: Final = 5
MOST_EVENTS: Final = 5


class TicketMachine(RuleBasedStateMachine):
    world: World

    scanned: Bundle[Intent] = Bundle("scanned")

    def __init__(self) -> None:
        super().__init__()
        self.sides: dict[Mode, Side] = {}
        self.mode = Mode.LIVE

    @initialize()
    def create_organization(self) -> None:
        """Both sides have the same to begin with."""

        async def create(tx: Tx) -> None:
            organization_id = (await organizations.create(tx, "Model", at=T0, demo=True)).id
            key = await keys.issue(tx, organization_id, "gate", Mode.LIVE, [Scope.ADMIN], cell="a", by=BY, at=T0)
            await twin.open_for_changes(tx, organization_id, at=T0)
            shared = ModelOrganization()
            for mode, id in ((Mode.LIVE, organization_id), (Mode.SANDBOX, twin.twin_id(organization_id))):
                await cards.rotate(tx, id, factory.VAULT, by=BY, at=T0)
                sign = await cards.signer(tx, id, factory.VAULT, at=T0)
                public = await cards.verifying_keys(tx, id)
                self.sides[mode] = Side(mode, id, organization_id, key.id, sign, public, Model(shared))
            await tx.run("UPDATE idempotency_generation SET current = 0, opened_at = $1", T0)

        self.world.change(create)
        for _ in self.sides:
            for _ in range(3):
                self.issue_card()
            self.create_event(EventStatus.PUBLISHED, 3, 2000)
            self.create_event(EventStatus.PUBLISHED, 1, 20)
            self.issue_ticket(0, 0, 0)
            self.issue_ticket(0, 1, 1)
            self.issue_ticket(1, 0, 0)
            self.turn_to_the_other_side()

    def teardown(self) -> None:
        async def clear(tx: Tx) -> None:
            for side in reversed(self.sides.values()):
                await demo.clear(tx, side.id)

        self.world.change(clear)

    @rule()
    def turn_to_the_other_side(self) -> None:
        """From the live side to the sandbox or back: the steps that follow are made there."""
        self.mode = Mode.LIVE if self.mode is Mode.SANDBOX else Mode.SANDBOX

    @property
    def side(self) -> Side:
        return self.sides[self.mode]

    @property
    def id(self) -> UUID:
        return self.side.id

    @property
    def model(self) -> Model:
        return self.side.model

    def _tick(self) -> datetime:
        self.model.organization.now += timedelta(seconds=1)
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
        batch = [self.side.presented(intent) for intent in intents]
        expected = [self.sides[scan.mode].model.answer(scan) for scan in batch]
        assert [answer_of(outcome) for outcome in self.world.run(self._activate(batch, at))] == expected

    @rule(card=st.sampled_from(CARDS), place=st.integers(0, 400), life=st.sampled_from(sorted(TOKEN_LIFE)))
    def show_a_forged_token(self, card: int, place: int, life: str) -> None:
        token = self.side.token(self.side.card(card).number, life)
        place = place % len(token)
        forged = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        with pytest.raises(InvalidToken):
            cards.read_token(forged, self.side.public)

    async def _activate(self, batch: list[Scan], at: datetime) -> list[ScanOutcome]:
        async with self.world.db.autocommit() as tx:
            outcomes = await tickets.activate(tx, batch, at=at, statuses=VERDICT_STATUSES)
        return [outcome for outcome in outcomes if outcome is not None]

    @rule(card=st.sampled_from(CARDS))
    def show_a_token_of_the_other_side(self, card: int) -> None:
        (other,) = (side for side in self.sides.values() if side is not self.side)
        with pytest.raises(InvalidToken):
            cards.read_token(other.token(other.card(card).number, "long token"), self.side.public)

    # -- cards and tickets

    @precondition(lambda self: len(self.side.cards) < MOST_CARDS)
    @rule()
    def issue_card(self) -> None:
        card = self.world.change(lambda tx: cards.issue(tx, self.id, by=BY, at=self._tick()))
        self.side.cards.append(card)
        self.model.cards[card.id] = CardStatus.ACTIVE
        self.model.numbers[card.number] = card.id

    @rule(card=st.sampled_from(CARDS), to=st.sampled_from(CARD_STATUSES))
    def change_card_status(self, card: int, to: CardStatus) -> None:
        card_id, at = self.side.card(card).id, self._tick()
        refused = self.world.refused(
            lambda tx: cards.change_status(tx, self.id, card_id, to, by=BY, at=at, reason="so")
        )
        assert refused is self.model.change_card_status(card_id, to)

    @rule(event=st.sampled_from(EVENTS), card=st.sampled_from(CARDS), category=st.integers(0, 1))
    def issue_ticket(self, event: int, card: int, category: int) -> None:
        event_id, card_id = self.side.event(event), self.side.card(card).id
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
        ticket_id, at = self.side.ticket(ticket), self._tick()
        refused = self.world.refused(lambda tx: tickets.cancel(tx, self.id, ticket_id, by=BY, at=at, reason="so"))
        assert refused is self.model.cancel(ticket_id)

    @precondition(lambda self: self.model.tickets)
    @rule(ticket=st.integers(0, 20))
    def undo_activation(self, ticket: int) -> None:
        ticket_id, at = self.side.ticket(ticket), self._tick()
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

    # -- events

    @precondition(lambda self: len(self.model.events) < MOST_EVENTS)
    @rule(
        status=st.sampled_from([EventStatus.DRAFT, EventStatus.PUBLISHED]),
        places=st.integers(0, 2),
        hours=st.sampled_from([3, 300]),
        codes=st.sampled_from([EventCodes.ANY, EventCodes.ANY, EventCodes.PHONE]),
    )
    def create_event(self, status: EventStatus, places: int, hours: int, codes: EventCodes = EventCodes.ANY) -> None:
        at = self._tick()
        ends_at = at + timedelta(hours=hours)

        async def create(tx: Tx) -> UUID:
            event_id = await events.create(tx, self.id, "Night", at, ends_at, codes=codes, by=BY, at=at)
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
        self.model.events[event_id] = ModelEvent(status, ends_at, made, codes)

    @rule(event=st.sampled_from(CHANGED_EVENTS), to=st.sampled_from(EventStatus))
    def change_event_status(self, event: int, to: EventStatus) -> None:
        event_id, at = self.side.event(event), self._tick()
        refused = self.world.refused(lambda tx: events.change_status(tx, self.id, event_id, to, by=BY, at=at))
        assert refused is self.model.change_event_status(event_id, to)

    # -- time and maintenance

    @rule(hours=st.sampled_from([1, 11, 24]))
    def let_time_pass(self, hours: int) -> None:
        self.model.organization.now += timedelta(hours=hours)

    @rule()
    def end_past_events(self) -> None:
        ended = self.world.change(lambda tx: events.end_past_events(tx, at=self.model.now))
        assert ended == sum(side.model.end_past_events() for side in self.sides.values())

    @rule()
    def cancel_tickets_of_cancelled_events(self) -> None:
        """Each call takes one event, so it is called until nothing is left to do."""
        at, cancelled = self._tick(), 0
        while some := self.world.change(lambda tx: tickets.cancel_some_of_cancelled_events(tx, at=at)):
            cancelled += some
        assert cancelled == sum(side.model.cancel_tickets_of_cancelled_events() for side in self.sides.values())

    @rule(hours=st.sampled_from([23, 24]))
    def rotate_idempotency_keys_after(self, hours: int) -> None:
        self.model.organization.now += timedelta(hours=hours)
        done = maintenance.MaintenanceReport()
        rotated = self.world.run(maintenance._rotate(self.world.db, done, self.model.now))
        if not done.put_off:
            assert rotated == self.model.organization.rotate()

    @invariant()
    def tables_and_model_agree(self) -> None:
        async def compare(tx: Tx) -> None:
            for side in self.sides.values():
                assert json.loads(await tx.value(STATE, side.id)) == side.model.state()
            assert json.loads(await tx.value(CALLS, self.side.organization_id)) == self.model.organization.calls

        if self.sides:
            self.world.change(compare)
