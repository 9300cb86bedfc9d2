"""A demo organization: its signing key, its API keys, and a card for each answer that a gate can get."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.api.responses import VERDICT_STATUSES
from gatepass.base.clock import system_clock
from gatepass.base.database import Database, Tx
from gatepass.base.ids import new_id
from gatepass.base.settings import Settings
from gatepass.cli.demo.events import Category
from gatepass.domain import cards, keys, organizations, tickets
from gatepass.domain.cards import Card, CardStatus
from gatepass.domain.keys import IssuedKey, Mode, Scope
from gatepass.domain.organizations import Organization
from gatepass.domain.tickets import Scan, TicketRequest
from gatepass.domain.tickets.bulk_load import LoadedTicket

BY: Final = "demo"
REASON: Final = "to show what a gate is told"
TOKEN_LIFE: Final = timedelta(days=365)
LONG_PAST: Final = timedelta(days=-1)
# The acceptance checks and load tests call faster than a gate does.
FAST_PER_SECOND: Final = 1000
FAST_BURST: Final = 2000
NARROW_KEYS: Final = {
    "events_read": Scope.EVENTS_READ,
    "cards_verify": Scope.CARDS_VERIFY,
    "tickets_activate": Scope.TICKETS_ACTIVATE,
    "webhooks_read": Scope.WEBHOOKS_READ,
}
HOLDERS: Final = {
    "activated": "Ada Peeters",
    "suspended": "Bram Claes",
    "revoked": "Chloé Dubois",
    "expired_token": "Daan Maes",
    "no_ticket": "Elif Yilmaz",
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
class DemoOrganization:
    """A demo organization, and what its cards and keys are made with."""

    organization: Organization
    sign: cards.Signer
    cell: str
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


async def create(tx: Tx, settings: Settings, name: str) -> DemoOrganization:
    at, vault = system_clock(), settings.vault()
    organization = await organizations.create(tx, name, at=at, time_zone="Europe/Brussels", demo=True)
    await cards.rotate(tx, organization.id, vault, by=BY, at=at)
    return DemoOrganization(organization, await cards.signer(tx, organization.id, vault, at=at), settings.cell, at)


async def issue_keys(tx: Tx, owner: DemoOrganization) -> dict[str, IssuedKey]:
    """One with every scope in each mode, one for each other scope, and one that is revoked."""
    issued = {
        "live": await issue_key(tx, owner, "live", fast=True),
        "sandbox": await issue_key(tx, owner, "sandbox", mode=Mode.SANDBOX, fast=True),
    }
    for name, scope in NARROW_KEYS.items():
        issued[name] = await issue_key(tx, owner, name, scope)
    issued["revoked"] = await issue_key(tx, owner, "revoked")
    await keys.revoke(tx, owner.id, issued["revoked"].id, by=BY, at=owner.at)
    return issued


async def issue_key(
    tx: Tx,
    owner: DemoOrganization,
    name: str,
    scope: Scope = Scope.ADMIN,
    *,
    mode: Mode = Mode.LIVE,
    fast: bool = False,
) -> IssuedKey:
    return await keys.issue(
        tx,
        owner.id,
        name,
        mode,
        [scope],
        cell=owner.cell,
        by=BY,
        at=owner.at,
        rate_per_second=FAST_PER_SECOND if fast else None,
        burst=FAST_BURST if fast else None,
    )


async def issue_cards(
    db: Database, owner: DemoOrganization, event_id: UUID, category_id: UUID, key_id: UUID
) -> dict[str, ShownCard]:
    """A card for each of HOLDERS. One is really scanned, in a transaction of its own, as every scan is."""
    made: dict[str, Card] = {}
    async with db.transaction() as tx:
        for name, holder in HOLDERS.items():
            made[name] = await cards.issue(tx, owner.id, by=BY, at=owner.at, holder_name=holder)
            if name != "no_ticket":
                request = TicketRequest(event_id, category_id, card_id=made[name].id)
                await tickets.issue(tx, owner.id, request, by=BY, at=owner.at)
        for status in (CardStatus.SUSPENDED, CardStatus.REVOKED):
            await cards.change_status(tx, owner.id, made[status].id, status, by=BY, at=owner.at, reason=REASON)
    async with db.autocommit() as tx:
        scan = _scan(owner, event_id, made["activated"].number, key_id)
        await tickets.activate(tx, [scan], at=owner.at, statuses=VERDICT_STATUSES)
    return {
        name: owner.shown(card, LONG_PAST if name == "expired_token" else TOKEN_LIFE) for name, card in made.items()
    }


def _scan(owner: DemoOrganization, event_id: UUID, card_number: str, key_id: UUID) -> Scan:
    return Scan(
        request_id=new_id(),
        organization_id=owner.id,
        mode=Mode.LIVE,
        key_id=key_id,
        address=None,
        elapsed_us=0,
        idempotency_key=None,
        event_id=event_id,
        card_number=card_number,
        shown=card_number,
        expired=False,
        gate="North 2",
        scanner_id=BY,
        occurred_at=None,
    )
