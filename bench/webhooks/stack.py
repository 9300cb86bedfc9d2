"""The stack under every measurement of webhooks: a database, organizations with endpoints, messages, and a worker."""

import asyncio
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg

from gatepass.base.database import Database
from gatepass.base.encryption import Vault, new_key
from gatepass.domain import maintenance, organizations, webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import MessageType
from tests.postgres import Cluster
from tests.processes import GatepassProcess, launch_worker
from tests.receivers import Authority

Connection = psycopg.Connection[tuple[Any, ...]]
BY = "bench"
# Messages in one transaction, when many are written.
BATCH = 1_000
PATIENCE = 60.0


@dataclass
class Stack:
    """The database of the run, and the settings of its worker."""

    cluster: Cluster
    url: str
    authority: Authority = field(default_factory=Authority)
    key: str = field(default_factory=new_key)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "GATEPASS_DATABASE_URL": self.url,
            "GATEPASS_ENCRYPTION_KEYS": self.key,
            "GATEPASS_LOG_LEVEL": "error",
            "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
            "SSL_CERT_FILE": self.authority.pem,
        }

    def connect(self) -> Connection:
        return psycopg.connect(self.url, autocommit=True)

    def prepare(self) -> None:
        """Make the partitions of this week and the next ones, as `gatepass migrate` does."""

        async def keep() -> None:
            db = Database(self.url, deadline=60)
            await maintenance.run_due(db, at=datetime.now(UTC))
            await db.close()

        asyncio.run(keep())

    def add_organization(self, *urls: str) -> UUID:
        """A new organization with an endpoint for each of these URLs, subscribed to activations."""

        async def add() -> UUID:
            db = Database(self.url)
            async with db.transaction() as tx:
                organization = await organizations.create(tx, "Bench", at=datetime.now(UTC))
            await db.close()
            return organization.id

        organization_id = asyncio.run(add())
        self.subscribe(organization_id, *urls)
        return organization_id

    def subscribe(self, organization_id: UUID, *urls: str) -> None:
        async def create() -> None:
            db, vault = Database(self.url), Vault([self.key])
            async with db.transaction() as tx:
                for url in urls:
                    await webhooks.create_endpoint(
                        tx, organization_id, Mode.LIVE, vault, url=url, types=[MessageType.TICKET_ACTIVATED],
                        description=None, allow_private=True, by=BY, at=datetime.now(UTC),
                    )  # fmt: skip
            await db.close()

        asyncio.run(create())

    def clear(self) -> None:
        """Remove all endpoints and messages, and empty the queue."""
        with self.connect() as connection:
            connection.execute(
                "TRUNCATE webhook_event, webhook_delivery, webhook_attempt, webhook_queue, webhook_replay"
            )
            connection.execute("DELETE FROM webhook_endpoint")

    def emit(self, organization_id: UUID, count: int) -> None:
        """Write messages, each for all endpoints of the organization, as if tickets had been activated."""
        with self.connect() as connection:
            for first in range(0, count, BATCH):
                emit(connection, organization_id, min(BATCH, count - first))
            connection.execute("VACUUM ANALYZE webhook_queue, webhook_delivery, webhook_event")

    def waiting(self) -> int:
        with self.connect() as connection:
            return connection.execute("SELECT count(*) FROM webhook_queue").fetchall()[0][0]

    @contextmanager
    def running_worker(self) -> Generator[GatepassProcess]:
        """A `gatepass worker`, until the block ends."""
        worker = launch_worker(self.environment)
        try:
            wait_until(lambda: any("delivers webhooks" in line for line in worker.lines) or not worker.is_alive())
            yield worker
        finally:
            worker.kill()
        if len(worker.lines) > 1:
            raise AssertionError("the worker logged errors:\n" + "".join(worker.lines[1:]))


def emit(connection: Connection, organization_id: UUID, count: int = 1) -> None:
    connection.execute(EMIT, {"organization": organization_id, "count": count})


def wait_until(holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError("it took too long")
        time.sleep(0.01)


def numbered_urls(url: str, count: int) -> Sequence[str]:
    """Different URLs of one receiver."""
    return [f"{url}/{n}" for n in range(count)]


# The same bytes as `activation.sql` writes for an activation.
EMIT = """
    SELECT tell_subscribers(
               clock_timestamp(), array_agg(%(organization)s::uuid), array_agg('live'::text),
               array_agg('ticket.activated'::text), array_agg(m.id), array_agg(m.ticket),
               array_agg(convert_to('{"id":"evt_' || replace(m.id::text, '-', '') || '","type":"ticket.activated"'
                         || ',"organization_id":"' || %(organization)s || '","created_at":"' || m.at || '","data":'
                         || '{"ticket_id":"' || m.ticket || '","event_id":"' || m.ticket
                         || '","card_number":"SVC 0000 0000 0000","activated_at":"' || m.at || '"}}', 'UTF8')),
               NULL)
      FROM (SELECT gen_random_uuid() AS id, gen_random_uuid() AS ticket,
                   to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
              FROM generate_series(1, %(count)s)) m
"""
