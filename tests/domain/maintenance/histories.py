"""Rows for the histories that maintenance keeps, and where they are."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Final, LiteralString
from uuid import UUID

from gatepass.api.responses import VERDICT_STATUSES
from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import audit_log, tickets
from gatepass.domain.keys import Mode
from gatepass.domain.maintenance import HISTORIES
from gatepass.domain.tickets import Scan, ScanOutcome
from tests import factory
from tests.factory import Tenant

# Not a boundary of any partition.
T0: Final = datetime(2031, 5, 1, 12, 34, 56, tzinfo=UTC)

DAY: Final = timedelta(days=1)

WEBHOOKS: Final = ("webhook_event", "webhook_delivery", "webhook_attempt")

STEPS: Final = {"scan": 7 * DAY, "request_log": 7 * DAY, "audit_log": 28 * DAY} | dict.fromkeys(WEBHOOKS, 7 * DAY)

AHEAD: Final = {"scan": 8, "request_log": 8, "audit_log": 4} | dict.fromkeys(WEBHOOKS, 8)

KEPT: Final = {
    "scan": 400 * DAY,
    "request_log": 400 * DAY,
    "audit_log": 2555 * DAY,
    "webhook_event": 30 * DAY,
    "webhook_delivery": 90 * DAY,
    "webhook_attempt": 90 * DAY,
}


@asynccontextmanager
async def processes(database: Database, count: int) -> AsyncGenerator[list[Database]]:
    """Several processes, each with connections of its own."""
    async with AsyncExitStack() as stack:
        made = [factory.database(database.url, connections=2) for _ in range(count)]
        for one in made:
            stack.push_async_callback(one.close)
        yield made


async def somebody_waits(database: Database) -> bool:
    """Whether a statement waits for a lock."""
    async with database.autocommit() as tx:
        return await tx.value(
            "SELECT true FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )


async def shown(database: Database, tenant: Tenant | None = None, *, number: str = "X", key: str | None = None) -> Scan:
    """A scan of a card: at an event of this organization, or at an unknown one."""
    async with database.transaction() as tx:
        organization_id = tenant.id if tenant else new_id()
        await tx.run(FOUND, organization_id)
        key_id = await tx.value(ISSUE, organization_id)
    return Scan(
        request_id=new_id(),
        organization_id=organization_id,
        mode=Mode.LIVE,
        key_id=key_id,
        address=None,
        elapsed_us=0,
        idempotency_key=key,
        event_id=tenant.event_id if tenant else new_id(),
        card_number=number,
        shown=number,
        expired=False,
        gate=None,
        scanner_id=None,
        occurred_at=None,
    )


# By SQL, because the domain's functions would write rows to the histories that are counted here.
FOUND = "INSERT INTO organization (id, name, created_at) VALUES ($1, 'Gate', now()) ON CONFLICT DO NOTHING"

ISSUE = """
    INSERT INTO api_key (organization_id, id, hash, mode, name, last_four, scopes, created_at, created_by)
    VALUES ($1, gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), 'live', 'gate', 'aaaa', '{admin}',
            'epoch', 'x')
    RETURNING id
"""


async def scan(database: Database, one: Scan, *, at: datetime) -> ScanOutcome:
    async with database.autocommit() as tx:
        (verdict,) = await tickets.activate(tx, [one], at=at, statuses=VERDICT_STATUSES)
    assert verdict is not None
    return verdict


async def record(database: Database, organization_id: UUID, *, at: datetime) -> None:
    async with database.transaction() as tx:
        await audit_log.record(tx, organization_id, "card", new_id(), "issued", by="test", at=at)


async def happens(database: Database, *, at: datetime) -> None:
    """A row in every history."""
    await scan(database, await shown(database), at=at)
    await record(database, new_id(), at=at)
    async with database.transaction() as tx:
        for statement in (CALL, EVENT, DELIVERY, ATTEMPT):
            await tx.run(statement, new_id(), at)


CALL: Final = """
    INSERT INTO request_log (organization_id, at, id, mode, key_id, method, path, status, duration_us)
    VALUES ($1, $2, $1, 'live', $1, 'GET', '/events', 200, 1)
"""

EVENT: Final = """
    INSERT INTO webhook_event (organization_id, mode, txid, id, at, type, body)
    VALUES ($1, 'live', 1, gen_random_uuid(), $2, 'webhook.ping', '')
"""

DELIVERY: Final = """
    INSERT INTO webhook_delivery (organization_id, endpoint_id, at, id, event_txid, event_id, event_at, type,
                                  ordering_key)
    VALUES ($1, $1, $2, $1, 1, $1, $2, 'webhook.ping', $1)
"""

ATTEMPT: Final = """
    INSERT INTO webhook_attempt (organization_id, at, delivery_id, n, total_ms)
    VALUES ($1, $2, $1, 1, 1)
"""


async def where(database: Database, history: str) -> list[tuple[datetime, str]]:
    """The time of each row, and its partition."""
    async with database.autocommit() as tx:
        rows = await tx.rows(WHERE[history])
    return [(row["at"], row["partition"]) for row in rows]


WHERE: Final[dict[str, LiteralString]] = {
    "scan": "SELECT at, tableoid::regclass::text AS partition FROM scan ORDER BY at",
    "request_log": "SELECT at, tableoid::regclass::text AS partition FROM request_log ORDER BY at",
    "audit_log": "SELECT at, tableoid::regclass::text AS partition FROM audit_log ORDER BY at",
    "webhook_event": "SELECT at, tableoid::regclass::text AS partition FROM webhook_event ORDER BY at",
    "webhook_delivery": "SELECT at, tableoid::regclass::text AS partition FROM webhook_delivery ORDER BY at",
    "webhook_attempt": "SELECT at, tableoid::regclass::text AS partition FROM webhook_attempt ORDER BY at",
}


async def partitions(database: Database) -> set[str]:
    async with database.autocommit() as tx:
        rows = await tx.rows(
            "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent::regclass::text = ANY ($1)",
            HISTORIES,
        )
    return {row["name"] for row in rows}
