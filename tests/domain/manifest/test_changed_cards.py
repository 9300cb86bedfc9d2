"""A manifest and its changes equal a fresh manifest, whatever changed, in whatever order it committed."""

import asyncio
import random
import re
from pathlib import Path

import pytest

import gatepass
from gatepass.base.database import Database, Tx
from gatepass.domain import maintenance, manifest, tickets
from gatepass.domain.live import repeatable_read
from gatepass.domain.manifest import ForeignServerError
from gatepass.domain.manifest.records import GONE
from tests.domain.live.test_totals import activate, key_of, scan, ticket_of
from tests.domain.manifest import verbs
from tests.domain.manifest.follower import TestFollower
from tests.factory import Tenant, now


@pytest.mark.parametrize("verb", verbs.VERBS, ids=lambda verb: verb.__name__)
async def test_each_verb_is_found(alone: Tenant, verb: verbs.Verb) -> None:
    await alone.card()
    follower = await TestFollower.of(alone)
    before = follower.manifest.records.body
    await verb(alone)
    differing = await follower.look()
    assert bool(differing) == (follower.manifest.records.body != before)
    assert await follower.look() == set()


async def test_a_walk_over_all_verbs(alone: Tenant) -> None:
    """One look over all that happened, and one after each step."""
    patient = await TestFollower.of(alone)
    follower = await TestFollower.of(alone)
    for verb in verbs.VERBS:
        await verb(alone)
        await follower.look()
    await patient.look()
    assert patient.manifest.records == follower.manifest.records


async def test_every_statement_that_writes_a_ticket_or_a_card_is_walked_over() -> None:
    """A new one has to be found by changes too: add its verb to the walk, then its file here."""
    domain = Path(gatepass.__file__).parent / "domain"
    writes = re.compile(r"(UPDATE|INSERT INTO|DELETE FROM) (ticket|card)\b(?!_)")
    writing = {
        str(path.relative_to(domain))
        for path in [*domain.rglob("*.py"), *domain.rglob("*.sql")]
        if writes.search(path.read_text())
    }
    walked = {
        "cards/issuance.py", "cards/phones.py", "cards/status.py", "imports/undo.py", "incidents/letting_in.py",
        "tickets/activation.sql", "tickets/cancellation.py", "tickets/issuance.py", "tickets/replacement.py",
        "tickets/transfer.py",
    }  # fmt: skip
    # Whole organizations go; or what is written is in no record: that somebody was admitted without an activation.
    others = {"demo.py", "lifecycle/erased_tables.py", "journal/recording.sql"}
    assert writing - others == walked


async def test_a_new_category_asks_for_the_whole_manifest(tenant: Tenant) -> None:
    await tenant.card()
    follower = await TestFollower.of(tenant)
    await verbs.add_category_and_issue(tenant)
    with pytest.raises(ForeignServerError):
        await follower.look()


async def test_a_card_of_another_event_is_not_told(tenant: Tenant) -> None:
    await tenant.card()
    follower = await TestFollower.of(tenant)
    await verbs.change_card_without_ticket(tenant)
    assert await follower.look() == set()


async def test_what_commits_late_is_found_once(tenant: Tenant) -> None:
    early, late, key_id = await tenant.card(), await tenant.card(), await key_of(tenant)
    follower = await TestFollower.of(tenant)
    async with tenant.db.transaction() as slow:
        await activate(slow, [scan(tenant, key_id, early.number)])
        assert await follower.look() == set()
        async with tenant.db.autocommit() as quick:
            await activate(quick, [scan(tenant, key_id, late.number)])
        assert len(await follower.look()) == 1
    assert len(await follower.look()) == 1
    assert await follower.look() == set()


async def test_an_entry_whose_time_is_long_past_is_found(tenant: Tenant) -> None:
    """The audit log is searched by transactions: a worker may write the time at which its round began."""
    card = await tenant.card()
    follower = await TestFollower.of(tenant)
    async with tenant.db.transaction() as tx:
        at = now().replace(year=now().year - 1)
        await tickets.cancel(tx, tenant.id, await ticket_of(tenant, card), by="test", at=at, reason="test")
    assert len(await follower.look()) == 1


async def test_what_is_gone_is_told(alone: Tenant) -> None:
    desk, import_id = await verbs.imported(alone)
    follower = await TestFollower.of(alone)
    await desk.undone(import_id)
    gone = await follower.look()
    assert len(gone) == 3
    assert follower.manifest.records.select(gone) == b"".join(hash + GONE for hash in sorted(gone))


async def test_a_partition_that_comes_tells_nothing_false(tenant: Tenant, db: Database) -> None:
    await verbs.scan_one(tenant)
    follower = await TestFollower.of(tenant)
    async with db.transaction() as tx:
        await maintenance.make_partition(tx, "scan", at=now())
    assert await follower.look() == set()


async def test_under_load_nothing_is_missed(tenant: Tenant) -> None:
    """Gates, a desk and slow commits at the same time; every look compares within one snapshot."""
    chance, key_id = random.Random(7), await key_of(tenant)
    cards = [await tenant.card() for _ in range(80)]
    done = asyncio.Event()

    async def gate(name: str) -> None:
        for _ in range(25):
            async with tenant.db.transaction() as tx:
                await activate(tx, [scan(tenant, key_id, chance.choice(cards).number, gate=name) for _ in range(2)])
                await asyncio.sleep(chance.random() / 50)  # the commit comes late

    async def desk() -> None:
        for _ in range(15):
            ticket_id = await ticket_of(tenant, chance.choice(cards))
            verb = chance.choice([tickets.undo_activation, tickets.undo_activation, tickets.cancel])
            try:
                async with tenant.db.transaction() as tx:
                    await _in_a_savepoint(tx, verb, tenant, ticket_id)
            except (tickets.TicketNotFound, tickets.TicketCancelled):
                continue

    async def watch() -> int:
        follower, looks = await TestFollower.of(tenant), 0
        while not done.is_set():
            await follower.look(independently=False)
            looks += 1
        await follower.look()
        return looks

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(gate(f"Gate {n}") for n in range(4)), desk())
    done.set()
    assert await watching > 5


async def _in_a_savepoint(tx: Tx, verb: object, tenant: Tenant, ticket_id: object) -> None:
    async with tx.savepoint():
        await verb(tx, tenant.id, ticket_id, by="test", at=now(), reason="test")  # pyright: ignore[reportCallIssue]


async def test_a_follower_of_another_snapshot_order_is_not_needed(tenant: Tenant) -> None:
    """Two followers that look at different times have the same records in the end."""
    followers = [await TestFollower.of(tenant) for _ in range(2)]
    for number in range(6):
        await verbs.scan_one(tenant)
        await followers[number % 2].look()
    for follower in followers:
        await follower.look()
    assert followers[0].manifest.records == followers[1].manifest.records
    async with tenant.db.transaction() as tx:
        await repeatable_read(tx)
        fresh = await manifest.read(tx, tenant.id, tenant.event_id, at=now())
    assert fresh.records == followers[0].manifest.records
