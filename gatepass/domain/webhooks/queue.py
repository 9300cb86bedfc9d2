"""The queue of deliveries: claimed by a worker, sent while no transaction is open, recorded.

A claim lasts for LEASE. A worker that dies or hangs loses it, and the next one finds the row due again with a higher
attempt number; what the first one records then finds no row. `queue.sql` beside this file is the whole of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from gatepass.base.database import Tx
from gatepass.domain import changes
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks.attempt import Attempt
from gatepass.domain.webhooks.schedule import FAILING, LONGEST_PROBE, PACE, PATIENCE, SHORTEST_PROBE

# Longer than a sender takes for an attempt and its record, so that no delivery is ever in two hands.
LEASE: Final = timedelta(seconds=45)


class Lane(msgspec.Struct, frozen=True):
    """What goes to one endpoint: what happens now, or what can wait."""

    endpoint_id: UUID
    number: int

    @property
    def can_wait(self) -> bool:
        return self.number > 0


class Claimed(msgspec.Struct, frozen=True):
    """One delivery in a worker's hands. In the order of the columns of claim_deliveries."""

    organization_id: UUID
    endpoint_id: UUID
    ordering_key: UUID
    id: int
    lane: int
    attempt: int
    delivery_at: datetime
    delivery_id: UUID
    is_replay: bool
    event_id: UUID
    type: str
    body: bytes | None
    mode: str
    url: str
    sealed_secret: bytes
    sealed_new_secret: bytes | None
    switches_at: datetime | None
    retires_at: datetime | None
    failures: int


class Claims(list[Claimed]):
    """`put_off` is how many were found that must wait for an earlier one. Behind them there may be more."""

    put_off = 0


class State(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Result(msgspec.Struct, frozen=True):
    """What became of a claimed delivery. `again` is in how many seconds it is tried again; None: never."""

    claimed: Claimed
    attempt: Attempt
    state: State
    again: float | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """What a batch of attempts says about an endpoint. Only failing ones, and those that no longer fail, are noted."""

    organization_id: UUID
    endpoint_id: UUID
    mode: Mode
    failed: int
    is_back: bool = False
    gone: bool = False
    wait: float = 0


async def claim(tx: Tx, rooms: Mapping[Lane, int], *, elsewhere: int, lanes: int, most: int) -> Claims:
    """Take what is due, so many of each lane; of a lane that is not named `elsewhere`. They are ours for LEASE."""
    rows = await tx.rows(
        CLAIM,
        msgspec.json.encode({f"{lane.endpoint_id}{lane.number}": room for lane, room in rooms.items()}).decode(),
        elsewhere,
        lanes,
        most,
        LEASE,
        FAILING,
    )
    claims = Claims(Claimed(*row) for row in rows if row["event_id"] is not None)
    claims.put_off = len(rows) - len(claims)
    return claims


async def record(tx: Tx, results: Sequence[Result]) -> int:
    """Write down attempts and what they mean; how many deliveries were still ours."""
    claimed = [result.claimed for result in results]
    made = [result.attempt for result in results]
    return await tx.value(
        RECORD,
        [one.organization_id for one in claimed],
        [one.endpoint_id for one in claimed],
        [one.ordering_key for one in claimed],
        [one.id for one in claimed],
        [one.attempt for one in claimed],
        [one.delivery_at for one in claimed],
        [one.delivery_id for one in claimed],
        [result.state.value for result in results],
        [result.again for result in results],
        [one.at for one in made],
        [one.status for one in made],
        [one.error for one in made],
        [one.address for one in made],
        [one.dns_ms for one in made],
        [one.connect_ms for one in made],
        [one.answer_ms for one in made],
        [one.total_ms for one in made],
        [one.answer_head for one in made],
    )


async def release(tx: Tx, claimed: Sequence[Claimed]) -> None:
    """Give back what was not begun, as if it had not been claimed."""
    await tx.run(
        RELEASE,
        [one.organization_id for one in claimed],
        [one.endpoint_id for one in claimed],
        [one.ordering_key for one in claimed],
        [one.id for one in claimed],
        [one.attempt for one in claimed],
    )


async def note_health(tx: Tx, healths: Sequence[Health], *, at: datetime) -> None:
    """Remember which endpoints fail and for how long; slow down on them, and pause those that are gone."""
    back = [health for health in healths if health.is_back]
    await tx.run(BACK, [one.organization_id for one in back], [one.endpoint_id for one in back], FAILING)
    failing = [health for health in healths if health.failed or health.gone]
    whose = [one.organization_id for one in failing], [one.endpoint_id for one in failing]
    paces = [PACE[one.mode] for one in failing]
    await tx.run(FAIL, *whose, [one.failed for one in failing], paces, FAILING, SHORTEST_PROBE, LONGEST_PROBE)
    asking = [health for health in healths if health.wait]
    await tx.run(
        WAIT,
        [one.organization_id for one in asking],
        [one.endpoint_id for one in asking],
        [one.wait for one in asking],
    )
    paused = await tx.rows(PAUSE, *whose, [one.gone for one in failing], paces, PATIENCE)
    for row in paused:
        await changes.note(
            tx, row["organization_id"], "webhook_endpoint", row["id"], "paused", by="worker", at=at,
            was="active", becomes="paused", reason=row["paused_reason"],
        )  # fmt: skip


CLAIM: Final = """
    SELECT *
      FROM claim_deliveries($1, $2, $3, $4, $5, $6)
"""

RECORD: Final = """
    SELECT record_attempts($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
"""

RELEASE: Final = """
    UPDATE webhook_queue q
       SET next_at = now(), attempt = q.attempt - 1
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::integer[])
           u (organization_id, endpoint_id, ordering_key, id, attempt)
     WHERE q.organization_id = u.organization_id
       AND q.endpoint_id = u.endpoint_id
       AND q.ordering_key = u.ordering_key
       AND q.id = u.id
       AND q.attempt = u.attempt
"""

# A wait that the receiver asked for stays.
BACK: Final = """
    UPDATE webhook_endpoint e
       SET failures = 0,
           failing_since = NULL,
           blocked_until = CASE WHEN e.failures < $3 THEN e.blocked_until END
      FROM unnest($1::uuid[], $2::uuid[]) u (organization_id, id)
     WHERE e.organization_id = u.organization_id
       AND e.id = u.id
       AND e.failures > 0
"""

# While it is asked with one message, blocked_until is that message's claim, which has ended now.
FAIL: Final = """
    UPDATE webhook_endpoint e
       SET failures = e.failures + u.failed,
           failing_since = coalesce(e.failing_since, now()),
           blocked_until = CASE
               WHEN e.failures + u.failed >= $5
               THEN now() + (0.8 + 0.4 * random())
                            * least(greatest((now() - coalesce(e.failing_since, now())) / 2, $6::interval / u.pace),
                                    $7::interval / u.pace)
               ELSE e.blocked_until END
      FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::integer[]) u (organization_id, id, failed, pace)
     WHERE e.organization_id = u.organization_id
       AND e.id = u.id
       AND u.failed > 0
"""

WAIT: Final = """
    UPDATE webhook_endpoint e
       SET blocked_until = greatest(e.blocked_until, now() + u.wait * interval '1 second')
      FROM unnest($1::uuid[], $2::uuid[], $3::double precision[]) u (organization_id, id, wait)
     WHERE e.organization_id = u.organization_id
       AND e.id = u.id
"""

PAUSE: Final = """
    UPDATE webhook_endpoint e
       SET status = 'paused',
           paused_reason = CASE WHEN u.gone THEN 'gone' ELSE 'failing' END
      FROM unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::integer[]) u (organization_id, id, gone, pace)
     WHERE e.organization_id = u.organization_id
       AND e.id = u.id
       AND e.status = 'active'
       AND (u.gone OR e.failing_since <= now() - $5::interval / u.pace)
    RETURNING e.organization_id, e.id, e.paused_reason
"""
