"""Staging the demo: two organizations, with keys, events, cards and tickets in every state that the API knows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.api.errors import VERDICT_STATUSES
from gatepass.base.clock import system_clock
from gatepass.base.database import Database, Tx
from gatepass.base.ids import new_id
from gatepass.base.settings import Settings
from gatepass.cli import filling, programme
from gatepass.cli.programme import Category
from gatepass.domain import cards, demonstration, keys, organizations, tickets
from gatepass.domain.cards import Card, CardStatus
from gatepass.domain.keys import IssuedKey, Mode, Scope
from gatepass.domain.organizations import Organization
from gatepass.domain.tickets import Scan
from gatepass.domain.tickets.loading import LoadedTicket

BY: Final = "demo"
REASON: Final = "to show what a gate is told"
TOKEN_LIFE: Final = timedelta(days=365)
LONG_AGO: Final = timedelta(days=-1)
# Beside the cards that `--tickets` asks for, a handful of others have tickets.
SPARE_PLACES: Final = 100
# The acceptance checks and load tests call faster than one gate would.
FAST: Final = {"rate_per_second": 1000, "burst": 2000}
NARROW_KEYS: Final = {
    "events_read": Scope.EVENTS_READ,
    "cards_verify": Scope.CARDS_VERIFY,
    "tickets_activate": Scope.TICKETS_ACTIVATE,
    "webhooks_read": Scope.WEBHOOKS_READ,
}


@dataclass(frozen=True, slots=True)
class ShownCard:
    card_number: str
    token: str


@dataclass(frozen=True, slots=True)
class UnusedCard:
    card_number: str
    token: str
    tier: str
    category_name: str


@dataclass(frozen=True, slots=True)
class Demo:
    """What `gatepass demo --json` prints; the acceptance checks rely on its shape."""

    base_url: str
    organization_id: str
    keys: dict[str, str]
    events: dict[str, str]
    cards: dict[str, ShownCard | list[UnusedCard]]


@dataclass(frozen=True, slots=True)
class Stage:
    """One of the two organizations while it is being furnished."""

    organization: Organization
    sign: cards.Signer
    at: datetime

    @property
    def id(self) -> UUID:
        return self.organization.id

    def shown(self, card: Card, valid_for: timedelta = TOKEN_LIFE) -> ShownCard:
        return ShownCard(card.number, self.sign(card.number, self.at + valid_for))

    def unused(self, ticket: LoadedTicket, categories: Mapping[UUID, Category]) -> UnusedCard:
        category = categories[ticket.category_id]
        token = self.sign(ticket.card_number, self.at + TOKEN_LIFE)
        return UnusedCard(ticket.card_number, token, category.tier, category.name)


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


async def stage(db: Database, settings: Settings, count: int, loaded: Callable[[int], None]) -> Demo:
    """Make both organizations, with `count` unused cards in the first."""
    here = await _open(db, settings, "Gatepass Demo")
    elsewhere = await _open(db, settings, "Other Demo")
    async with db.transaction() as tx:
        issued = await _issue_keys(tx, here, settings.cell)
        other_key = await _key(tx, elsewhere, "other_organization", settings.cell)
        event_ids, categories = await _announce_all(tx, here, count + SPARE_PLACES)
        other_event, _ = await programme.announce(
            tx, elsewhere.id, programme.ELSEWHERE, SPARE_PLACES, by=BY, at=elsewhere.at
        )
        other_card = await cards.issue(tx, elsewhere.id, by=BY, at=elsewhere.at)
    general, *others = categories
    # Loaded before single cards are made: those draw another number when theirs is taken, COPY cannot.
    made = await filling.fill(
        db, here.organization, event_ids["published"], ([general], others), count, at=here.at, loaded=loaded
    )
    special = await _issue_cards(db, here, event_ids["published"], general, issued["live"].id)
    async with db.statement() as tx:
        await demonstration.analyze(tx)
    return Demo(
        settings.base_url,
        str(here.id),
        {name: key.text for name, key in (issued | {"other_organization": other_key}).items()},
        {name: str(id) for name, id in (event_ids | {"other_organization": other_event}).items()},
        {
            "unused": [here.unused(ticket, categories) for ticket in made],
            **special,
            "other_organization": elsewhere.shown(other_card),
        },
    )


async def _open(db: Database, settings: Settings, name: str) -> Stage:
    at = system_clock()
    async with db.transaction() as tx:
        organization = await organizations.found(tx, name, at=at, demo=True)
        await cards.rotate(tx, organization.id, settings.vault(), by=BY, at=at)
        return Stage(organization, await cards.signer(tx, organization.id, settings.vault()), at)


async def _issue_keys(tx: Tx, here: Stage, cell: str) -> dict[str, IssuedKey]:
    issued = {
        "live": await _key(tx, here, "live", cell, **FAST),
        "sandbox": await _key(tx, here, "sandbox", cell, mode=Mode.SANDBOX, **FAST),
    }
    for name, scope in NARROW_KEYS.items():
        issued[name] = await _key(tx, here, name, cell, scope=scope)
    issued["revoked"] = await _key(tx, here, "revoked", cell)
    await keys.revoke(tx, here.id, issued["revoked"].id, by=BY, at=here.at)
    return issued


async def _key(
    tx: Tx,
    owner: Stage,
    name: str,
    cell: str,
    *,
    mode: Mode = Mode.LIVE,
    scope: Scope = Scope.ADMIN,
    rate_per_second: int | None = None,
    burst: int | None = None,
) -> IssuedKey:
    return await keys.issue(
        tx, owner.id, name, mode, [scope], cell=cell, by=BY, at=owner.at, rate_per_second=rate_per_second, burst=burst
    )


async def _announce_all(tx: Tx, here: Stage, capacity: int) -> tuple[dict[str, UUID], dict[UUID, Category]]:
    """Every event by its name in the JSON, and the categories of the one that the cards have tickets for."""
    announced = {
        name: await programme.announce(tx, here.id, billing, capacity, by=BY, at=here.at)
        for name, billing in programme.PROGRAMME.items()
    }
    for billing in programme.ALSO_PUBLISHED:
        await programme.announce(tx, here.id, billing, capacity, by=BY, at=here.at)
    return {name: event_id for name, (event_id, _) in announced.items()}, announced["published"][1]


async def _issue_cards(
    db: Database, here: Stage, event_id: UUID, category_id: UUID, key_id: UUID
) -> dict[str, ShownCard | list[UnusedCard]]:
    """One card for each thing that a gate can be told."""
    made: dict[str, Card] = {}
    async with db.transaction() as tx:
        for name, holder in HOLDERS.items():
            made[name] = await cards.issue(tx, here.id, by=BY, at=here.at, holder_name=holder)
            if name != "no_ticket":
                await tickets.issue(tx, here.id, event_id, category_id, made[name].id, by=BY, at=here.at)
        for status in (CardStatus.SUSPENDED, CardStatus.REVOKED):
            await cards.move(tx, here.id, made[status].id, status, by=BY, at=here.at, reason=REASON)
    async with db.statement() as tx:
        scan = _scan(here, event_id, made["activated"].number, key_id)
        await tickets.activate(tx, [scan], at=here.at, statuses=VERDICT_STATUSES)
    return {name: here.shown(card, LONG_AGO if name == "expired_token" else TOKEN_LIFE) for name, card in made.items()}


def _scan(here: Stage, event_id: UUID, card_number: str, key_id: UUID) -> Scan:
    return Scan(
        request_id=new_id(),
        organization_id=here.id,
        mode=Mode.LIVE,
        key_id=key_id,
        address=None,
        elapsed_us=0,
        retry_key=None,
        event_id=event_id,
        card_number=card_number,
        shown=card_number,
        expired=False,
        gate="North 2",
        scanner_id=BY,
        occurred_at=None,
    )


HOLDERS: Final = {
    "activated": "Ada Peeters",
    "suspended": "Bram Claes",
    "revoked": "Chloé Dubois",
    "expired_token": "Daan Maes",
    "no_ticket": "Elif Yilmaz",
}
