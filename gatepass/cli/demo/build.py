"""Build the demo: two organizations, with keys, events, cards and tickets in every state that the API knows."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from gatepass.base.database import Database, Tx
from gatepass.base.settings import Settings
from gatepass.cli import database
from gatepass.cli.demo import events, load, organization
from gatepass.cli.demo.events import Category
from gatepass.cli.demo.organization import BY, DemoOrganization, ShownCard, UnusedCard
from gatepass.domain import cards, demo, tickets
from gatepass.domain.keys import IssuedKey
from gatepass.domain.tickets import TicketRequest

TICKETS: Final = 300
# Other cards than those of `--tickets` have tickets too, fewer than this.
SPARE_CAPACITY: Final = 100
# A smaller number of tickets is loaded before a progress bar could be read.
PROGRESS_BAR_FROM: Final = 5_000


@dataclass(frozen=True, slots=True)
class Demo:
    """The output of `gatepass demo --json`; the acceptance checks rely on its shape."""

    base_url: str
    organization_id: str
    keys: dict[str, str]
    events: dict[str, str]
    cards: dict[str, ShownCard | list[UnusedCard]]


@dataclass(frozen=True, slots=True)
class SecondOrganization:
    """A key, an event and a card, to show that the first organization cannot see them."""

    key: IssuedKey
    event_id: UUID
    card: ShownCard


async def build(settings: Settings, *, count: int = TICKETS, reset: bool = False) -> Demo:
    """Make the demo in the configured database, with `count` unused cards; `reset` first deletes earlier ones."""
    async with database.database(settings) as db:
        if reset:
            with Console(stderr=True).status("Clearing the demo made earlier"):
                await _clear(db)
        with _progress_bar(count) as loaded:
            return await _build(db, settings, count, loaded)


async def _clear(db: Database) -> None:
    """Delete every demo organization and everything that belongs to it."""
    async with db.autocommit() as tx:
        found = await demo.organizations(tx)
    for organization_id in found:
        for clear_some in (demo.clear_some_tickets, demo.clear_some_cards):
            last: UUID | None = demo.BEFORE_ALL
            while last is not None:
                async with db.transaction() as tx:
                    last = await clear_some(tx, organization_id, last)
        async with db.transaction() as tx:
            await demo.clear(tx, organization_id)


async def _build(db: Database, settings: Settings, count: int, loaded: Callable[[int], None]) -> Demo:
    async with db.transaction() as tx:
        first = await organization.create(tx, settings, "Gatepass Demo")
        issued = await organization.issue_keys(tx, first)
        event_ids, categories = await _create_events(tx, first, count + SPARE_CAPACITY)
        second = await _create_second_organization(tx, settings)
    general, *others = categories
    # Loaded before single cards are issued: those draw another number when theirs is taken, COPY cannot.
    made = await load.load(
        db, first.organization, event_ids["published"], ([general], others), count, at=first.at, loaded=loaded
    )
    special = await organization.issue_cards(db, first, event_ids["published"], general, issued["live"].id)
    async with db.autocommit() as tx:
        await demo.analyze(tx)
    unused = [first.unused(ticket, categories) for ticket in made]
    other = "other_organization"
    return Demo(
        base_url=settings.base_url,
        organization_id=str(first.id),
        keys={name: key.text for name, key in issued.items()} | {other: second.key.text},
        events={name: str(id) for name, id in event_ids.items()} | {other: str(second.event_id)},
        cards={"unused": unused, **special, other: second.card},
    )


async def _create_events(
    tx: Tx, owner: DemoOrganization, capacity: int
) -> tuple[dict[str, UUID], dict[UUID, Category]]:
    """Every event by its name in the JSON, and the categories of the one that the cards have tickets for."""
    created = {
        name: await events.create(tx, owner.id, event, capacity, by=BY, at=owner.at)
        for name, event in events.EVENTS.items()
    }
    for event in events.ALSO_PUBLISHED:
        await events.create(tx, owner.id, event, capacity, by=BY, at=owner.at)
    return {name: event_id for name, (event_id, _) in created.items()}, created["published"][1]


async def _create_second_organization(tx: Tx, settings: Settings) -> SecondOrganization:
    second = await organization.create(tx, settings, "Other Demo")
    key = await organization.issue_key(tx, second, "other_organization")
    event_id, categories = await events.create(
        tx, second.id, events.OF_SECOND_ORGANIZATION, SPARE_CAPACITY, by=BY, at=second.at
    )
    card = await cards.issue(tx, second.id, by=BY, at=second.at)
    request = TicketRequest(event_id, next(iter(categories)), card_id=card.id)
    await tickets.issue(tx, second.id, request, by=BY, at=second.at)
    return SecondOrganization(key, event_id, second.shown(card))


class _Speed(ProgressColumn):
    """The average since the beginning; rich's own is of the last few batches only."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.completed / task.elapsed if task.elapsed else 0:,.0f} tickets/s")


@contextmanager
def _progress_bar(count: int) -> Generator[Callable[[int], None]]:
    columns = (TextColumn("Loading"), BarColumn(), MofNCompleteColumn(), _Speed(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=count < PROGRESS_BAR_FROM) as progress:
        task = progress.add_task("Loading", total=count)
        yield lambda size: progress.advance(task, size)
