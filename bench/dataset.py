"""What the bench scans: organizations, each with an event and its tickets, loaded by COPY."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import psycopg
from rich.progress import Progress, TaskID

from gatepass.base.database import Database
from gatepass.base.vault import Vault, new_key
from gatepass.domain import cards, events, keys, organizations, tickets, upkeep
from gatepass.domain.cards import Signer
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode, Scope

BATCH = 20_000
BY = "bench"
# Far above what is measured: the bench is about the engine, not the limiter.
RATE = 10_000_000
WITH_TOKENS = 200_000

CARDS = """
    CREATE TABLE bench_card AS
    SELECT row_number() OVER (ORDER BY hashtextextended(t.id::text, 0)) - 1 AS n,
           t.organization_id, t.event_id, c.number, k.id AS key_id
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
      JOIN api_key k ON k.organization_id = t.organization_id
"""


@dataclass
class World:
    """`plan` has a line a ticket, in scattered order: key, event, card number, and for the first ones a token."""

    plan: Path
    tickets: int


async def _organization(
    db: Database, tickets_wanted: int, vault: Vault, progress: Progress, task: TaskID
) -> tuple[UUID, str, Signer]:
    now = datetime.now(UTC)
    async with db.transaction() as tx:
        organization = await organizations.found(tx, "Bench", at=now)
        await cards.rotate(tx, organization.id, vault, by=BY, at=now)
        sign = await cards.signer(tx, organization.id, vault)
        key = await keys.issue(
            tx, organization.id, "bench", Mode.LIVE, [Scope.ADMIN], cell="a", by=BY, at=now,
            rate_per_second=RATE, burst=RATE,
        )  # fmt: skip
        event_id = await events.create(tx, organization.id, "Bench", now, now + timedelta(hours=9), by=BY, at=now)
        category = await events.add_category(
            tx, organization.id, event_id, "General", Decimal(25), "EUR", tickets_wanted, by=BY, at=now
        )
        await events.move(tx, organization.id, event_id, EventStatus.PUBLISHED, by=BY, at=now)
    for first in range(0, tickets_wanted, BATCH):
        count = min(BATCH, tickets_wanted - first)
        async with db.transaction() as tx:
            await tickets.load(
                tx, organization.id, event_id, [category], count, prefix="SVC", at=now, first_serial=first
            )
        progress.advance(task, count)
    return organization.id, key.text, sign


async def _load(url: str, folder: Path, count: int, organization_count: int, planned: int) -> World:
    db, vault = Database(url, deadline=600), Vault([new_key()])
    await upkeep.keep(db, at=datetime.now(UTC))
    made: dict[UUID, tuple[str, Signer]] = {}
    with Progress(transient=True) as progress:
        task = progress.add_task(f"loading {count:,} tickets", total=count)
        for _ in range(organization_count):
            id, key, sign = await _organization(db, count // organization_count, vault, progress, task)
            made[id] = (key, sign)
    await db.close()
    return _planned(url, folder, made, planned)


def _planned(url: str, folder: Path, made: dict[UUID, tuple[str, Signer]], planned: int) -> World:
    """Number the tickets in a scattered order, for pgbench as a table and for HTTP as a file."""
    plan, count = folder / "plan.txt", 0
    expires = datetime.now(UTC) + timedelta(days=2)
    with psycopg.connect(url, autocommit=True) as connection, plan.open("w") as file:
        connection.execute(CARDS)
        connection.execute("ALTER TABLE bench_card ADD PRIMARY KEY (n)")
        connection.execute("VACUUM ANALYZE")
        with connection.transaction(), connection.cursor("plan") as rows:
            rows.itersize = 50_000
            rows.execute("SELECT organization_id, event_id, number FROM bench_card ORDER BY n LIMIT %s", (planned,))
            for organization_id, event_id, number in rows:
                key, sign = made[organization_id]
                token = sign(number, expires) if count < WITH_TOKENS else "-"
                file.write(f"{key} {event_id} {number.replace(' ', '_')} {token}\n")
                count += 1
    return World(plan, count)


def load(url: str, folder: Path, count: int, organization_count: int, planned: int = 2_000_000) -> World:
    """Load so many tickets; a plan for the first of them, in scattered order. No checkpoint: see README."""
    return asyncio.run(_load(url, folder, count, organization_count, planned))


SUBSCRIBE = """
    INSERT INTO webhook_endpoint (organization_id, id, mode, url, types, sealed_secret, created_at, created_by)
    SELECT id, gen_random_uuid(), 'live', 'https://example.com/', '{ticket.activated}', '', now(), 'bench'
      FROM organization
"""


@contextmanager
def subscribed(url: str) -> Generator[None]:
    """While this lasts, every organization has an endpoint that asks for activations."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SUBSCRIBE)
        yield
        connection.execute("DELETE FROM webhook_endpoint")


RESET = """
    UPDATE ticket SET activated_at = NULL, activated_by = NULL, activated_gate = NULL, activated_scanner_id = NULL
     WHERE activated_at IS NOT NULL
"""


def reset(url: str) -> None:
    """Give every ticket back, and sweep."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(RESET)
        connection.execute("TRUNCATE idempotency, webhook_event, webhook_delivery, webhook_queue")
        connection.execute("VACUUM ANALYZE ticket")


def checkpoint(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
