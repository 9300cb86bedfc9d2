"""A factory of organizations with keys, events, cards and tickets, made by the domain's own verbs.

And of what reaches a database: it waits longer than production does, because a machine that runs tests is slow.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from ipaddress import ip_network
from typing import Any
from uuid import UUID

import psycopg
from pydantic import SecretStr

from gatepass.base.database import Database, Tx
from gatepass.base.encryption import Vault, new_key
from gatepass.base.ids import new_id
from gatepass.base.settings import Settings
from gatepass.domain import cards, events, keys, organizations, tickets, twin, webhooks
from gatepass.domain.cards import Card, CardStatus, Signer
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import IssuedKey, Mode, Scope
from gatepass.domain.organizations import Organization
from gatepass.domain.tickets import TicketRequest
from gatepass.domain.webhooks import Message, MessageType

BY = "test"
KEY = new_key()
VAULT = Vault([KEY])
# Seconds. No answer of a test depends on how busy the machine is. A test of a deadline, or of overload, passes its own.
PATIENCE = 30.0


def now() -> datetime:
    return datetime.now(UTC)


def settings(database_url: str, **different: Any) -> Settings:
    """The settings of an application in this process."""
    usual: dict[str, Any] = {
        "encryption_keys": [SecretStr(KEY)],
        "database_deadline": PATIENCE,
        "metrics_port": 0,
        "worker_metrics_port": 0,
        "log_level": "error",
    }
    return Settings(database_url=SecretStr(database_url), **{**usual, **different})


def environment(database_url: str) -> dict[str, str]:
    """Which database a process of its own uses, and how long it waits for it."""
    return {"GATEPASS_DATABASE_URL": database_url, "GATEPASS_DATABASE_DEADLINE": str(PATIENCE)}


def database(url: str, *, connections: int = 8, deadline: float = PATIENCE, name: str = "gatepass") -> Database:
    return Database(url, connections=connections, deadline=deadline, name=name, acquire_within=deadline)


@dataclass
class Tenant:
    """An organization with one published event, one category, and verbs to fill it."""

    db: Database
    organization: Organization
    event_id: UUID
    category_id: UUID
    sign: Signer
    cell: str = "a"

    @property
    def id(self) -> UUID:
        return self.organization.id

    async def key(
        self,
        *scopes: Scope,
        mode: Mode = Mode.LIVE,
        rate: int | None = 5_000,
        expires_at: datetime | None = None,
        networks: str | None = None,
    ) -> IssuedKey:
        async with self.db.transaction() as tx:
            return await keys.issue(
                tx,
                twin.owner_of(self.id),
                "test key",
                mode,
                scopes or [Scope.ADMIN],
                cell=self.cell,
                by=BY,
                at=now(),
                rate_per_second=rate,
                burst=rate * 2 if rate else None,
                expires_at=expires_at,
                allowed_networks=[ip_network(networks)] if networks else None,
            )

    async def card(self, *, with_ticket: bool = True, event_id: UUID | None = None) -> Card:
        async with self.db.transaction() as tx:
            card = await cards.issue(tx, self.id, by=BY, at=now())
            if with_ticket:
                await self._issue(tx, event_id or self.event_id, card)
        return card

    async def ticket(self, card: Card) -> UUID:
        async with self.db.transaction() as tx:
            return await self._issue(tx, self.event_id, card)

    async def _issue(self, tx: Tx, event_id: UUID, card: Card) -> UUID:
        request = TicketRequest(event_id, self.category_id, card_id=card.id)
        return (await tickets.issue(tx, self.id, request, by=BY, at=now())).ticket_id

    async def move_card(self, card: Card, to: CardStatus) -> None:
        async with self.db.transaction() as tx:
            await cards.change_status(tx, self.id, card.id, to, by=BY, at=now(), reason="test")

    async def move_event(self, event_id: UUID, to: EventStatus) -> None:
        async with self.db.transaction() as tx:
            await events.change_status(tx, self.id, event_id, to, by=BY, at=now(), reason="test")

    async def event(self, *, starts_in: timedelta = timedelta(hours=1), status: EventStatus | None = None) -> UUID:
        async with self.db.transaction() as tx:
            event_id = await _event(tx, self.id, starts_in)
            for step in _path_to(status or EventStatus.PUBLISHED):
                await events.change_status(tx, self.id, event_id, step, by=BY, at=now())
        return event_id

    async def endpoint(self, url: str, *types: MessageType, mode: Mode = Mode.LIVE) -> tuple[UUID, str]:
        """An endpoint that asks for activations, or for these; its id and its secret."""
        async with self.db.transaction() as tx:
            made, secret = await webhooks.create_endpoint(
                tx, self.id, mode, VAULT, url=url, types=types or (MessageType.TICKET_ACTIVATED,), description=None,
                allow_private=True, by=BY, at=now(),
            )  # fmt: skip
        return made.id, secret

    async def tell(
        self, count: int = 1, *, type: MessageType = MessageType.TICKET_ACTIVATED, about: UUID | None = None
    ) -> list[UUID]:
        """Emit messages without a cause; their ids. The feed has them when this returns."""
        messages = [Message(new_id(), type, {"n": n}, ordering_key=about) for n in range(count)]
        async with self.db.transaction() as tx:
            await webhooks.emit(tx, self.id, messages, at=now())
            own = await tx.value("SELECT pg_current_xact_id()")
        await self._until_finished(own)
        return [message.id for message in messages]

    async def _until_finished(self, transaction: int) -> None:
        """The feed waits for all that began earlier, such as one of autovacuum or of a call that was cut off."""
        async with asyncio.timeout(PATIENCE), self.db.autocommit() as tx:
            while not await tx.value(FINISHED, transaction):  # noqa: ASYNC110  a transaction tells nobody
                await asyncio.sleep(0.01)

    def token(self, card: Card, *, valid_for: timedelta = timedelta(days=1)) -> str:
        return self.sign(card.number, now() + valid_for)


FINISHED = "SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1"


def _path_to(status: EventStatus) -> Iterable[EventStatus]:
    return {
        EventStatus.DRAFT: [],
        EventStatus.PUBLISHED: [EventStatus.PUBLISHED],
        EventStatus.CANCELLED: [EventStatus.CANCELLED],
        EventStatus.ENDED: [EventStatus.PUBLISHED, EventStatus.ENDED],
    }[status]


async def _event(tx: object, organization_id: UUID, starts_in: timedelta) -> UUID:
    start = now() + starts_in
    return await events.create(
        tx,  # pyright: ignore[reportArgumentType]
        organization_id,
        "Summer Opening",
        start,
        start + timedelta(hours=4),
        by=BY,
        at=now(),
        venue="Hall 1",
        city="Brussels",
        country="BE",
    )


async def tenant(db: Database, *, places: int = 100_000, card_prefix: str = "SVC", cell: str = "a") -> Tenant:
    """A fresh organization. Tests share a database without conflicts: all rows belong to one organization."""
    async with db.transaction() as tx:
        organization = await organizations.create(tx, "Harbour Nights", at=now(), card_prefix=card_prefix)
        await cards.rotate(tx, organization.id, VAULT, by=BY, at=now())
    return await _with_event(db, organization, places, cell)


async def sandbox_twin(owner: Tenant, *, places: int = 100_000) -> Tenant:
    """The sandbox twin of an organization, with an event of its own. Its keys are the owner's."""
    async with owner.db.transaction() as tx:
        await twin.open_for_changes(tx, owner.id, at=now())
    made = replace(owner.organization, id=twin.twin_id(owner.id))
    return await _with_event(owner.db, made, places, owner.cell)


async def _with_event(db: Database, organization: Organization, places: int, cell: str) -> Tenant:
    async with db.transaction() as tx:
        sign = await cards.signer(tx, organization.id, VAULT, at=now())
        event_id = await _event(tx, organization.id, timedelta(hours=1))
        category_id = await events.add_category(
            tx, organization.id, event_id, "General", Decimal("25.50"), "EUR", places, by=BY, at=now()
        )
        await events.change_status(tx, organization.id, event_id, EventStatus.PUBLISHED, by=BY, at=now())
    return Tenant(db, organization, event_id, category_id, sign, cell)


def unused_cards(database_url: str, event_id: str, most: int) -> list[str]:
    """The numbers of cards whose ticket for this event can be activated."""
    with psycopg.connect(database_url) as db:
        return [number for (number,) in db.execute(UNUSED_CARDS, [event_id, most])]


UNUSED_CARDS = """
    SELECT c.number
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
     WHERE t.event_id = %s
       AND t.activated_at IS NULL
       AND t.cancelled_at IS NULL
       AND c.status = 'active'
     ORDER BY c.number
     LIMIT %s
"""
