"""Events end by themselves, and the tickets of cancelled events are cancelled."""

import asyncio
from datetime import timedelta

from gatepass.base.database import Database
from gatepass.domain import audit_log, tickets
from gatepass.domain.events import EventStatus
from gatepass.domain.maintenance import run_due
from gatepass.domain.tickets.cancellation import BATCH
from tests import factory
from tests.domain.maintenance.histories import (
    processes,
    scan,
    shown,
)


async def test_an_event_ends_by_itself_after_its_grace(fresh: Database) -> None:
    tenant = await factory.tenant(fresh)
    async with fresh.autocommit() as tx:
        ends_at = await tx.value("SELECT ends_at FROM event WHERE id = $1", tenant.event_id)
    grace = timedelta(hours=6)
    assert (await run_due(fresh, at=ends_at + grace - timedelta(seconds=1))).events_ended == 0
    assert (await run_due(fresh, at=ends_at + grace)).events_ended == 1
    async with fresh.autocommit() as tx:
        (last, *_) = await audit_log.of_subject(tx, tenant.id, tenant.event_id)
    assert (last.actor, last.was, last.becomes) == ("maintenance", "published", "ended")


async def test_tickets_of_a_cancelled_event_are_cancelled_however_many(fresh: Database) -> None:
    tenant = await factory.tenant(fresh)
    count = BATCH + 7
    async with fresh.transaction() as tx:
        made = await tickets.load(
            tx, tenant.id, tenant.event_id, [tenant.category_id], count, prefix="SVC", at=factory.now()
        )
    activated = await scan(fresh, await shown(fresh, tenant, number=made[0].card_number), at=factory.now())
    assert activated.verdict == tickets.ACTIVATED
    await run_due(fresh, at=factory.now())
    await tenant.move_event(tenant.event_id, EventStatus.CANCELLED)
    async with processes(fresh, 2) as several:
        done = await asyncio.gather(*[run_due(each, at=factory.now()) for each in several])
    assert sum(one.tickets_cancelled for one in done) == count
    async with fresh.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM ticket WHERE cancelled_at IS NULL") == 0
        assert await tx.value("SELECT sum(quantity_sold) FROM ticket_category") == 0


async def test_tickets_of_other_events_stay(fresh: Database) -> None:
    tenant, other = await factory.tenant(fresh), await factory.tenant(fresh)
    for one in (tenant, other):
        await one.card()
    await tenant.move_event(tenant.event_id, EventStatus.CANCELLED)
    assert (await run_due(fresh, at=factory.now())).tickets_cancelled == 1
    async with fresh.autocommit() as tx:
        assert await tx.value("SELECT organization_id FROM ticket WHERE cancelled_at IS NULL") == other.id
