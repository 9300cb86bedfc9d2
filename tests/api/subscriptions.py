"""Helpers for the tests of /webhooks: create an endpoint, send its deliveries, read its audit log."""

from typing import Any, Final
from uuid import UUID

import httpx2

from gatepass.domain.webhooks import queue
from gatepass.domain.webhooks.queue import Attempt, Lane, Result, State
from tests import factory
from tests.factory import Tenant

URL: Final = "https://hooks.example.com/gatepass?token=a-secret-of-theirs"
TYPES: Final = ["ticket.activated", "ticket.cancelled"]


async def create(client: httpx2.AsyncClient, **different: Any) -> dict[str, Any]:
    answer = await client.post("/webhooks", json={"url": URL, "types": TYPES, **different})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


async def send_all(tenant: Tenant, endpoint_id: str, *, status: int = 200, lane: int = 0) -> int:
    """Do as a worker whose deliveries to this endpoint are all answered with `status`; return how many there were."""
    sent = 0
    free_slots = {Lane(UUID(endpoint_id), lane): 1000}
    while True:
        async with tenant.db.autocommit() as tx:
            claimed = await queue.claim(tx, free_slots, of_others=0, lanes=64, most=1000)
        if not claimed:
            return sent
        attempt = Attempt(factory.now(), status, None, "192.0.2.1", 1.0, 2.0, 3.0, 4.0, "well", None)
        state = State.DELIVERED if status == 200 else State.FAILED
        async with tenant.db.autocommit() as tx:
            sent += await queue.record(tx, [Result(one, attempt, state) for one in claimed])


async def changes_of(tenant: Tenant, endpoint_id: str) -> list[tuple[str, str | None, str | None]]:
    """The audit log of an endpoint, oldest first: action, old value, new value."""
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows(CHANGES, tenant.id, UUID(endpoint_id))
    return [(row["action"], row["was"], row["becomes"]) for row in rows]


CHANGES: Final = """
    SELECT action, was, becomes
      FROM audit_log
     WHERE organization_id = $1
       AND subject = 'webhook_endpoint'
       AND subject_id = $2
     ORDER BY at, id
"""
