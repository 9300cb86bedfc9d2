"""Gates for the fault tests: they scan through real processes, and the database is asked what came of it."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx2

from gatepass.domain import tickets
from tests import make
from tests.faults.wire import Answer
from tests.make import House
from tests.serving import Serving


async def load(house: House, count: int) -> list[str]:
    """The numbers of as many cards, each with an unused ticket."""
    async with house.db.transaction() as tx:
        made = await tickets.load(
            tx,
            house.id,
            house.event_id,
            [house.category_id],
            count,
            prefix=house.organization.card_prefix,
            at=make.now(),
        )
    return [one.card_number for one in made]


async def scan(
    client: httpx2.AsyncClient,
    house: House,
    shown: Mapping[str, str],
    *,
    gate: str | None = None,
    retry_key: str | None = None,
) -> httpx2.Response:
    """Show a card (`{"card_number": …}` or `{"token": …}`) at a gate."""
    headers = {"Idempotency-Key": retry_key} if retry_key else {}
    return await client.post("/scan", json=scan_body(house, shown, gate), headers=headers)


def scan_body(house: House, shown: Mapping[str, str], gate: str | None) -> dict[str, Any]:
    return {"event_id": str(house.event_id), "gate": gate, "scanner_id": gate and f"scanner of {gate}", **shown}


def by(way: str, house: House, number: str) -> dict[str, str]:
    """How a card is shown: typed in, or by its token."""
    if way == "card_number":
        return {"card_number": number}
    return {"token": house.sign(number, make.now().replace(year=make.now().year + 1))}


def request_id(answer: httpx2.Response | Answer) -> UUID:
    return UUID(answer.headers["x-request-id"].removeprefix("req_"))


def is_replayed(answer: httpx2.Response | Answer) -> bool:
    return answer.headers.get("Idempotent-Replayed") == "true"


def client_of(serving: Serving, key: str, *, address: str = "127.0.0.1", connections: int = 250) -> httpx2.AsyncClient:
    """A client with room for everyone at once, calling from this address of the loopback."""
    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    return serving.client(key, transport=httpx2.AsyncHTTPTransport(local_address=address, limits=limits))


async def wait_for(condition: Callable[[], Awaitable[bool]], *, within: float = 10.0) -> None:
    """Ask again until it holds; there is no telling how long a process takes."""
    async with asyncio.timeout(within):
        while not await condition():  # noqa: ASYNC110  it is another process that we wait for
            await asyncio.sleep(0.002)


@dataclass(frozen=True)
class Ticket:
    """What the database says of one ticket."""

    id: UUID
    card_number: str
    activated_at: datetime | None
    activated_by: UUID | None
    activated_gate: str | None


@dataclass
class Books:
    """Everything that the database holds of an organization's scans."""

    tickets: dict[str, Ticket]
    scans: dict[UUID, tuple[str, str]]
    audit: dict[UUID, int]
    remembered: Counter[UUID]

    def verdicts(self, number: str) -> Counter[str]:
        return Counter(verdict for card, verdict in self.scans.values() if card == number)


async def books(house: House) -> Books:
    async with house.db.reading() as tx:
        found = await tx.all(Ticket, TICKETS, house.id)
        scans = await tx.rows("SELECT id, card_number, verdict FROM scan WHERE organization_id = $1", house.id)
        audit = await tx.rows("SELECT id, status FROM audit WHERE organization_id = $1", house.id)
        kept = await tx.rows("SELECT ticket_id FROM idempotency WHERE organization_id = $1", house.id)
    assert len({row["id"] for row in scans}) == len(scans), "two scan rows for one request"
    assert len({row["id"] for row in audit}) == len(audit), "two audit rows for one request"
    return Books(
        tickets={ticket.card_number: ticket for ticket in found},
        scans={row["id"]: (row["card_number"], row["verdict"]) for row in scans},
        audit={row["id"]: row["status"] for row in audit},
        remembered=Counter(row["ticket_id"] for row in kept),
    )


TICKETS = """
    SELECT t.id, c.number AS card_number, t.activated_at, t.activated_by, t.activated_gate
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
     WHERE t.organization_id = $1
"""
