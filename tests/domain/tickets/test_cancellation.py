"""A cancelled event cancels its tickets for its own reason, in the database and in the messages."""

from uuid import UUID

from gatepass.base.database import Database
from gatepass.domain import events, tickets
from gatepass.domain.webhooks import MessageType
from tests import factory
from tests.domain.tickets.test_activation_messages import messages_of
from tests.factory import Tenant

URL = "https://example.com/hook"


async def cancelled_tickets(tenant: Tenant) -> dict[UUID, str]:
    """The reason of each ticket after maintenance, which cancels tickets of all organizations."""
    left = 1
    while left:
        async with tenant.db.transaction() as tx:
            left = await tickets.cancel_some_of_cancelled_events(tx, at=factory.now())
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows("SELECT id, cancel_reason FROM ticket WHERE organization_id = $1", tenant.id)
    return {row["id"]: row["cancel_reason"] for row in rows}


async def test_the_reason_of_an_event_is_that_of_its_tickets(db: Database, tenant: Tenant) -> None:
    await tenant.endpoint(URL, MessageType.TICKET_CANCELLED, MessageType.EVENT_CANCELLED)
    made = [await tenant.ticket(await tenant.card(with_ticket=False)) for _ in range(3)]
    async with db.transaction() as tx:
        await tickets.cancel(tx, tenant.id, made[0], by=factory.BY, at=factory.now(), reason="Refunded")
        await events.cancel(tx, tenant.id, tenant.event_id, reason="Storm", by=factory.BY, at=factory.now())
    assert await cancelled_tickets(tenant) == dict(zip(made, ["Refunded", "Storm", "Storm"], strict=True))
    told = [(message["type"], message["data"]["reason"]) for message in await messages_of(tenant)]
    assert sorted(told) == [
        ("event.cancelled", "Storm"),
        ("ticket.cancelled", "Refunded"),
        ("ticket.cancelled", "Storm"),
        ("ticket.cancelled", "Storm"),
    ]


async def test_an_event_that_version_02_cancelled_has_no_reason(db: Database, tenant: Tenant) -> None:
    ticket = await tenant.ticket(await tenant.card(with_ticket=False))
    async with db.transaction() as tx:
        await tx.run("UPDATE event SET status = 'cancelled' WHERE organization_id = $1", tenant.id)
    assert await cancelled_tickets(tenant) == {ticket: "event cancelled"}
