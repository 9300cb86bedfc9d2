"""Endpoints for the tests of /webhooks, and what would have been sent to them."""

from typing import Any, Final
from uuid import UUID

import httpx2

from gatepass.domain.webhooks import queue
from gatepass.domain.webhooks.attempt import Attempt
from gatepass.domain.webhooks.queue import Lane, Result, State
from tests import make
from tests.make import House

URL: Final = "https://hooks.example.com/gatepass?token=a-secret-of-theirs"
TYPES: Final = ["ticket.activated", "ticket.cancelled"]


async def create(client: httpx2.AsyncClient, **different: Any) -> dict[str, Any]:
    answer = await client.post("/webhooks", json={"url": URL, "types": TYPES, **different})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


async def send_all(house: House, endpoint_id: str, *, status: int = 200, lane: int = 0) -> int:
    """As if a worker had sent all that is due to an endpoint, and this had been answered; how many that were."""
    sent = 0
    rooms = {Lane(UUID(endpoint_id), lane): 1000}
    while True:
        async with house.db.statement() as tx:
            claimed = await queue.claim(tx, rooms, elsewhere=0, lanes=64, most=1000)
        if not claimed:
            return sent
        attempt = Attempt(make.now(), status, None, "192.0.2.1", 1.0, 2.0, 3.0, 4.0, "well", None)
        state = State.DELIVERED if status == 200 else State.FAILED
        async with house.db.statement() as tx:
            sent += await queue.record(tx, [Result(one, attempt, state) for one in claimed])


async def changes_of(house: House, endpoint_id: str) -> list[tuple[str, str | None, str | None]]:
    """What was noted about an endpoint, oldest first: what was done, what was before, what came of it."""
    async with house.db.reading() as tx:
        rows = await tx.rows(CHANGES, house.id, UUID(endpoint_id))
    return [(row["action"], row["was"], row["becomes"]) for row in rows]


CHANGES: Final = """
    SELECT action, was, becomes
      FROM change
     WHERE organization_id = $1
       AND subject = 'webhook_endpoint'
       AND subject_id = $2
     ORDER BY at, id
"""
