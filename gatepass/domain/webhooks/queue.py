"""The queue of deliveries: a worker claims them, sends them without an open transaction, and records the results.

A claim is a lease. A worker that crashes or hangs loses it after LEASE: the row is due again, and the next claim
increments its attempt number. That number is the fencing token: a result with an older one changes neither the delivery
nor the queue. So a message is delivered at least once. The SQL is in `queue.sql` beside this file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from gatepass.base.database import Tx
from gatepass.domain import audit_log
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks.schedule import FAILING, LONGEST_PROBE, PACE, PAUSED_AFTER, SHORTEST_PROBE

# Longer than an attempt and its recording take, so that no two workers ever send one delivery at the same time.
LEASE: Final = timedelta(seconds=45)


class Lane(msgspec.Struct, frozen=True):
    """The deliveries of one endpoint and one priority: live (0), or backlog (1), which can wait."""

    endpoint_id: UUID
    number: int

    @property
    def can_wait(self) -> bool:
        return self.number > 0


class Claimed(msgspec.Struct, frozen=True):
    """A claimed delivery. Fields in the order of the columns of claim_deliveries."""

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

    @property
    def is_new(self) -> bool:
        """The first attempt of a new message, to an endpoint that does not fail: only we can make it late."""
        return self.attempt == 1 and self.lane == 0 and not self.failures


class Claims(list[Claimed]):
    """`put_off` counts the due deliveries that must wait for an earlier one. There may be more behind them."""

    put_off = 0


class AttemptError(StrEnum):
    """Why there is no complete response. Frozen: integrators read these."""

    TIMEOUT = "timeout"
    DNS_FAILED = "dns_failed"
    ADDRESS_NOT_ALLOWED = "address_not_allowed"
    CONNECT_FAILED = "connect_failed"
    TLS_FAILED = "tls_failed"
    CONNECTION_LOST = "connection_lost"
    BAD_ANSWER = "bad_answer"
    INTERNAL = "internal_error"


class Attempt(msgspec.Struct, frozen=True):
    """One HTTP request. `error` is a code if the response was not complete; `retry_after` is in seconds.

    `dns_ms` and `connect_ms` are set if this attempt itself resolved the name and made the connection.
    """

    at: datetime
    status: int | None
    error: str | None
    address: str | None
    dns_ms: float | None
    connect_ms: float | None
    answer_ms: float | None
    total_ms: float
    answer_head: str | None
    retry_after: float | None

    @property
    def succeeded(self) -> bool:
        return self.error is None and self.status is not None and 200 <= self.status < 300


class State(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Result(msgspec.Struct, frozen=True):
    """The result of a claimed delivery. `again` is the number of seconds until the next attempt; None: none."""

    claimed: Claimed
    attempt: Attempt
    state: State
    again: float | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """The result of a batch of attempts for an endpoint. It exists only for endpoints that fail, or have recovered."""

    organization_id: UUID
    endpoint_id: UUID
    mode: Mode
    failed: int
    is_back: bool = False
    gone: bool = False
    wait: float = 0


async def claim(tx: Tx, free_slots: Mapping[Lane, int], *, of_others: int, lanes: int, most: int) -> Claims:
    """Claim due deliveries for LEASE: at most `free_slots` of each lane, and `of_others` of every other lane."""
    rows = await tx.rows(
        CLAIM,
        msgspec.json.encode({f"{lane.endpoint_id}{lane.number}": free for lane, free in free_slots.items()}).decode(),
        of_others,
        lanes,
        most,
        LEASE,
        FAILING,
    )
    claims = Claims(Claimed(*row) for row in rows if row["event_id"] is not None)
    claims.put_off = len(rows) - len(claims)
    return claims


async def record(tx: Tx, results: Sequence[Result]) -> int:
    """Write attempts and their results; return for how many deliveries the claim was still valid."""
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
    """Return deliveries that were not begun, as if they had not been claimed."""
    await tx.run(
        RELEASE,
        [one.organization_id for one in claimed],
        [one.endpoint_id for one in claimed],
        [one.ordering_key for one in claimed],
        [one.id for one in claimed],
        [one.attempt for one in claimed],
    )


async def record_health(tx: Tx, healths: Sequence[Health], *, at: datetime) -> None:
    """Store which endpoints fail and since when; slow down on them, and pause those that are gone."""
    back = [health for health in healths if health.is_back]
    await tx.run(BACK, [one.organization_id for one in back], [one.endpoint_id for one in back], FAILING)
    failing = [health for health in healths if health.failed or health.gone]
    ids = [one.organization_id for one in failing], [one.endpoint_id for one in failing]
    paces = [PACE[one.mode] for one in failing]
    await tx.run(FAIL, *ids, [one.failed for one in failing], paces, FAILING, SHORTEST_PROBE, LONGEST_PROBE)
    asking = [health for health in healths if health.wait]
    await tx.run(
        WAIT,
        [one.organization_id for one in asking],
        [one.endpoint_id for one in asking],
        [one.wait for one in asking],
    )
    paused = await tx.rows(PAUSE, *ids, [one.gone for one in failing], paces, PAUSED_AFTER)
    for row in paused:
        await audit_log.record(
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

# A wait from a Retry-After header stays.
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

# Exponential backoff with jitter. During a probe, blocked_until is the lease of its message, which has ended now.
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
