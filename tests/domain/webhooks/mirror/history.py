"""Random changes of one organization, by the verbs that the API, the studio, imports and maintenance share."""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from dataclasses import replace as copied
from datetime import timedelta
from decimal import Decimal
from typing import Final

from gatepass.api.responses import VERDICT_STATUSES
from gatepass.base.errors import Refusal
from gatepass.base.ids import new_id
from gatepass.domain import cards, events, incidents, tickets
from gatepass.domain.cards import CardStatus, format_number
from gatepass.domain.events import CategoryDetails, Details, EventStatus
from tests.domain.imports.conftest import Desk
from tests.domain.webhooks.mirror.picks import Picks
from tests.factory import now

REASONS: Final = ("Refunded", 'He said "no"', "Zażółć 🎟", "Lost")


@dataclass
class History(Picks):
    """Changes that were made, by their names. A change that is refused is counted as none."""

    done: Counter[str] = field(default_factory=Counter[str])

    async def make(self, count: int) -> None:
        """Make so many changes, none of them refused."""
        wanted = self.done.total() + count
        while self.done.total() < wanted:
            change = self.random.choices(list(TRIED), list(TRIED.values()))[0]
            try:
                await change(self)
            except Refusal:
                continue
            self.done[change.__name__] += 1

    # Events

    async def create_event(self) -> None:
        """Within the 30 days for which the feed stays open, so that its end is told."""
        start = now() + timedelta(hours=self.random.randrange(1, 400))
        async with self.tenant.db.transaction() as tx:
            id = await events.create(tx, self.tenant.id, self.word(), start, start + timedelta(hours=3), **self.by())
        self.events.append(id)

    async def duplicate_event(self) -> None:
        async with self.tenant.db.transaction() as tx:
            days = self.random.choice([-1, 1])
            await events.duplicate(tx, self.tenant.id, self.pick(self.events), days=days, **self.by())
        await self.load()

    async def edit_event(self) -> None:
        event_id = self.pick(self.events)
        async with self.tenant.db.transaction() as tx:
            was = Details.of(await events.lock(tx, self.tenant.id, event_id))
            cover = self.random.choice([None, "https://example.com/a.png", "https://example.com/b.png"])
            new = copied(was, cover_url=cover) if self.random.random() < 0.3 else copied(was, venue=self.word())
            await events.edit(tx, self.tenant.id, event_id, new, **self.by())

    async def delete_event(self) -> None:
        event_id = self.pick(self.events)
        async with self.tenant.db.transaction() as tx:
            await events.delete(tx, self.tenant.id, event_id, **self.by())
        self.events.remove(event_id)
        self.categories = [one for one in self.categories if one[0] != event_id]

    async def publish_event(self) -> None:
        async with self.tenant.db.transaction() as tx:
            await events.publish(tx, self.tenant.id, self.pick(self.events), **self.by())

    async def end_event(self) -> None:
        async with self.tenant.db.transaction() as tx:
            event_id = self.pick(self.events)
            await events.change_status(tx, self.tenant.id, event_id, EventStatus.ENDED, **self.by())

    async def end_past_events(self) -> None:
        async with self.tenant.db.transaction() as tx:
            first = await tx.value(FIRST_END, self.tenant.id)
            if first is None or not await events.end_past_events(tx, at=first + timedelta(hours=7)):
                raise Refusal("no event is published")

    async def cancel_event(self) -> None:
        async with self.tenant.db.transaction() as tx:
            event_id = self.pick(self.events)
            await events.cancel(tx, self.tenant.id, event_id, reason=self.pick(REASONS), **self.by())
        async with self.tenant.db.transaction() as tx:
            await tickets.cancel_some_of_cancelled_events(tx, at=now())

    async def add_category(self) -> None:
        event_id = self.pick(self.events)
        async with self.tenant.db.transaction() as tx:
            category_id = await events.add_category(
                tx, self.tenant.id, event_id, self.word(), Decimal("9.50"), "EUR", 40, **self.by()
            )
        self.categories.append((event_id, category_id))

    async def edit_category(self) -> None:
        event_id, category_id = self.pick(self.categories)
        new = CategoryDetails(self.word(), Decimal(self.random.randrange(50)), "EUR", self.random.randrange(10, 60))
        async with self.tenant.db.transaction() as tx:
            await events.edit_category(tx, self.tenant.id, event_id, category_id, new, **self.by())

    async def remove_category(self) -> None:
        event_id, category_id = self.pick(self.categories)
        async with self.tenant.db.transaction() as tx:
            await events.remove_category(tx, self.tenant.id, event_id, category_id, **self.by())
        self.categories.remove((event_id, category_id))

    # Cards

    async def issue_card(self) -> None:
        async with self.tenant.db.transaction() as tx:
            card = await cards.issue(tx, self.tenant.id, holder_email=self.email(), **self.by())
        self.cards.append((card.id, card.number))

    async def register_card(self) -> None:
        """A new card, or an external id for one that is there."""
        number = format_number("SVC", self.random.randrange(10**11)) if self.random.random() < 0.2 else None
        external_id = f"member-{self.random.randrange(10**9)}" if self.random.random() < 0.7 else None
        async with self.tenant.db.transaction() as tx:
            card_id, is_new = await cards.register(
                tx, self.tenant.id, holder=self.holder(), number=number, external_id=external_id, **self.by()
            )
            if not is_new and external_id is None:
                raise Refusal("nothing was changed")
            self.cards.append((card_id, (await cards.find(tx, self.tenant.id, card_id)).number))

    async def correct_holder(self) -> None:
        card_id, _ = self.pick(self.cards)
        holder = self.holder() if self.random.random() < 0.8 else None
        async with self.tenant.db.transaction() as tx:
            await cards.correct_holder(tx, self.tenant.id, card_id, holder, **self.by())

    async def erase_holder(self) -> None:
        async with self.tenant.db.transaction() as tx:
            await cards.erase_holder(tx, self.tenant.id, self.pick(self.cards)[0], **self.by())

    async def change_card(self) -> None:
        to = self.random.choices([CardStatus.ACTIVE, CardStatus.SUSPENDED, CardStatus.REVOKED], [5, 4, 1])[0]
        async with self.tenant.db.transaction() as tx:
            card_id, _ = self.pick(self.cards)
            await cards.change_status(tx, self.tenant.id, card_id, to, reason=self.pick(REASONS), **self.by())

    async def replace_card(self) -> None:
        async with self.tenant.db.transaction() as tx:
            card_id, _ = self.pick(self.cards)
            new = await tickets.replace(tx, self.tenant.id, card_id, reason=self.pick(REASONS), **self.by())
        self.cards.append((new.id, new.number))

    async def merge_cards(self) -> None:
        duplicate, kept = self.pick(self.cards)[0], self.pick(self.cards)[0]
        async with self.tenant.db.transaction() as tx:
            await tickets.merge(tx, self.tenant.id, duplicate, kept, reason=self.pick(REASONS), **self.by())

    # Tickets

    async def issue_ticket(self) -> None:
        async with self.tenant.db.transaction() as tx:
            self.keep(await tickets.issue(tx, self.tenant.id, self.request(), **self.by()))

    async def issue_batch(self) -> None:
        async with self.tenant.db.transaction() as tx:
            wanted = [self.request() for _ in range(self.random.randrange(2, 8))]
            made = await tickets.issue_all(tx, self.tenant.id, wanted, **self.by())
            self.keep(*(one for one in made if not isinstance(one, Refusal)))

    async def cancel_ticket(self) -> None:
        async with self.tenant.db.transaction() as tx:
            ticket_id = self.pick(self.tickets)
            await tickets.cancel(tx, self.tenant.id, ticket_id, reason=self.pick(REASONS), **self.by())

    async def transfer_ticket(self) -> None:
        named = self.random.random() < 0.5
        card_id, holder = (self.pick(self.cards)[0], None) if named else (None, self.holder())
        async with self.tenant.db.transaction() as tx:
            ticket_id = self.pick(self.tickets)
            to = await tickets.transfer(tx, self.tenant.id, ticket_id, card_id=card_id, holder=holder, **self.by())
            self.cards.append((to, (await cards.find(tx, self.tenant.id, to)).number))

    async def scan(self) -> None:
        """A few cards at once, of which some may be let in."""
        async with self.tenant.db.autocommit() as tx:
            shown = await tx.rows(SHOWN, self.tenant.id, [self.pick(self.tickets) for _ in range(3)])
        scans = [self.shown(row["event_id"], row["number"]) for row in shown]
        async with self.tenant.db.autocommit() as tx:
            outcomes = await tickets.activate(tx, scans, at=now(), statuses=VERDICT_STATUSES)
        if all(one is None or one.refusal() for one in outcomes):
            raise Refusal("nobody was let in")

    async def let_in(self) -> None:
        """By a person. It uses a ticket, or opens an incident, of which the mirror has nothing."""
        async with self.tenant.db.transaction() as tx:
            shown = await tx.rows(SHOWN, self.tenant.id, [self.pick(self.tickets)])
            card_id, event_id = shown[0]["card_id"], shown[0]["event_id"]
            await incidents.let_in(tx, self.tenant.id, card_id, event_id, reason=self.pick(REASONS), **self.by())

    async def undo_activation(self) -> None:
        async with self.tenant.db.transaction() as tx:
            ticket_id = self.pick(self.tickets)
            await tickets.undo_activation(tx, self.tenant.id, ticket_id, reason=self.pick(REASONS), **self.by())

    # Imports

    async def apply_import(self) -> None:
        event_id, category_id = self.pick(self.categories)
        rows = "".join(f"{self.name()},{self.email()},{new_id()}\n" for _ in range(4))
        desk = Desk(self.tenant, category_id)
        import_id = await desk.stage(f"name,email,reference\n{rows}", event_id=event_id)
        await desk.name(import_id, category_id=category_id, companions=self.random.random() < 0.5)
        await desk.worked(import_id)
        await desk.apply(import_id)
        self.imports.append(import_id)
        await self.load()

    async def undo_import(self) -> None:
        await Desk(self.tenant, self.tenant.category_id).undone(self.pick(self.imports))
        await self.load()


# How often each is tried, beside the others.
TRIED: Final[dict[Callable[[History], Awaitable[None]], int]] = {
    History.create_event: 2,
    History.duplicate_event: 1,
    History.edit_event: 4,
    History.delete_event: 4,
    History.publish_event: 6,
    History.end_event: 1,
    History.end_past_events: 1,
    History.cancel_event: 1,
    History.add_category: 4,
    History.edit_category: 6,
    History.remove_category: 3,
    History.issue_card: 4,
    History.register_card: 8,
    History.correct_holder: 5,
    History.erase_holder: 3,
    History.change_card: 12,
    History.replace_card: 4,
    History.merge_cards: 1,
    History.issue_ticket: 20,
    History.issue_batch: 6,
    History.cancel_ticket: 6,
    History.transfer_ticket: 12,
    History.scan: 16,
    History.let_in: 3,
    History.undo_activation: 10,
    History.apply_import: 2,
    History.undo_import: 1,
}

FIRST_END: Final = "SELECT min(ends_at) FROM event WHERE organization_id = $1 AND status = 'published'"

SHOWN: Final = """
    SELECT t.event_id, t.card_id, c.number
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
     WHERE t.organization_id = $1
       AND t.id = ANY ($2)
"""
