"""Maintenance: partitions, generations of idempotency keys, the end of events, cancellations, pauses, erasure.

Each step waits at most 200 ms for its locks, holds those that a gate could meet for at most a second, and may run in
several processes at once.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, LiteralString

from gatepass.base.database import Database, Tx
from gatepass.base.errors import Unavailable
from gatepass.domain import card_exports, events, imports, tickets, twin
from gatepass.domain.devices import pairing
from gatepass.domain.lifecycle import erasure
from gatepass.domain.mail import cleanup as letters
from gatepass.domain.staff import notices, sessions
from gatepass.domain.webhooks import backlog, replays

HISTORIES: Final = ("scan", "request_log", "audit_log", "webhook_event", "webhook_delivery", "webhook_attempt")
# Answers are kept at least this long: a closed generation is read for one generation more.
GENERATION: Final = timedelta(hours=24)
# Seconds for a step that reads a whole partition and holds no lock that a scan meets.
UNLOCKED: Final = 3_600.0


@dataclass(slots=True)
class MaintenanceReport:
    partitions_made: int = 0
    partitions_dropped: int = 0
    generations_rotated: int = 0
    events_ended: int = 0
    tickets_cancelled: int = 0
    webhooks_replayed: int = 0
    webhooks_set_aside: int = 0
    webhooks_expired: int = 0
    import_rows_swept: int = 0
    card_exports_deleted: int = 0
    sessions_forgotten: int = 0
    notices_forgotten: int = 0
    addresses_forgotten: int = 0
    letters_deleted: int = 0
    pairing_codes_deleted: int = 0
    organization_rows_erased: int = 0
    sandboxes_unused: int = 0
    sandbox_rows_erased: int = 0
    put_off: int = 0


async def run_due(db: Database, *, at: datetime) -> MaintenanceReport:
    """Run every step that is due. A step that does not get its lock is put off until the next run."""
    done = MaintenanceReport()
    for history in HISTORIES:
        done.partitions_made += await _make_partitions(db, done, history, at)
        done.partitions_dropped += await _repeat(db, done, lambda tx, name=history: drop_partition(tx, name, at=at))
    done.generations_rotated += await _rotate(db, done, at)
    async with db.transaction() as tx:
        done.events_ended = await events.end_past_events(tx, at=at)
    done.webhooks_expired += await _all(db, lambda tx: backlog.expire_some(tx, at=at))
    done.import_rows_swept += await _all(db, lambda tx: imports.sweep_some(tx, at=at))
    done.card_exports_deleted += await _all(db, lambda tx: card_exports.sweep_some(tx, at=at))
    done.sessions_forgotten += await _all(db, lambda tx: sessions.delete_some_expired(tx, at=at))
    done.notices_forgotten += await _all(db, lambda tx: notices.delete_some_old(tx, at=at))
    done.addresses_forgotten += await _all(db, lambda tx: letters.forget_some_addresses(tx, at=at))
    done.letters_deleted += await _all(db, lambda tx: letters.delete_some_old(tx, at=at))
    done.pairing_codes_deleted += await _all(db, lambda tx: pairing.delete_some_old(tx, at=at))
    async with db.transaction() as tx:
        done.sandboxes_unused = await twin.empty_unused(tx, at=at)
    await follow_up(db, at=at, done=done)
    done.organization_rows_erased = await erasure.erase_some(db, at=at)
    return done


async def follow_up(db: Database, *, at: datetime, done: MaintenanceReport | None = None) -> MaintenanceReport:
    """Steps that people may wait for: tickets of cancelled events, replays, queues, sandboxes that are emptied."""
    done = done or MaintenanceReport()
    done.tickets_cancelled += await _all(db, lambda tx: tickets.cancel_some_of_cancelled_events(tx, at=at))
    done.webhooks_set_aside += await _all(db, backlog.set_aside_some)
    await _all(db, lambda tx: backlog.drop_some_of_deleted(tx, at=at))
    done.webhooks_replayed += await _all(db, lambda tx: replays.advance_some(tx, at=at))
    done.sandbox_rows_erased += await erasure.empty_sandboxes(db, at=at)
    return done


@dataclass(frozen=True, slots=True)
class Retention:
    """How long the rows of a partitioned table are kept."""

    name: str
    keep: timedelta


async def retentions(tx: Tx) -> list[Retention]:
    return await tx.all(Retention, RETENTIONS)


@asynccontextmanager
async def lock(db: Database) -> AsyncGenerator[bool, None]:
    """Whether this process has the maintenance lock. It is held until the block, and its transaction, ends."""
    async with db.transaction() as tx:
        yield bool(await tx.value(TRY_LOCK))


async def make_partition(tx: Tx, history: str, *, at: datetime) -> str | None:
    await tx.run(BRIEFLY)
    return await tx.value(MAKE_PARTITION, history, at)


async def drop_partition(tx: Tx, history: str, *, at: datetime) -> str | None:
    await tx.run(BRIEFLY)
    return await tx.value(DROP_PARTITION, history, at)


async def _make_partitions(db: Database, done: MaintenanceReport, history: str, at: datetime) -> int:
    made = 0
    try:
        while True:
            made += await _repeat(db, done, lambda tx: make_partition(tx, history, at=at))
            async with db.autocommit(within=UNLOCKED) as tx:
                place = await tx.rows(PLACE_OF_DEFAULT, history, at)
            if not place or not await _put_in_place(db, history, *place[0]):
                break
            made += 1
        await _all(db, lambda tx: _count(tx, BRING_ROWS_BACK, history))
    except Unavailable:
        done.put_off += 1
    return made


async def _put_in_place(db: Database, history: str, starts: datetime, ends: datetime) -> bool:
    """Make a crowded default partition the partition of this time. Only the two short steps hold a lock."""
    async with db.transaction() as tx:
        await tx.run(BRIEFLY)
        await tx.run(BOUND_DEFAULT, history, starts, ends)
    try:
        while True:
            async with db.transaction(within=UNLOCKED) as tx:
                if not await tx.value(SET_ROWS_ASIDE, history, starts, ends):
                    break
        async with db.autocommit(within=UNLOCKED) as tx:
            await tx.run(CHECK_DEFAULT, history)
        async with db.transaction() as tx:
            await tx.run(BRIEFLY)
            return await tx.value(PUT_DEFAULT_IN_PLACE, history, starts, ends) is not None
    except BaseException:
        async with db.transaction() as tx:
            await tx.run(BRIEFLY)
            await tx.run(BOUND_DEFAULT, history, None, None)
        raise


async def _count(tx: Tx, sql: LiteralString, *values: object) -> int:
    return int(await tx.value(sql, *values))


async def _repeat(db: Database, done: MaintenanceReport, step: Callable[[Tx], Awaitable[str | None]]) -> int:
    count = 0
    try:
        while True:
            async with db.transaction() as tx:
                if await step(tx) is None:
                    return count
            count += 1
    except Unavailable:
        done.put_off += 1
    return count


async def _rotate(db: Database, done: MaintenanceReport, at: datetime) -> int:
    """Two short transactions: a scan may wait for the second one, never for the TRUNCATE in the first."""
    try:
        async with db.transaction() as tx:
            if not await tx.value(ROTATION_IS_DUE, at - GENERATION):
                return 0
            await tx.run(BRIEFLY)
            await tx.run(EMPTY_NEXT)
        async with db.transaction() as tx:
            await tx.run(BRIEFLY)
            return int(await tx.value(OPEN_NEXT, at, at - GENERATION))
    except Unavailable:
        done.put_off += 1
        return 0


async def _all(db: Database, some: Callable[[Tx], Awaitable[int]]) -> int:
    """Run batches, each in a transaction of its own, until one is empty; return the total."""
    count = 0
    while True:
        async with db.transaction() as tx:
            done = await some(tx)
        if not done:
            return count
        count += done


# A gate that waits behind our lock request waits no longer than the one, and behind our lock no longer than the other.
BRIEFLY: Final = "SET LOCAL lock_timeout = '200ms'; SET LOCAL statement_timeout = '1s'"

TRY_LOCK: Final = "SELECT pg_try_advisory_xact_lock(hashtext('maintenance'))"

RETENTIONS: Final = "SELECT name, keep FROM history ORDER BY keep DESC, name"

MAKE_PARTITION: Final = "SELECT make_missing_partition($1, $2)"

PLACE_OF_DEFAULT: Final = "SELECT starts, ends FROM place_of_default($1, $2)"

BOUND_DEFAULT: Final = "SELECT bound_default($1, $2, $3)"

SET_ROWS_ASIDE: Final = "SELECT set_rows_aside($1, $2, $3)"

CHECK_DEFAULT: Final = "SELECT check_default($1)"

PUT_DEFAULT_IN_PLACE: Final = "SELECT put_default_in_place($1, $2, $3)"

BRING_ROWS_BACK: Final = "SELECT bring_rows_back($1)"

DROP_PARTITION: Final = "SELECT drop_expired_partition($1, $2)"

ROTATION_IS_DUE: Final = "SELECT true FROM idempotency_generation WHERE opened_at <= $1"

EMPTY_NEXT: Final = "SELECT empty_next_generation()"

OPEN_NEXT: Final = "SELECT open_next_generation($1, $2)"
