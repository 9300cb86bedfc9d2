"""Every verb that changes a ticket or a card, each as one step of a walk. They are named by their statements."""

from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Final
from uuid import UUID

from nacl.signing import SigningKey

from gatepass.domain import cards, events, incidents, tickets
from gatepass.domain.cards import Card, CardStatus, HolderDetails, mailed_codes, phones
from gatepass.domain.cards.phone_proof import MOVE_CONTEXT
from gatepass.domain.events import EventStatus
from gatepass.domain.tickets import TicketRequest
from tests.domain.imports.conftest import Desk
from tests.domain.live.test_totals import activate, key_of, scan, ticket_of
from tests.factory import BY, VAULT, Tenant, now

Verb = Callable[[Tenant], Awaitable[None]]


async def issue(tenant: Tenant) -> None:
    await tenant.card()


async def issue_to_a_person(tenant: Tenant) -> None:
    async with tenant.db.transaction() as tx:
        request = TicketRequest(tenant.event_id, tenant.category_id, holder=HolderDetails("Ann", "ann@example.org"))
        await tickets.issue(tx, tenant.id, request, by=BY, at=now())


async def issue_in_a_savepoint(tenant: Tenant) -> None:
    """As the API does: the row's own transaction id is that of the savepoint."""
    async with tenant.db.transaction() as tx:
        await tx.run("SELECT 1 FROM organization WHERE id = $1 FOR UPDATE", tenant.id)
        async with tx.savepoint():
            card = await cards.issue(tx, tenant.id, by=BY, at=now())
            request = TicketRequest(tenant.event_id, tenant.category_id, card_id=card.id)
            await tickets.issue(tx, tenant.id, request, by=BY, at=now())


async def activate_one(tenant: Tenant) -> Card:
    card, key_id = await tenant.card(), await key_of(tenant)
    async with tenant.db.autocommit() as tx:
        assert await activate(tx, [scan(tenant, key_id, card.number)]) == ["activated"]
    return card


async def scan_one(tenant: Tenant) -> None:
    await activate_one(tenant)


async def let_in(tenant: Tenant) -> None:
    card = await tenant.card()
    async with tenant.db.transaction() as tx:
        await incidents.let_in(tx, tenant.id, card.id, tenant.event_id, reason="a broken reader", by=BY, at=now())


async def undo_activation(tenant: Tenant) -> None:
    await _on_ticket(tenant, await activate_one(tenant), tickets.undo_activation)


async def cancel(tenant: Tenant) -> None:
    await _on_ticket(tenant, await tenant.card(), tickets.cancel)


async def cancel_used(tenant: Tenant) -> None:
    await _on_ticket(tenant, await activate_one(tenant), tickets.cancel)


async def cancel_and_issue_again(tenant: Tenant) -> None:
    card = await tenant.card()
    await _on_ticket(tenant, card, tickets.cancel)
    await tenant.ticket(card)


async def _on_ticket(tenant: Tenant, card: Card, verb: Callable[..., Awaitable[None]]) -> None:
    async with tenant.db.transaction() as tx:
        await verb(tx, tenant.id, await ticket_of(tenant, card), by=BY, at=now(), reason="test")


async def suspend(tenant: Tenant) -> None:
    await tenant.move_card(await tenant.card(), CardStatus.SUSPENDED)


async def resume(tenant: Tenant) -> None:
    card = await tenant.card()
    await tenant.move_card(card, CardStatus.SUSPENDED)
    await tenant.move_card(card, CardStatus.ACTIVE)


async def revoke(tenant: Tenant) -> None:
    await tenant.move_card(await activate_one(tenant), CardStatus.REVOKED)


async def change_card_without_ticket(tenant: Tenant) -> None:
    await tenant.move_card(await tenant.card(with_ticket=False), CardStatus.SUSPENDED)


async def replace(tenant: Tenant) -> None:
    card = await tenant.card()
    async with tenant.db.transaction() as tx:
        await tickets.replace(tx, tenant.id, card.id, by=BY, at=now(), reason="lost")


async def transfer(tenant: Tenant) -> None:
    await transferred(tenant)


async def transferred(tenant: Tenant) -> Card:
    """A ticket moves to another card; the one that it was on."""
    card, other = await tenant.card(), await tenant.card(with_ticket=False)
    async with tenant.db.transaction() as tx:
        ticket_id = await ticket_of(tenant, card)
        await tickets.transfer(tx, tenant.id, ticket_id, card_id=other.id, by=BY, at=now())
    return card


async def suspend_where_a_ticket_was(tenant: Tenant) -> None:
    await tenant.move_card(await transferred(tenant), CardStatus.SUSPENDED)


async def transfer_there_and_back(tenant: Tenant) -> None:
    card, other = await tenant.card(), await tenant.card(with_ticket=False)
    ticket_id = await ticket_of(tenant, card)
    for to in (other, card):
        async with tenant.db.transaction() as tx:
            await tickets.transfer(tx, tenant.id, ticket_id, card_id=to.id, by=BY, at=now())


async def transfer_to_a_person(tenant: Tenant) -> None:
    card = await tenant.card()
    async with tenant.db.transaction() as tx:
        ticket_id = await ticket_of(tenant, card)
        await tickets.transfer(
            tx, tenant.id, ticket_id, holder=HolderDetails("Bea", "bea@example.org"), by=BY, at=now()
        )


async def merge(tenant: Tenant) -> None:
    duplicate, kept = await tenant.card(), await tenant.card(with_ticket=False)
    async with tenant.db.transaction() as tx:
        await tickets.merge(tx, tenant.id, duplicate.id, kept.id, by=BY, at=now(), reason="one person")


async def enrol_phone(tenant: Tenant) -> None:
    await enrolled(tenant)


async def enrolled(tenant: Tenant) -> tuple[Card, SigningKey]:
    """A card whose phone has a number above 0: it is the second one."""
    card, first, second = await tenant.card(), SigningKey.generate(), SigningKey.generate()
    async with tenant.db.transaction() as tx:
        await phones.enrol(tx, tenant.id, card.id, bytes(first.verify_key), VAULT, at=now())
        signature = first.sign(MOVE_CONTEXT + bytes(second.verify_key)).signature
        await phones.move(tx, tenant.id, card.id, bytes(second.verify_key), signature, VAULT, at=now())
    return card, second


async def end_phone(tenant: Tenant) -> None:
    card, _ = await enrolled(tenant)
    async with tenant.db.transaction() as tx:
        await phones.end(tx, tenant.id, card.id, by=BY, at=now())


async def move_phone_by_code(tenant: Tenant) -> None:
    async with tenant.db.transaction() as tx:
        request = TicketRequest(tenant.event_id, tenant.category_id, holder=HolderDetails("Di", "di@example.org"))
        card_id = (await tickets.issue(tx, tenant.id, request, by=BY, at=now())).card_id
        for _ in range(2):
            mailed = await mailed_codes.prepare(tx, tenant.id, card_id, at=now())
            assert mailed is not None
            key = bytes(SigningKey.generate().verify_key)
            await phones.move_by_code(tx, tenant.id, card_id, key, mailed.code, VAULT, at=now())


async def erase_holder(tenant: Tenant) -> None:
    async with tenant.db.transaction() as tx:
        request = TicketRequest(tenant.event_id, tenant.category_id, holder=HolderDetails("Cy", "cy@example.org"))
        made = await tickets.issue(tx, tenant.id, request, by=BY, at=now())
        await cards.erase_holder(tx, tenant.id, made.card_id, by=BY, at=now())


async def import_guests(tenant: Tenant) -> None:
    await imported(tenant)


async def imported(tenant: Tenant) -> tuple[Desk, UUID]:
    desk = Desk(tenant, tenant.category_id)
    job = await desk.applied("name,email\nDee,\nEve,\nFay,\n", category_id=tenant.category_id)
    return desk, job.id


async def undo_import(tenant: Tenant) -> None:
    """Of three tickets one was used, and one card was suspended: that card stays without its ticket."""
    desk, import_id = await imported(tenant)
    key_id = await key_of(tenant)
    async with tenant.db.autocommit() as tx:
        numbers = await tx.rows(LAST_NUMBERS, tenant.id)
        await activate(tx, [scan(tenant, key_id, numbers[0]["number"])])
    async with tenant.db.transaction() as tx:
        await cards.change_status(tx, tenant.id, numbers[1]["id"], CardStatus.SUSPENDED, by=BY, at=now(), reason="test")
    await desk.undone(import_id)


async def add_category_and_issue(tenant: Tenant) -> None:
    async with tenant.db.transaction() as tx:
        category_id = await events.add_category(
            tx, tenant.id, tenant.event_id, "VIP", Decimal(90), "EUR", 10, by=BY, at=now(), tier="vip"
        )
        card = await cards.issue(tx, tenant.id, by=BY, at=now())
        request = TicketRequest(tenant.event_id, category_id, card_id=card.id)
        await tickets.issue(tx, tenant.id, request, by=BY, at=now())


async def cancel_event(tenant: Tenant) -> None:
    await tenant.move_event(tenant.event_id, EventStatus.CANCELLED)
    cancelled = 1
    while cancelled:
        async with tenant.db.transaction() as tx:
            cancelled = await tickets.cancel_some_of_cancelled_events(tx, at=now())


LAST_NUMBERS: Final = """
    SELECT c.id, c.number
      FROM card c
     WHERE c.organization_id = $1
     ORDER BY c.issued_at DESC, c.id DESC
     LIMIT 3
"""

# A new category is a change of the header, after which a device gets the whole manifest: it has a test of its own. To
# cancel the event comes last, because nothing is left to be changed then.
VERBS: Final[tuple[Verb, ...]] = (
    issue,
    issue_to_a_person,
    issue_in_a_savepoint,
    scan_one,
    let_in,
    undo_activation,
    cancel,
    cancel_used,
    cancel_and_issue_again,
    suspend,
    resume,
    revoke,
    change_card_without_ticket,
    replace,
    transfer,
    suspend_where_a_ticket_was,
    transfer_there_and_back,
    transfer_to_a_person,
    merge,
    enrol_phone,
    end_phone,
    move_phone_by_code,
    erase_holder,
    import_guests,
    undo_import,
    cancel_event,
)
