"""Gates for the fault tests: they scan through real processes, and read the result from the database."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx2

from gatepass.base.settings import Settings
from gatepass.domain import tickets
from tests import factory
from tests.factory import Tenant
from tests.faults.http_client import Answer
from tests.processes import GatepassProcess

# Production's, for tests of how soon PostgreSQL is given up.
DEADLINE = str(Settings.model_fields["database_deadline"].default)


async def load(tenant: Tenant, count: int) -> list[str]:
    """The numbers of `count` new cards, each with an unused ticket."""
    async with tenant.db.transaction() as tx:
        made = await tickets.load(
            tx,
            tenant.id,
            tenant.event_id,
            [tenant.category_id],
            count,
            prefix=tenant.organization.card_prefix,
            at=factory.now(),
        )
    return [one.card_number for one in made]


async def scan(
    client: httpx2.AsyncClient,
    tenant: Tenant,
    shown: Mapping[str, str],
    *,
    gate: str | None = None,
    idempotency_key: str | None = None,
) -> httpx2.Response:
    """Show a card (`{"card_number": …}` or `{"token": …}`) at a gate."""
    headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
    return await client.post("/scan", json=scan_body(tenant, shown, gate), headers=headers)


def scan_body(tenant: Tenant, shown: Mapping[str, str], gate: str | None) -> dict[str, Any]:
    return {"event_id": str(tenant.event_id), "gate": gate, "scanner_id": gate and f"scanner of {gate}", **shown}


def shown_card(way: str, tenant: Tenant, number: str) -> dict[str, str]:
    """The part of the body that names the card: its number, or a token."""
    if way == "card_number":
        return {"card_number": number}
    return {"token": tenant.sign(number, factory.now().replace(year=factory.now().year + 1))}


def request_id(answer: httpx2.Response | Answer) -> UUID:
    return UUID(answer.headers["x-request-id"].removeprefix("req_"))


def is_replayed(answer: httpx2.Response | Answer) -> bool:
    return answer.headers.get("Idempotent-Replayed") == "true"


def client_of(
    server: GatepassProcess, key: str, *, address: str = "127.0.0.1", connections: int = 250
) -> httpx2.AsyncClient:
    """A client with a connection for every gate, which calls from this loopback address."""
    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    return server.client(key, transport=httpx2.AsyncHTTPTransport(local_address=address, limits=limits))


async def wait_for(condition: Callable[[], Awaitable[bool]], *, within: float = 60.0) -> None:
    """Poll until the condition holds."""
    async with asyncio.timeout(within):
        while not await condition():  # noqa: ASYNC110  it is another process that we wait for
            await asyncio.sleep(0.002)


@dataclass(frozen=True)
class Ticket:
    """The row of one ticket."""

    id: UUID
    card_number: str
    activated_at: datetime | None
    activated_by: UUID | None
    activated_gate: str | None


@dataclass
class DatabaseState:
    """All rows that an organization's scans have written."""

    tickets: dict[str, Ticket]
    scans: dict[UUID, tuple[str, str]]
    request_log: dict[UUID, int]
    stored_answers: Counter[UUID]

    def verdicts(self, number: str) -> Counter[str]:
        return Counter(verdict for card, verdict in self.scans.values() if card == number)


async def database_state(tenant: Tenant) -> DatabaseState:
    async with tenant.db.autocommit() as tx:
        found = await tx.all(Ticket, TICKETS, tenant.id)
        scans = await tx.rows("SELECT id, card_number, verdict FROM scan WHERE organization_id = $1", tenant.id)
        request_log = await tx.rows("SELECT id, status FROM logged_call WHERE organization_id = $1", tenant.id)
        stored = await tx.rows("SELECT ticket_id FROM idempotency WHERE organization_id = $1", tenant.id)
    assert len({row["id"] for row in scans}) == len(scans), "two scan rows for one request"
    assert len({row["id"] for row in request_log}) == len(request_log), "two rows of the request log for one request"
    return DatabaseState(
        tickets={ticket.card_number: ticket for ticket in found},
        scans={row["id"]: (row["card_number"], row["verdict"]) for row in scans},
        request_log={row["id"]: row["status"] for row in request_log},
        stored_answers=Counter(row["ticket_id"] for row in stored),
    )


TICKETS = """
    SELECT t.id, c.number AS card_number, t.activated_at, t.activated_by, t.activated_gate
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
     WHERE t.organization_id = $1
"""
