"""The data of the bench: organizations, each with an event and its tickets, loaded by COPY."""

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import psycopg
from nacl.signing import SigningKey
from rich.progress import Progress, TaskID

from bench.console import wide_console
from gatepass.base.database import Database
from gatepass.base.encryption import Vault, new_key
from gatepass.domain import cards, events, keys, maintenance, organizations, tickets
from gatepass.domain.cards.signing_keys import newest_key
from gatepass.domain.cards.token import sign
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode, Scope

BATCH = 20_000
BY = "bench"
# Far above every measured rate: the bench measures scans, not the limiter.
RATE = 10_000_000
# Signing takes time: at most this many tickets get a token, and at most half of them.
MOST_TOKENS = 200_000
# Seconds without an activation after which none comes from the slice before.
SETTLED = 0.5

CARDS = """
    CREATE TABLE bench_card AS
    SELECT row_number() OVER (ORDER BY hashtextextended(t.id::text, 0)) - 1 AS n,
           t.organization_id, t.event_id, c.number, k.id AS key_id
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
      JOIN api_key k ON k.organization_id = t.organization_id
"""


@dataclass
class Dataset:
    """`plan` has a line for each ticket, in scattered order: key, event, card number, token. `with_tokens` have one.

    `signing_keys` are those that sign cards, by API key.
    """

    plan: Path
    tickets: int
    with_tokens: int
    signing_keys: dict[str, SigningKey] = field(default_factory=dict[str, SigningKey])


async def _organization(
    db: Database, ticket_count: int, vault: Vault, progress: Progress, task: TaskID, cell: str, more_events: int
) -> tuple[UUID, str, SigningKey]:
    now = datetime.now(UTC)
    async with db.transaction() as tx:
        organization = await organizations.create(tx, "Bench", at=now)
        await cards.rotate(tx, organization.id, vault, by=BY, at=now)
        signing_key = await newest_key(tx, organization.id, vault, at=now)
        key = await keys.issue(
            tx, organization.id, "bench", Mode.LIVE, [Scope.ADMIN], cell=cell, by=BY, at=now,
            rate_per_second=RATE, burst=RATE,
        )  # fmt: skip
        event_id = await events.create(tx, organization.id, "Bench", now, now + timedelta(hours=9), by=BY, at=now)
        category = await events.add_category(
            tx, organization.id, event_id, "General", Decimal(25), "EUR", ticket_count, by=BY, at=now
        )
        await events.change_status(tx, organization.id, event_id, EventStatus.PUBLISHED, by=BY, at=now)
        for _ in range(more_events):
            another = await events.create(tx, organization.id, "Bench", now, now + timedelta(hours=9), by=BY, at=now)
            for name in ("General", "Balcony"):
                await events.add_category(tx, organization.id, another, name, Decimal(25), "EUR", 500, by=BY, at=now)
            await events.change_status(tx, organization.id, another, EventStatus.PUBLISHED, by=BY, at=now)
    for first in range(0, ticket_count, BATCH):
        count = min(BATCH, ticket_count - first)
        async with db.transaction() as tx:
            await tickets.load(
                tx, organization.id, event_id, [category], count, prefix="SVC", at=now, first_serial=first
            )
        progress.advance(task, count)
    return organization.id, key.text, signing_key


async def _load(
    url: str, folder: Path, count: int, organization_count: int, planned: int, cell: str, more_events: int
) -> Dataset:
    db, vault = Database(url, deadline=600), Vault([new_key()])
    await maintenance.run_due(db, at=datetime.now(UTC))
    signers: dict[UUID, tuple[str, SigningKey]] = {}
    with Progress(console=wide_console(), transient=True) as progress:
        task = progress.add_task(f"loading {count:,} tickets", total=count)
        for _ in range(organization_count):
            id, key, signing_key = await _organization(
                db, count // organization_count, vault, progress, task, cell, more_events
            )
            signers[id] = (key, signing_key)
    await db.close()
    return _write_plan(url, folder, signers, min(count, planned))


def _write_plan(url: str, folder: Path, signers: dict[UUID, tuple[str, SigningKey]], planned: int) -> Dataset:
    """Number the tickets in a scattered order, for pgbench as a table and for HTTP as a file."""
    plan, with_tokens, count = folder / "plan.txt", min(MOST_TOKENS, planned // 2), 0
    expires = datetime.now(UTC) + timedelta(days=2)
    with psycopg.connect(url, autocommit=True) as connection, plan.open("w") as file:
        connection.execute(CARDS)
        connection.execute("ALTER TABLE bench_card ADD PRIMARY KEY (n)")
        connection.execute("VACUUM ANALYZE")
        with connection.transaction(), connection.cursor("plan") as rows:
            rows.itersize = 50_000
            rows.execute("SELECT organization_id, event_id, number FROM bench_card ORDER BY n LIMIT %s", (planned,))
            for organization_id, event_id, number in rows:
                key, signing_key = signers[organization_id]
                token = sign(number, expires, signing_key) if count < with_tokens else "-"
                file.write(f"{key} {event_id} {number.replace(' ', '_')} {token}\n")
                count += 1
    return Dataset(plan, count, with_tokens, dict(signers.values()))


def load(
    url: str,
    folder: Path,
    count: int,
    organization_count: int,
    planned: int = 2_000_000,
    *,
    cell: str = "a",
    more_events: int = 0,
) -> Dataset:
    """Load `count` tickets, and write a plan of `planned` of them, in scattered order. No checkpoint: see README.

    Each organization has one event with tickets, and `more_events` without.
    """
    return asyncio.run(_load(url, folder, count, organization_count, planned, cell, more_events))


SUBSCRIBE = """
    INSERT INTO webhook_endpoint (organization_id, id, mode, url, types, sealed_secret, created_at, created_by)
    SELECT id, gen_random_uuid(), 'live', 'https://example.com/', '{ticket.activated}', '', now(), 'bench'
      FROM organization
"""


@contextmanager
def subscribed(url: str) -> Generator[None]:
    """Until the block ends, every organization has an endpoint that is subscribed to activations."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SUBSCRIBE)
        yield
        connection.execute("DELETE FROM webhook_endpoint")


RESET = """
    UPDATE ticket SET activated_at = NULL, activated_by = NULL, activated_gate = NULL, activated_scanner_id = NULL
     WHERE activated_at IS NOT NULL
"""


def reset(url: str) -> None:
    """Make every ticket unused again, and vacuum. On a busy machine the calls of the last slice may still come in."""
    with psycopg.connect(url, autocommit=True) as connection:
        before, now = -1, _used(connection)
        while now != before:
            time.sleep(SETTLED)
            before, now = now, _used(connection)
        connection.execute(RESET)
        connection.execute("TRUNCATE idempotency, webhook_event, webhook_delivery, webhook_queue")
        connection.execute("VACUUM ANALYZE ticket")


def _used(connection: psycopg.Connection) -> int:
    ((used,),) = connection.execute("SELECT count(*) FROM ticket WHERE activated_at IS NOT NULL").fetchall()
    return used


def checkpoint(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
