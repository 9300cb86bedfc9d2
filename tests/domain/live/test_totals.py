"""Live totals equal a full count, even if scans commit late, are undone or cancelled, or move to another partition."""

import asyncio
import random
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import msgspec
import pytest

from gatepass.base.database import Database, Tx
from gatepass.base.ids import new_id
from gatepass.domain import maintenance, sandbox, tickets
from gatepass.domain.cards import Card
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import Scan
from gatepass.domain.tickets.activation import REFUSALS
from tests import factory
from tests.domain.live.live_reader import reader_of
from tests.factory import Tenant, now

STATUSES: dict[Mode, dict[str, int]] = {mode: dict.fromkeys(("activated", *REFUSALS), 200) for mode in Mode}


async def key_of(tenant: Tenant, mode: Mode = Mode.LIVE) -> UUID:
    return (await tenant.key(mode=mode)).id


def scan(tenant: Tenant, key_id: UUID, card: str, *, gate: str | None = "North", mode: Mode = Mode.LIVE) -> Scan:
    event_id = sandbox.EVENT_ID if mode is Mode.SANDBOX else tenant.event_id
    return Scan(
        request_id=new_id(), organization_id=tenant.id, mode=mode, key_id=key_id, address=None, elapsed_us=1,
        idempotency_key=None, event_id=event_id, card_number=card, shown=card, expired=False, gate=gate,
        scanner_id=f"scanner of {gate}", occurred_at=None, received_at=now(),
        given=sandbox.judge(card) if mode is Mode.SANDBOX else None,
    )  # fmt: skip


async def activate(tx: Tx, scans: Sequence[Scan]) -> list[str]:
    return [one.verdict for one in await tickets.activate(tx, scans, at=now(), statuses=STATUSES) if one]


async def ticket_of(tenant: Tenant, card: Card) -> UUID:
    async with tenant.db.autocommit() as tx:
        return await tx.value("SELECT id FROM ticket WHERE organization_id = $1 AND card_id = $2", tenant.id, card.id)


async def test_an_event_at_which_nothing_happened(tenant: Tenant) -> None:
    totals = await reader_of(tenant).begin()
    assert (totals.total_activated, totals.total_expected, totals.denials(), totals.gates()) == (0, 0, [], [])
    assert [one.name for one in totals.categories] == ["General"]
    assert sum(one.activated for one in totals.last_hour(now())) == 0


async def test_scans_are_counted_by_category_gate_verdict_minute_and_scanner(tenant: Tenant) -> None:
    cards, key_id = [await tenant.card() for _ in range(3)], await key_of(tenant)
    reader = reader_of(tenant)
    await reader.begin()
    async with tenant.db.autocommit() as tx:
        await activate(tx, [scan(tenant, key_id, cards[0].number), scan(tenant, key_id, cards[1].number, gate=None)])
        await activate(tx, [scan(tenant, key_id, cards[0].number, gate="South"), scan(tenant, key_id, "SVC 1")])
    totals = await reader.look()
    assert (totals.total_activated, totals.total_expected) == (2, 3)
    assert totals.activated_of(tenant.category_id) == 2
    assert totals.gates() == [("North", 1, 1), (None, 1, 0), ("South", 0, 1)]
    assert dict(totals.denials()) == {"already_activated": 1, "card_not_found": 1}
    hour = totals.last_hour(now())
    assert (sum(one.activated for one in hour), sum(one.denied for one in hour)) == (2, 2)
    assert totals.scanners["scanner of South"].gate == "South"
    assert totals.scanners["scanner of North"].scans == 2


async def test_what_commits_late_is_counted_once(tenant: Tenant) -> None:
    """The first scan gets its time, then waits before its commit; a later scan commits first."""
    early, late, key_id = await tenant.card(), await tenant.card(), await key_of(tenant)
    reader = reader_of(tenant)
    await reader.begin()
    async with tenant.db.transaction() as slow:
        await activate(slow, [scan(tenant, key_id, early.number)])
        assert (await reader.look()).total_activated == 0
        async with tenant.db.autocommit() as quick:
            await activate(quick, [scan(tenant, key_id, late.number)])
        assert (await reader.look()).total_activated == 1
        assert (await reader.look()).total_activated == 1
    assert (await reader.look()).total_activated == 2
    assert (await reader.look()).total_activated == 2


async def test_what_is_rolled_back_is_not_counted(tenant: Tenant) -> None:
    card, key_id = await tenant.card(), await key_of(tenant)
    reader = reader_of(tenant)
    await reader.begin()

    async def fail() -> None:
        async with tenant.db.transaction() as tx:
            await activate(tx, [scan(tenant, key_id, card.number)])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert (await reader.look()).total_activated == 0


@pytest.mark.parametrize("verb", [tickets.undo_activation, tickets.cancel])
async def test_what_is_taken_back_asks_for_a_count(tenant: Tenant, verb) -> None:
    card, key_id = await tenant.card(), await key_of(tenant)
    async with tenant.db.autocommit() as tx:
        await activate(tx, [scan(tenant, key_id, card.number)])
    reader = reader_of(tenant)
    totals = await reader.begin()
    async with tenant.db.transaction() as tx:
        await verb(tx, tenant.id, await ticket_of(tenant, card), by="test", at=now(), reason="test")
    assert (await reader.look()).total_activated == 0
    assert totals.needs_count


async def test_a_ticket_of_another_event_asks_for_nothing(tenant: Tenant) -> None:
    card, key_id = await tenant.card(), await key_of(tenant)
    async with tenant.db.autocommit() as tx:
        await activate(tx, [scan(tenant, key_id, card.number)])
    reader = reader_of(tenant, event_id=await tenant.event())
    totals = await reader.begin()
    async with tenant.db.transaction() as tx:
        await tickets.undo_activation(tx, tenant.id, await ticket_of(tenant, card), by="test", at=now(), reason="test")
    await reader.look()
    assert not totals.needs_count


async def test_fewer_tickets_ask_for_a_count_and_more_do_not(tenant: Tenant) -> None:
    card = await tenant.card()
    reader = reader_of(tenant)
    totals = await reader.begin()
    await tenant.card()
    assert (await reader.look()).total_expected == 2
    assert not totals.needs_count
    totals = reader.totals
    async with tenant.db.transaction() as tx:
        await tickets.cancel(tx, tenant.id, await ticket_of(tenant, card), by="test", at=now(), reason="test")
    assert (await reader.look()).total_expected == 1
    assert totals.needs_count


async def test_a_partition_that_comes_asks_for_a_count(tenant: Tenant, db: Database) -> None:
    """Rows of the default partition move into it, and would look new."""
    reader = reader_of(tenant)
    totals = await reader.begin()
    ahead = now() + timedelta(weeks=9)
    async with db.transaction() as tx:
        while await maintenance.make_partition(tx, "scan", at=ahead) is not None:
            pass
    await reader.look()
    assert totals.needs_count


async def test_sandbox_and_live_do_not_meet(tenant: Tenant) -> None:
    card, live, test = await tenant.card(), await key_of(tenant), await key_of(tenant, Mode.SANDBOX)
    readers = [reader_of(tenant), reader_of(tenant, Mode.SANDBOX, sandbox.EVENT_ID)]
    for reader in readers:
        await reader.begin()
    async with tenant.db.autocommit() as tx:
        await activate(tx, [scan(tenant, live, card.number)])
        shown = ("TEST_VALID", "TEST_VALID", "TEST_VIP", "TEST_USED", "SVC 1")
        await activate(tx, [scan(tenant, test, one, mode=Mode.SANDBOX) for one in shown])
        # A sandbox key may name a live event; it is refused, and is no scan of that event.
        stray = scan(tenant, test, "TEST_VALID")
        await activate(tx, [msgspec.structs.replace(stray, mode=Mode.SANDBOX)])
    of_live, of_sandbox = [await reader.look() for reader in readers]
    assert (of_live.total_activated, of_live.verdicts.total()) == (1, 1)
    assert [of_sandbox.activated_of(one.id) for one in of_sandbox.categories] == [2, 1]
    assert dict(of_sandbox.denials()) == {"already_activated": 1, "card_not_found": 1}


async def test_another_organization_is_not_counted(tenant: Tenant, db: Database) -> None:
    other = await factory.tenant(db)
    card, key_id = await other.card(), await key_of(other)
    reader = reader_of(tenant, event_id=other.event_id)
    await reader.begin()
    async with db.autocommit() as tx:
        await activate(tx, [scan(other, key_id, card.number)])
    totals = await reader.look()
    assert (totals.total_activated, totals.verdicts.total(), totals.status) == (0, 0, None)


async def test_whatever_happens_the_tally_is_the_count(tenant: Tenant) -> None:
    """Gates, undoing, cancelling and slow commits at the same time; every look compares within one snapshot."""
    chance, key_id = random.Random(5), await key_of(tenant)
    cards = [await tenant.card() for _ in range(60)]
    done = asyncio.Event()

    async def gate(name: str) -> None:
        for _ in range(25):
            async with tenant.db.transaction() as tx:
                await activate(tx, [scan(tenant, key_id, chance.choice(cards).number, gate=name) for _ in range(2)])
                await asyncio.sleep(chance.random() / 50)  # the commit comes late
                if chance.random() < 0.1:
                    await tx.rows("SELECT 1")

    async def desk() -> None:
        for _ in range(10):
            await asyncio.sleep(0.03)
            ticket_id = await ticket_of(tenant, chance.choice(cards))
            verb = chance.choice([tickets.undo_activation, tickets.undo_activation, tickets.cancel])
            try:
                async with tenant.db.transaction() as tx:
                    await verb(tx, tenant.id, ticket_id, by="test", at=now(), reason="test")
            except (tickets.TicketNotFound, tickets.TicketCancelled):
                continue

    async def watch() -> int:
        reader, looks = reader_of(tenant), 0
        await reader.begin()
        while not done.is_set():
            await reader.look()
            looks += 1
        return looks

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(gate(f"Gate {n}") for n in range(4)), desk())
    done.set()
    assert await watching > 5
