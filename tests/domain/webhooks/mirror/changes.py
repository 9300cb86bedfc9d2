"""Random changes of one organization, by the verbs that the API, the studio, imports and maintenance share."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as copied
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Final, TypedDict, TypeVar
from uuid import UUID

from gatepass.api.responses import VERDICT_STATUSES
from gatepass.base.errors import Refusal
from gatepass.base.ids import new_id
from gatepass.domain import cards, events, tickets
from gatepass.domain.cards import CardStatus, HolderDetails, format_number
from gatepass.domain.events import CategoryDetails, Details, EventStatus
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import IssuedTicket, Scan, TicketRequest
from tests.domain.imports.conftest import Desk
from tests.factory import BY, Tenant, now

T = TypeVar("T")

# Changes are about the newest things, so that many of them meet.
NEWEST: Final = 150
# In the data of every holder, and of nothing else.
NAME: Final = "Hildegard"
ADDRESS: Final = "@hildegard.example"
REASONS: Final = ("Refunded", 'He said "no"', "Zażółć 🎟", "Lost")


class By(TypedDict):
    by: str
    at: datetime


@dataclass
class Changes:
    """Picks of what there is, and changes of it. A change that is refused is counted as none."""

    tenant: Tenant
    key_id: UUID
    random: Random
    done: Counter[str] = field(default_factory=Counter[str])
    events: list[UUID] = field(default_factory=list[UUID])
    categories: list[tuple[UUID, UUID]] = field(default_factory=list[tuple[UUID, UUID]])
    cards: list[tuple[UUID, str]] = field(default_factory=list[tuple[UUID, str]])
    tickets: list[UUID] = field(default_factory=list[UUID])
    imports: list[UUID] = field(default_factory=list[UUID])

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

    async def load(self) -> None:
        """Read the ids of all that is there, oldest first."""
        async with self.tenant.db.autocommit() as tx:
            self.events = [row["id"] for row in await tx.rows(EVENTS, self.tenant.id)]
            self.categories = [(row["event_id"], row["id"]) for row in await tx.rows(CATEGORIES, self.tenant.id)]
            self.cards = [(row["id"], row["number"]) for row in await tx.rows(CARDS, self.tenant.id)]
            self.tickets = [row["id"] for row in await tx.rows(TICKETS, self.tenant.id)]

    # Events

    async def create_event(self) -> None:
        """Within the 30 days for which the feed stays open, so that its end is told."""
        start = now() + timedelta(hours=self.random.randrange(1, 400))
        async with self.tenant.db.transaction() as tx:
            id = await events.create(tx, self.tenant.id, self._word(), start, start + timedelta(hours=3), **self._by())
        self.events.append(id)

    async def duplicate_event(self) -> None:
        async with self.tenant.db.transaction() as tx:
            days = self.random.choice([-1, 1])
            await events.duplicate(tx, self.tenant.id, self._pick(self.events), days=days, **self._by())
        await self.load()

    async def edit_event(self) -> None:
        event_id = self._pick(self.events)
        async with self.tenant.db.transaction() as tx:
            was = Details.of(await events.lock(tx, self.tenant.id, event_id))
            cover = self.random.choice([None, "https://example.com/a.png", "https://example.com/b.png"])
            new = copied(was, cover_url=cover) if self.random.random() < 0.3 else copied(was, venue=self._word())
            await events.edit(tx, self.tenant.id, event_id, new, **self._by())

    async def delete_event(self) -> None:
        event_id = self._pick(self.events)
        async with self.tenant.db.transaction() as tx:
            await events.delete(tx, self.tenant.id, event_id, **self._by())
        self.events.remove(event_id)
        self.categories = [one for one in self.categories if one[0] != event_id]

    async def publish_event(self) -> None:
        async with self.tenant.db.transaction() as tx:
            await events.publish(tx, self.tenant.id, self._pick(self.events), **self._by())

    async def end_event(self) -> None:
        async with self.tenant.db.transaction() as tx:
            event_id = self._pick(self.events)
            await events.change_status(tx, self.tenant.id, event_id, EventStatus.ENDED, **self._by())

    async def end_past_events(self) -> None:
        async with self.tenant.db.transaction() as tx:
            first = await tx.value(FIRST_END, self.tenant.id)
            if first is None or not await events.end_past_events(tx, at=first + timedelta(hours=7)):
                raise Refusal("no event is published")

    async def cancel_event(self) -> None:
        async with self.tenant.db.transaction() as tx:
            event_id = self._pick(self.events)
            await events.cancel(tx, self.tenant.id, event_id, reason=self._pick(REASONS), **self._by())
        async with self.tenant.db.transaction() as tx:
            await tickets.cancel_some_of_cancelled_events(tx, at=now())

    async def add_category(self) -> None:
        event_id = self._pick(self.events)
        async with self.tenant.db.transaction() as tx:
            category_id = await events.add_category(
                tx, self.tenant.id, event_id, self._word(), Decimal("9.50"), "EUR", 40, **self._by()
            )
        self.categories.append((event_id, category_id))

    async def edit_category(self) -> None:
        event_id, category_id = self._pick(self.categories)
        new = CategoryDetails(self._word(), Decimal(self.random.randrange(50)), "EUR", self.random.randrange(10, 60))
        async with self.tenant.db.transaction() as tx:
            await events.edit_category(tx, self.tenant.id, event_id, category_id, new, **self._by())

    async def remove_category(self) -> None:
        event_id, category_id = self._pick(self.categories)
        async with self.tenant.db.transaction() as tx:
            await events.remove_category(tx, self.tenant.id, event_id, category_id, **self._by())
        self.categories.remove((event_id, category_id))

    # Cards

    async def issue_card(self) -> None:
        async with self.tenant.db.transaction() as tx:
            card = await cards.issue(tx, self.tenant.id, holder_email=self._email(), **self._by())
        self.cards.append((card.id, card.number))

    async def register_card(self) -> None:
        """A new card, or an external id for one that is there."""
        number = format_number("SVC", self.random.randrange(10**11)) if self.random.random() < 0.2 else None
        external_id = f"member-{self.random.randrange(10**9)}" if self.random.random() < 0.7 else None
        async with self.tenant.db.transaction() as tx:
            card_id, is_new = await cards.register(
                tx, self.tenant.id, holder=self._holder(), number=number, external_id=external_id, **self._by()
            )
            if not is_new and external_id is None:
                raise Refusal("nothing was changed")
            self.cards.append((card_id, (await cards.find(tx, self.tenant.id, card_id)).number))

    async def correct_holder(self) -> None:
        card_id, _ = self._pick(self.cards)
        holder = self._holder() if self.random.random() < 0.8 else None
        async with self.tenant.db.transaction() as tx:
            await cards.correct_holder(tx, self.tenant.id, card_id, holder, **self._by())

    async def erase_holder(self) -> None:
        async with self.tenant.db.transaction() as tx:
            await cards.erase_holder(tx, self.tenant.id, self._pick(self.cards)[0], **self._by())

    async def change_card(self) -> None:
        to = self.random.choices([CardStatus.ACTIVE, CardStatus.SUSPENDED, CardStatus.REVOKED], [5, 4, 1])[0]
        async with self.tenant.db.transaction() as tx:
            card_id, _ = self._pick(self.cards)
            await cards.change_status(tx, self.tenant.id, card_id, to, reason=self._pick(REASONS), **self._by())

    async def replace_card(self) -> None:
        async with self.tenant.db.transaction() as tx:
            card_id, _ = self._pick(self.cards)
            new = await tickets.replace(tx, self.tenant.id, card_id, reason=self._pick(REASONS), **self._by())
        self.cards.append((new.id, new.number))

    # Tickets

    async def issue_ticket(self) -> None:
        async with self.tenant.db.transaction() as tx:
            self._keep(await tickets.issue(tx, self.tenant.id, self._request(), **self._by()))

    async def issue_batch(self) -> None:
        async with self.tenant.db.transaction() as tx:
            wanted = [self._request() for _ in range(self.random.randrange(2, 8))]
            made = await tickets.issue_all(tx, self.tenant.id, wanted, **self._by())
            self._keep(*(one for one in made if not isinstance(one, Refusal)))

    async def cancel_ticket(self) -> None:
        async with self.tenant.db.transaction() as tx:
            ticket_id = self._pick(self.tickets)
            await tickets.cancel(tx, self.tenant.id, ticket_id, reason=self._pick(REASONS), **self._by())

    async def transfer_ticket(self) -> None:
        named = self.random.random() < 0.5
        card_id, holder = (self._pick(self.cards)[0], None) if named else (None, self._holder())
        async with self.tenant.db.transaction() as tx:
            ticket_id = self._pick(self.tickets)
            to = await tickets.transfer(tx, self.tenant.id, ticket_id, card_id=card_id, holder=holder, **self._by())
            self.cards.append((to, (await cards.find(tx, self.tenant.id, to)).number))

    async def scan(self) -> None:
        """A few cards at once, of which some may be let in."""
        async with self.tenant.db.autocommit() as tx:
            shown = await tx.rows(SHOWN, self.tenant.id, [self._pick(self.tickets) for _ in range(3)])
        scans = [self._scan(row["event_id"], row["number"]) for row in shown]
        async with self.tenant.db.autocommit() as tx:
            outcomes = await tickets.activate(tx, scans, at=now(), statuses=VERDICT_STATUSES)
        if all(one is None or one.refusal() for one in outcomes):
            raise Refusal("nobody was let in")

    async def undo_activation(self) -> None:
        async with self.tenant.db.transaction() as tx:
            ticket_id = self._pick(self.tickets)
            await tickets.undo_activation(tx, self.tenant.id, ticket_id, reason=self._pick(REASONS), **self._by())

    # Imports

    async def apply_import(self) -> None:
        event_id, category_id = self._pick(self.categories)
        rows = "".join(f"{self._name()},{self._email()},{new_id()}\n" for _ in range(4))
        desk = Desk(self.tenant, category_id)
        import_id = await desk.stage(f"name,email,reference\n{rows}", event_id=event_id)
        await desk.name(import_id, category_id=category_id, companions=self.random.random() < 0.5)
        await desk.worked(import_id)
        await desk.apply(import_id)
        self.imports.append(import_id)
        await self.load()

    async def undo_import(self) -> None:
        await Desk(self.tenant, self.tenant.category_id).undone(self._pick(self.imports))
        await self.load()

    def _request(self) -> TicketRequest:
        event_id, category_id = self._pick(self.categories)
        external_id = f"order-{self.random.randrange(10**9)}" if self.random.random() < 0.5 else None
        kind = self.random.randrange(4)
        card = self._pick(self.cards)
        return TicketRequest(
            event_id,
            category_id,
            card_id=card[0] if kind == 0 else None,
            card_number=card[1] if kind == 1 else None,
            holder=self._holder() if kind == 2 else None,
            external_id=external_id,
        )

    def _keep(self, *made: IssuedTicket) -> None:
        if not made:
            raise Refusal("nothing was made")
        self.tickets += [one.ticket_id for one in made]
        self.cards += [(one.card_id, one.card_number) for one in made if one.made_card]

    def _scan(self, event_id: UUID, number: str) -> Scan:
        occurred_at = now() - timedelta(minutes=3) if self.random.random() < 0.3 else None
        gate = self.random.choice([None, "North 2", 'the "other" one'])
        return Scan(
            new_id(), self.tenant.id, Mode.LIVE, self.key_id, None, 1, None, event_id, number, number,
            expired=False, gate=gate, scanner_id=self.random.choice([None, "handheld\\17"]), occurred_at=occurred_at,
        )  # fmt: skip

    def _pick(self, among: Sequence[T]) -> T:
        if not among:
            raise Refusal("there is none")
        return self.random.choice(among[-NEWEST:])

    def _holder(self) -> HolderDetails:
        return HolderDetails(self._name(), self._email())

    def _email(self) -> str:
        return f"{self.random.randrange(400)}{ADDRESS}"

    def _name(self) -> str:
        return f"{NAME} {self.random.randrange(10**6)}"

    def _word(self) -> str:
        return f"Hall {self.random.randrange(10**6)}"

    def _by(self) -> By:
        return {"by": BY, "at": now()}


# How often each is tried, beside the others.
TRIED: Final[dict[Callable[[Changes], Awaitable[None]], int]] = {
    Changes.create_event: 2,
    Changes.duplicate_event: 1,
    Changes.edit_event: 4,
    Changes.delete_event: 4,
    Changes.publish_event: 6,
    Changes.end_event: 1,
    Changes.end_past_events: 1,
    Changes.cancel_event: 1,
    Changes.add_category: 4,
    Changes.edit_category: 6,
    Changes.remove_category: 3,
    Changes.issue_card: 4,
    Changes.register_card: 8,
    Changes.correct_holder: 5,
    Changes.erase_holder: 3,
    Changes.change_card: 12,
    Changes.replace_card: 4,
    Changes.issue_ticket: 20,
    Changes.issue_batch: 6,
    Changes.cancel_ticket: 6,
    Changes.transfer_ticket: 12,
    Changes.scan: 16,
    Changes.undo_activation: 10,
    Changes.apply_import: 2,
    Changes.undo_import: 1,
}

EVENTS: Final = "SELECT id FROM event WHERE organization_id = $1 ORDER BY created_at, id"

CATEGORIES: Final = """
    SELECT event_id, id FROM ticket_category WHERE organization_id = $1 AND removed_at IS NULL ORDER BY id
"""

CARDS: Final = "SELECT id, number FROM card WHERE organization_id = $1 ORDER BY issued_at, id"

TICKETS: Final = "SELECT id FROM ticket WHERE organization_id = $1 ORDER BY issued_at, id"

FIRST_END: Final = "SELECT min(ends_at) FROM event WHERE organization_id = $1 AND status = 'published'"

SHOWN: Final = """
    SELECT t.event_id, c.number
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
     WHERE t.organization_id = $1
       AND t.id = ANY ($2)
"""
