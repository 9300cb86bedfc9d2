"""The door's tally equals a count of the table, whatever commits late, is undone, cancelled or moved."""

import asyncio
import random
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import msgspec
import pytest

from gatepass.base.database import Database, Tx
from gatepass.base.ids import new_id
from gatepass.domain import sandbox, tickets, upkeep
from gatepass.domain.cards import Card
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import Scan
from gatepass.domain.tickets.activation import REFUSALS
from tests import make
from tests.domain.door.reading import reader_of
from tests.make import House, now

STATUSES: dict[Mode, dict[str, int]] = {mode: dict.fromkeys(("activated", *REFUSALS), 200) for mode in Mode}


async def key_of(house: House, mode: Mode = Mode.LIVE) -> UUID:
    return (await house.key(mode=mode)).id


def scan(house: House, key_id: UUID, card: str, *, gate: str | None = "North", mode: Mode = Mode.LIVE) -> Scan:
    event_id = sandbox.EVENT_ID if mode is Mode.SANDBOX else house.event_id
    return Scan(
        request_id=new_id(), organization_id=house.id, mode=mode, key_id=key_id, address=None, elapsed_us=1,
        retry_key=None, event_id=event_id, card_number=card, shown=card, expired=False, gate=gate,
        scanner_id=f"scanner of {gate}", occurred_at=None, received_at=now(),
        given=sandbox.judge(event_id, card) if mode is Mode.SANDBOX else None,
    )  # fmt: skip


async def activate(tx: Tx, scans: Sequence[Scan]) -> list[str]:
    return [one.verdict for one in await tickets.activate(tx, scans, at=now(), statuses=STATUSES) if one]


async def ticket_of(house: House, card: Card) -> UUID:
    async with house.db.reading() as tx:
        return await tx.value("SELECT id FROM ticket WHERE organization_id = $1 AND card_id = $2", house.id, card.id)


async def test_a_door_at_which_nothing_happened(house: House) -> None:
    tally = await reader_of(house).begin()
    assert (tally.total_activated, tally.total_expected, tally.denials(), tally.gates()) == (0, 0, [], [])
    assert [one.name for one in tally.categories] == ["General"]
    assert sum(one.activated for one in tally.last_hour(now())) == 0


async def test_scans_are_counted_by_category_gate_verdict_minute_and_scanner(house: House) -> None:
    cards, key_id = [await house.card() for _ in range(3)], await key_of(house)
    reader = reader_of(house)
    await reader.begin()
    async with house.db.statement() as tx:
        await activate(tx, [scan(house, key_id, cards[0].number), scan(house, key_id, cards[1].number, gate=None)])
        await activate(tx, [scan(house, key_id, cards[0].number, gate="South"), scan(house, key_id, "SVC 1")])
    tally = await reader.look()
    assert (tally.total_activated, tally.total_expected) == (2, 3)
    assert tally.activated_of(house.category_id) == 2
    assert tally.gates() == [("North", 1, 1), (None, 1, 0), ("South", 0, 1)]
    assert dict(tally.denials()) == {"already_activated": 1, "card_not_found": 1}
    hour = tally.last_hour(now())
    assert (sum(one.activated for one in hour), sum(one.denied for one in hour)) == (2, 2)
    assert tally.scanners["scanner of South"].gate == "South"
    assert tally.scanners["scanner of North"].scans == 2


async def test_what_commits_late_is_counted_once(house: House) -> None:
    """The first scan takes its time, then stands still; a later one overtakes it."""
    early, late, key_id = await house.card(), await house.card(), await key_of(house)
    reader = reader_of(house)
    await reader.begin()
    async with house.db.transaction() as slow:
        await activate(slow, [scan(house, key_id, early.number)])
        assert (await reader.look()).total_activated == 0
        async with house.db.statement() as quick:
            await activate(quick, [scan(house, key_id, late.number)])
        assert (await reader.look()).total_activated == 1
        assert (await reader.look()).total_activated == 1
    assert (await reader.look()).total_activated == 2
    assert (await reader.look()).total_activated == 2


async def test_what_is_rolled_back_is_not_counted(house: House) -> None:
    card, key_id = await house.card(), await key_of(house)
    reader = reader_of(house)
    await reader.begin()

    async def fail() -> None:
        async with house.db.transaction() as tx:
            await activate(tx, [scan(house, key_id, card.number)])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert (await reader.look()).total_activated == 0


@pytest.mark.parametrize("verb", [tickets.undo_activation, tickets.cancel])
async def test_what_is_taken_back_asks_for_a_count(house: House, verb) -> None:
    card, key_id = await house.card(), await key_of(house)
    async with house.db.statement() as tx:
        await activate(tx, [scan(house, key_id, card.number)])
    reader = reader_of(house)
    tally = await reader.begin()
    async with house.db.transaction() as tx:
        await verb(tx, house.id, await ticket_of(house, card), by="test", at=now(), reason="test")
    assert (await reader.look()).total_activated == 0
    assert tally.needs_count


async def test_a_ticket_of_another_event_asks_for_nothing(house: House) -> None:
    card, key_id = await house.card(), await key_of(house)
    async with house.db.statement() as tx:
        await activate(tx, [scan(house, key_id, card.number)])
    reader = reader_of(house, event_id=await house.event())
    tally = await reader.begin()
    async with house.db.transaction() as tx:
        await tickets.undo_activation(tx, house.id, await ticket_of(house, card), by="test", at=now(), reason="test")
    await reader.look()
    assert not tally.needs_count


async def test_fewer_tickets_ask_for_a_count_and_more_do_not(house: House) -> None:
    card = await house.card()
    reader = reader_of(house)
    tally = await reader.begin()
    await house.card()
    assert (await reader.look()).total_expected == 2
    assert not tally.needs_count
    tally = reader.tally
    async with house.db.transaction() as tx:
        await tickets.cancel(tx, house.id, await ticket_of(house, card), by="test", at=now(), reason="test")
    assert (await reader.look()).total_expected == 1
    assert tally.needs_count


async def test_a_partition_that_comes_asks_for_a_count(house: House, db: Database) -> None:
    """Rows that the default partition held move into it, and would look fresh."""
    reader = reader_of(house)
    tally = await reader.begin()
    ahead = now() + timedelta(weeks=9)
    async with db.transaction() as tx:
        while await upkeep.make_partition(tx, "scan", at=ahead) is not None:
            pass
    await reader.look()
    assert tally.needs_count


async def test_sandbox_and_live_do_not_meet(house: House) -> None:
    card, live, test = await house.card(), await key_of(house), await key_of(house, Mode.SANDBOX)
    readers = [reader_of(house), reader_of(house, Mode.SANDBOX, sandbox.EVENT_ID)]
    for reader in readers:
        await reader.begin()
    async with house.db.statement() as tx:
        await activate(tx, [scan(house, live, card.number)])
        shown = ("TEST_VALID", "TEST_VALID", "TEST_VIP", "TEST_USED", "SVC 1")
        await activate(tx, [scan(house, test, one, mode=Mode.SANDBOX) for one in shown])
        # A sandbox key may name a live event; it is refused, and is no scan of that event's door.
        stray = scan(house, test, "TEST_VALID")
        given = sandbox.judge(house.event_id, "TEST_VALID")
        await activate(tx, [msgspec.structs.replace(stray, mode=Mode.SANDBOX, given=given)])
    of_live, of_sandbox = [await reader.look() for reader in readers]
    assert (of_live.total_activated, of_live.verdicts.total()) == (1, 1)
    assert [of_sandbox.activated_of(one.id) for one in of_sandbox.categories] == [2, 1]
    assert dict(of_sandbox.denials()) == {"already_activated": 1, "card_not_found": 1}


async def test_another_organization_is_not_counted(house: House, db: Database) -> None:
    other = await make.house(db)
    card, key_id = await other.card(), await key_of(other)
    reader = reader_of(house, event_id=other.event_id)
    await reader.begin()
    async with db.statement() as tx:
        await activate(tx, [scan(other, key_id, card.number)])
    tally = await reader.look()
    assert (tally.total_activated, tally.verdicts.total(), tally.status) == (0, 0, None)


async def test_whatever_happens_the_tally_is_the_count(house: House) -> None:
    """Gates, undoing, cancelling and slow commits all at once; every look compares in one snapshot."""
    chance, key_id = random.Random(5), await key_of(house)
    cards = [await house.card() for _ in range(60)]
    done = asyncio.Event()

    async def gate(name: str) -> None:
        for _ in range(25):
            async with house.db.transaction() as tx:
                await activate(tx, [scan(house, key_id, chance.choice(cards).number, gate=name) for _ in range(2)])
                await asyncio.sleep(chance.random() / 50)  # the commit comes late
                if chance.random() < 0.1:
                    await tx.rows("SELECT 1")

    async def desk() -> None:
        for _ in range(10):
            await asyncio.sleep(0.03)
            ticket_id = await ticket_of(house, chance.choice(cards))
            verb = chance.choice([tickets.undo_activation, tickets.undo_activation, tickets.cancel])
            try:
                async with house.db.transaction() as tx:
                    await verb(tx, house.id, ticket_id, by="test", at=now(), reason="test")
            except (tickets.TicketNotFound, tickets.TicketCancelled):
                continue

    async def watch() -> int:
        reader, looks = reader_of(house), 0
        await reader.begin()
        while not done.is_set():
            await reader.look()
            looks += 1
        return looks

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(gate(f"Gate {n}") for n in range(4)), desk())
    done.set()
    assert await watching > 5
