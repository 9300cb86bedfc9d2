"""Upkeep: partitions ahead and behind, retry keys rotated, events ended, and what follows a cancellation or a pause.

Each step is short, waits briefly for its locks, and may be run by several processes at once.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gatepass.base.database import Database, Tx
from gatepass.base.refusals import Unavailable
from gatepass.domain import events, imports, tickets
from gatepass.domain.staff import forgetting
from gatepass.domain.webhooks import backlog, replays

HISTORIES: Final = ("scan", "audit", "change", "webhook_event", "webhook_delivery", "webhook_attempt")
# Answers are kept at least this long: a generation is read for one more after it is closed.
GENERATION: Final = timedelta(hours=24)


@dataclass(slots=True)
class Done:
    partitions_made: int = 0
    partitions_dropped: int = 0
    generations_rotated: int = 0
    events_ended: int = 0
    tickets_cancelled: int = 0
    webhooks_replayed: int = 0
    webhooks_set_aside: int = 0
    webhooks_expired: int = 0
    import_rows_swept: int = 0
    sessions_forgotten: int = 0
    put_off: int = 0


async def keep(db: Database, *, at: datetime) -> Done:
    """Do what is due. What could not get its lock is left for the next time."""
    done = Done()
    for history in HISTORIES:
        done.partitions_made += await _repeat(db, done, lambda tx, name=history: make_partition(tx, name, at=at))
        done.partitions_dropped += await _repeat(db, done, lambda tx, name=history: drop_partition(tx, name, at=at))
    done.generations_rotated += await _rotate(db, done, at)
    async with db.transaction() as tx:
        done.events_ended = await events.end_past(tx, at=at)
    done.webhooks_expired += await _all(db, lambda tx: backlog.expire_some(tx, at=at))
    done.import_rows_swept += await _all(db, lambda tx: imports.sweep_some(tx, at=at))
    done.sessions_forgotten += await _all(db, lambda tx: forgetting.forget_some(tx, at=at))
    await follow_up(db, at=at, done=done)
    return done


async def follow_up(db: Database, *, at: datetime, done: Done | None = None) -> Done:
    """What somebody may be waiting for: tickets of cancelled events, replays, and the queues of paused endpoints."""
    done = done or Done()
    done.tickets_cancelled += await _all(db, lambda tx: tickets.cancel_some_of_cancelled_events(tx, at=at))
    done.webhooks_set_aside += await _all(db, backlog.set_aside_some)
    await _all(db, lambda tx: backlog.drop_some_of_deleted(tx, at=at))
    done.webhooks_replayed += await _all(db, lambda tx: replays.advance_some(tx, at=at))
    return done


@dataclass(frozen=True, slots=True)
class Retention:
    """How long a history is kept."""

    name: str
    keep: timedelta


async def retentions(tx: Tx) -> list[Retention]:
    return await tx.all(Retention, RETENTIONS)


@asynccontextmanager
async def turn(db: Database) -> AsyncGenerator[bool, None]:
    """Whether it is this process's turn, for as long as the block lasts. The lock goes with its transaction."""
    async with db.transaction() as tx:
        yield bool(await tx.value(TAKE_TURN))


async def make_partition(tx: Tx, history: str, *, at: datetime) -> str | None:
    await tx.run(BRIEFLY)
    return await tx.value(MAKE_PARTITION, history, at)


async def drop_partition(tx: Tx, history: str, *, at: datetime) -> str | None:
    await tx.run(BRIEFLY)
    return await tx.value(DROP_PARTITION, history, at)


async def _repeat(db: Database, done: Done, step: Callable[[Tx], Awaitable[str | None]]) -> int:
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


async def _rotate(db: Database, done: Done, at: datetime) -> int:
    """Two short transactions: a scan waits for the flip alone, never for the clean-up."""
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
    """Batch after batch, each its own transaction, until nothing is left; how many that were."""
    count = 0
    while True:
        async with db.transaction() as tx:
            done = await some(tx)
        if not done:
            return count
        count += done


# A gate that queues behind us waits no longer than this.
BRIEFLY: Final = "SET LOCAL lock_timeout = '200ms'"

TAKE_TURN: Final = "SELECT pg_try_advisory_xact_lock(hashtext('upkeep'))"

RETENTIONS: Final = "SELECT name, keep FROM history ORDER BY keep DESC, name"

MAKE_PARTITION: Final = "SELECT make_missing_partition($1, $2)"

DROP_PARTITION: Final = "SELECT drop_expired_partition($1, $2)"

ROTATION_IS_DUE: Final = "SELECT true FROM idempotency_generation WHERE opened_at <= $1"

EMPTY_NEXT: Final = "SELECT empty_next_generation()"

OPEN_NEXT: Final = "SELECT open_next_generation($1, $2)"
