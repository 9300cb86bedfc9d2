"""The world of a run: an organization with an event, many tickets, a key for the gates and a webhook endpoint.

GATEPASS_ENCRYPTION_KEYS=… python -m tests.ha.world DATABASE_URL TICKETS RECEIVER_URL OUT.json
"""

import asyncio
import json
import os
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Self
from uuid import UUID

from nacl.signing import SigningKey

from gatepass.base.database import Database, Tx
from gatepass.base.encryption import Vault
from gatepass.domain import cards, events, keys, maintenance, organizations, tickets, webhooks
from gatepass.domain.cards import format_number, signing_keys, token
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.webhooks import MessageType
from tests import factory

BY = "failover lab"
# No gate may be refused for its rate.
RATE = 1_000_000
BATCH = 10_000


@dataclass(frozen=True)
class World:
    """`secret` signs the webhooks, `signing_key` the tokens (hex). Cards are counted from 0."""

    organization_id: str
    event_id: str
    key: str
    secret: str
    signing_key: str
    card_prefix: str
    tickets: int
    tokens_until: int

    @classmethod
    def read(cls, path: Path) -> Self:
        return cls(**json.loads(path.read_text()))

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=2) + "\n")

    def card(self, n: int) -> str:
        if n >= self.tickets:
            raise IndexError(f"the world has {self.tickets} cards")
        return format_number(self.card_prefix, n)

    def token(self, card: str) -> str:
        return token.sign(card, datetime.fromtimestamp(self.tokens_until, UTC), self._signing_key)

    @cached_property
    def organization(self) -> UUID:
        return UUID(self.organization_id)

    @cached_property
    def _signing_key(self) -> SigningKey:
        return SigningKey(bytes.fromhex(self.signing_key))


async def create(db: Database, vault: Vault, *, count: int, receiver_url: str) -> World:
    at = datetime.now(UTC)
    until = at + timedelta(days=2)
    await maintenance.run_due(db, at=at)
    async with db.transaction() as tx:
        organization = await organizations.create(tx, "Harbour Nights", at=at)
        signing_key = await _signing_key(tx, organization.id, vault, at)
        key = await keys.issue(
            tx, organization.id, "gates", Mode.LIVE, [Scope.ADMIN], cell="a", by=BY, at=at,
            rate_per_second=RATE, burst=RATE,
        )  # fmt: skip
        event_id = await events.create(tx, organization.id, "Opening", at, until, by=BY, at=at)
        category_id = await events.add_category(
            tx, organization.id, event_id, "General", Decimal(25), "EUR", count, by=BY, at=at
        )
        await events.change_status(tx, organization.id, event_id, EventStatus.PUBLISHED, by=BY, at=at)
        _, secret = await webhooks.create_endpoint(
            tx, organization.id, Mode.LIVE, vault, url=receiver_url, types=[MessageType.TICKET_ACTIVATED],
            description=None, allow_private=True, by=BY, at=at,
        )  # fmt: skip
    for first in range(0, count, BATCH):
        async with db.transaction() as tx:
            await tickets.load(
                tx, organization.id, event_id, [category_id], min(BATCH, count - first),
                prefix=organization.card_prefix, at=at, first_serial=first,
            )  # fmt: skip
    return World(
        organization_id=str(organization.id),
        event_id=str(event_id),
        key=key.text,
        secret=secret,
        signing_key=signing_key.hex(),
        card_prefix=organization.card_prefix,
        tickets=count,
        tokens_until=int(until.timestamp()),
    )


async def _signing_key(tx: Tx, organization_id: UUID, vault: Vault, at: datetime) -> bytes:
    key_id = await cards.rotate(tx, organization_id, vault, by=BY, at=at)
    sealed = await tx.value("SELECT sealed_private_key FROM signing_key WHERE organization_id = $1", organization_id)
    return vault.open(sealed, signing_keys.private_key_context(organization_id, key_id))


async def main(database_url: str, count: int, receiver_url: str, out: Path) -> None:
    db = factory.database(database_url, deadline=60)
    vault = Vault(os.environ["GATEPASS_ENCRYPTION_KEYS"].split(","))
    try:
        (await create(db, vault, count=count, receiver_url=receiver_url)).write(out)
    finally:
        await db.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])))
