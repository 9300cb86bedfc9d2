"""An event of 100,000 tickets is cancelled while another event is scanned: its gates are not delayed."""

import asyncio
import time
from decimal import Decimal

import pytest

from gatepass.api.responses import VERDICT_STATUSES
from gatepass.base.database import Database
from gatepass.domain import events, maintenance, tickets
from gatepass.domain.events import EventStatus
from gatepass.domain.webhooks import MessageType
from tests import factory
from tests.domain.tickets.scans import shown
from tests.factory import Tenant
from tests.size import NIGHT

pytestmark = [pytest.mark.processes, pytest.mark.alone]

TICKETS = 100_000
# A gate must get its answer within half a second, network included.
LONGEST = 0.4


async def test_a_cancelled_event_of_100_000_tickets_holds_up_no_gate(own: Database, tenant: Tenant) -> None:
    endpoint, _ = await tenant.endpoint(
        "https://example.com/", MessageType.EVENT_CANCELLED, MessageType.TICKET_CANCELLED, MessageType.TICKET_ACTIVATED
    )
    event_id = await tenant.event()
    async with own.transaction() as tx:
        category = await events.add_category(
            tx, tenant.id, event_id, "All", Decimal(1), "EUR", TICKETS, by=factory.BY, at=factory.now()
        )
        await tickets.load(tx, tenant.id, event_id, [category], TICKETS, prefix="SVC", at=factory.now(), first_serial=0)
    waiting = [await shown(tenant, idempotency_key=None) for _ in range(300)]
    await tenant.move_event(event_id, EventStatus.CANCELLED)
    cancelling = asyncio.create_task(maintenance.follow_up(own, at=factory.now()))
    slowest, scanned = 0.0, 0
    while not cancelling.done() and waiting:
        began = time.perf_counter()
        async with own.autocommit() as tx:
            (verdict,) = await tickets.activate(tx, [waiting.pop()], at=factory.now(), statuses=VERDICT_STATUSES)
        slowest = max(slowest, time.perf_counter() - began)
        assert verdict is not None
        assert verdict.verdict == "activated"
        scanned += 1
        await asyncio.sleep(0.02)
    done = await cancelling
    print(f"{TICKETS:,} tickets cancelled beside {scanned} scans, the slowest of which took {slowest * 1000:.0f} ms")
    assert done.tickets_cancelled == TICKETS
    assert scanned
    if NIGHT:
        assert scanned >= 100
        assert slowest < LONGEST
    async with own.autocommit() as tx:
        rows = await tx.rows(DELIVERED, tenant.id, endpoint)
        left = await tx.value(LEFT, tenant.id, event_id)
    assert {row["type"]: row["deliveries"] for row in rows} == {
        "event.cancelled": 1,
        "ticket.cancelled": TICKETS,
        "ticket.activated": scanned,
    }
    assert left == 0


DELIVERED = """
    SELECT d.type, count(*) AS deliveries
      FROM webhook_delivery d
      JOIN webhook_queue q ON q.organization_id = d.organization_id AND q.delivery_id = d.id
     WHERE d.organization_id = $1
       AND d.endpoint_id = $2
     GROUP BY d.type
"""

LEFT = """
    SELECT count(*)
      FROM ticket
     WHERE organization_id = $1
       AND event_id = $2
       AND cancelled_at IS NULL
"""
