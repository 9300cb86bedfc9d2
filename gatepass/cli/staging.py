"""Staging the demo: two organizations, with keys, events, cards and tickets in every state that the API knows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.base.database import Database, Tx
from gatepass.base.settings import Settings
from gatepass.cli import filling, furnishing, programme
from gatepass.cli.furnishing import BY, ShownCard, Stage, UnusedCard
from gatepass.cli.programme import Category
from gatepass.domain import cards, demonstration, tickets
from gatepass.domain.keys import IssuedKey

# Beside the cards that `--tickets` asks for, a handful of others have tickets.
SPARE_PLACES: Final = 100


@dataclass(frozen=True, slots=True)
class Demo:
    """What `gatepass demo --json` prints; the acceptance checks rely on its shape."""

    base_url: str
    organization_id: str
    keys: dict[str, str]
    events: dict[str, str]
    cards: dict[str, ShownCard | list[UnusedCard]]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What the other organization has, to show that nobody else can see it."""

    key: IssuedKey
    event_id: UUID
    card: ShownCard


async def stage(db: Database, settings: Settings, count: int, loaded: Callable[[int], None]) -> Demo:
    """Make both organizations, with `count` unused cards in the first; `loaded` is told as they come."""
    async with db.transaction() as tx:
        here = await furnishing.found(tx, settings, "Gatepass Demo")
        issued = await furnishing.issue_keys(tx, here)
        event_ids, categories = await _announce(tx, here, count + SPARE_PLACES)
        elsewhere = await _elsewhere(tx, settings)
    general, *others = categories
    # Loaded before single cards are issued: those draw another number when theirs is taken, COPY cannot.
    made = await filling.fill(
        db, here.organization, event_ids["published"], ([general], others), count, at=here.at, loaded=loaded
    )
    special = await furnishing.issue_cards(db, here, event_ids["published"], general, issued["live"].id)
    async with db.statement() as tx:
        await demonstration.analyze(tx)
    unused = [here.unused(ticket, categories) for ticket in made]
    other = "other_organization"
    return Demo(
        base_url=settings.base_url,
        organization_id=str(here.id),
        keys={name: key.text for name, key in issued.items()} | {other: elsewhere.key.text},
        events={name: str(id) for name, id in event_ids.items()} | {other: str(elsewhere.event_id)},
        cards={"unused": unused, **special, other: elsewhere.card},
    )


async def clear(db: Database) -> None:
    """Take away every demo organization and all that is theirs."""
    async with db.reading() as tx:
        found = await demonstration.organizations(tx)
    for organization_id in found:
        for clear_some in (demonstration.clear_some_tickets, demonstration.clear_some_cards):
            last: UUID | None = demonstration.BEFORE_ALL
            while last is not None:
                async with db.transaction() as tx:
                    last = await clear_some(tx, organization_id, last)
        async with db.transaction() as tx:
            await demonstration.clear(tx, organization_id)


async def _announce(tx: Tx, here: Stage, capacity: int) -> tuple[dict[str, UUID], dict[UUID, Category]]:
    """Every event by its name in the JSON, and the categories of the one that the cards have tickets for."""
    announced = {
        name: await programme.announce(tx, here.id, billing, capacity, by=BY, at=here.at)
        for name, billing in programme.PROGRAMME.items()
    }
    for billing in programme.ALSO_PUBLISHED:
        await programme.announce(tx, here.id, billing, capacity, by=BY, at=here.at)
    return {name: event_id for name, (event_id, _) in announced.items()}, announced["published"][1]


async def _elsewhere(tx: Tx, settings: Settings) -> Elsewhere:
    there = await furnishing.found(tx, settings, "Other Demo")
    key = await furnishing.issue_key(tx, there, "other_organization")
    event_id, categories = await programme.announce(tx, there.id, programme.ELSEWHERE, SPARE_PLACES, by=BY, at=there.at)
    card = await cards.issue(tx, there.id, by=BY, at=there.at)
    await tickets.issue(tx, there.id, event_id, next(iter(categories)), card.id, by=BY, at=there.at)
    return Elsewhere(key, event_id, there.shown(card))
