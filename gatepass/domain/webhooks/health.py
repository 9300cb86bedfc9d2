"""Health of endpoints: the last 24 hours hour by hour, the waiting deliveries, and the time of the next attempt.

There are no counters: a counter would be one more row that workers contend for. Instead a bounded number of each hour's
newest messages is read, which takes as long for ten million as for ten thousand. Up to that number the figures are
exact; beyond, they are those of the newest, and `busy` is set.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.webhooks.deliveries import SKEW

HOURS: Final = 24
HOUR: Final = timedelta(hours=1)
# The rows that are read for one endpoint, and for each endpoint of a list of sixteen: messages of an hour, then rows in
# each lane of the queue.
MOST_OF_ONE: Final = 300
MOST_OF_EACH: Final = 100
WAITING_OF_ONE: Final = 5_000
WAITING_OF_EACH: Final = 500
# The newest deliveries for the median response time.
TIMED: Final = 100


@dataclass(frozen=True, slots=True)
class Hour:
    """Attempts for the messages of one hour. Of a `busy` hour only the newest messages were read."""

    begins: datetime
    messages: int
    delivered: int
    failed_attempts: int
    waiting: int
    given_up: int
    busy: bool

    @property
    def attempts(self) -> int:
        return self.delivered + self.failed_attempts


@dataclass(frozen=True, slots=True)
class Waiting:
    """Waiting deliveries; with `more`, at least `count`. The next attempt is at `next_at`, unless it is blocked."""

    count: int
    more: bool
    oldest: datetime | None
    next_at: datetime | None
    blocked_until: datetime | None
    failures: int

    def next_try(self, at: datetime) -> datetime | None:
        """The time of the next attempt; None if nothing waits."""
        if self.next_at is None:
            return None
        return max(self.next_at, self.blocked_until or at, at)


@dataclass(frozen=True, slots=True)
class EndpointHealth:
    hours: list[Hour]
    waiting: Waiting
    median_ms: float | None

    @property
    def messages(self) -> int:
        return sum(hour.messages for hour in self.hours)

    @property
    def attempts(self) -> int:
        return sum(hour.attempts for hour in self.hours)

    @property
    def failed_attempts(self) -> int:
        return sum(hour.failed_attempts for hour in self.hours)

    @property
    def given_up(self) -> int:
        return sum(hour.given_up for hour in self.hours)

    @property
    def busy(self) -> bool:
        return any(hour.busy for hour in self.hours)

    @property
    def success(self) -> float | None:
        """The share of successful attempts; None if there were none."""
        return sum(hour.delivered for hour in self.hours) / self.attempts if self.attempts else None


async def health_of(tx: Tx, organization_id: UUID, endpoint_id: UUID, *, at: datetime) -> EndpointHealth:
    """The last 24 hours of one endpoint, with larger samples."""
    found = await _healths(tx, organization_id, [endpoint_id], MOST_OF_ONE, WAITING_OF_ONE, at=at)
    return found[endpoint_id]


async def healths_of(
    tx: Tx, organization_id: UUID, endpoint_ids: Sequence[UUID], *, at: datetime
) -> dict[UUID, EndpointHealth]:
    """The last 24 hours of each of these endpoints."""
    return await _healths(tx, organization_id, endpoint_ids, MOST_OF_EACH, WAITING_OF_EACH, at=at)


async def _healths(
    tx: Tx, organization_id: UUID, endpoint_ids: Sequence[UUID], most: int, places: int, *, at: datetime
) -> dict[UUID, EndpointHealth]:
    ids, this_hour = list(endpoint_ids), at.replace(minute=0, second=0, microsecond=0)
    begins = [this_hour - n * HOUR for n in range(HOURS)]
    hours = await tx.rows(BY_HOUR, organization_id, ids, begins, most)
    waiting = {row["endpoint_id"]: row for row in await tx.rows(WAITING, organization_id, ids, places)}
    times = {row["endpoint_id"]: row["median_ms"] for row in await tx.rows(MEDIAN, organization_id, ids, TIMED, SKEW)}
    found: dict[UUID, EndpointHealth] = {}
    for id in ids:
        by_hour = [
            Hour(**{name: row[name] for name in Hour.__slots__ if name != "busy"}, busy=row["messages"] == most)
            for row in hours
            if row["endpoint_id"] == id
        ]
        found[id] = EndpointHealth(
            by_hour, Waiting(**{name: waiting[id][name] for name in Waiting.__slots__}), times.get(id)
        )
    return found


# Attempts are counted in the hour of their message, whenever they were made. A replayed message belongs to the hour of
# its replay.
BY_HOUR: Final = """
    SELECT e.id AS endpoint_id, h.begins, count(d.state) AS messages,
           count(*) FILTER (WHERE d.state = 'delivered') AS delivered,
           coalesce(sum(d.attempts - CASE d.state WHEN 'delivered' THEN 1 ELSE 0 END), 0) AS failed_attempts,
           count(*) FILTER (WHERE d.state = 'pending') AS waiting,
           count(*) FILTER (WHERE d.state = 'failed') AS given_up
      FROM unnest($2::uuid[]) e (id)
     CROSS JOIN unnest($3::timestamptz[]) h (begins)
      LEFT JOIN LATERAL (SELECT x.state, x.attempts
                           FROM webhook_delivery x
                          WHERE x.organization_id = $1
                            AND x.endpoint_id = e.id
                            AND x.at >= h.begins
                            AND x.at < h.begins + interval '1 hour'
                          ORDER BY x.at DESC, x.id DESC
                          LIMIT $4) d ON true
     GROUP BY e.id, h.begins
     ORDER BY e.id, h.begins
"""

# The first rows of each lane: those that wait longest, except deliveries that have failed and wait for a retry.
WAITING: Final = """
    SELECT e.id AS endpoint_id, count(q.lane) AS count,
           count(*) FILTER (WHERE q.lane = 0) = $3 OR count(*) FILTER (WHERE q.lane = 1) = $3 AS more,
           min(q.delivery_at) AS oldest, min(q.next_at) AS next_at, e.blocked_until, e.failures
      FROM webhook_endpoint e
      LEFT JOIN LATERAL (SELECT l.lane, l.delivery_at, l.next_at
                           FROM (VALUES (0), (1)) lane (number)
                          CROSS JOIN LATERAL (SELECT w.lane, w.delivery_at, w.next_at
                                                FROM webhook_queue w
                                               WHERE w.organization_id = $1
                                                 AND w.endpoint_id = e.id
                                                 AND w.lane = lane.number
                                               ORDER BY w.next_at, w.id
                                               LIMIT $3) l) q ON true
     WHERE e.organization_id = $1
       AND e.id = ANY ($2::uuid[])
     GROUP BY e.id, e.blocked_until, e.failures
"""

# The duration of the successful attempt, of the newest delivered deliveries.
MEDIAN: Final = """
    SELECT e.id AS endpoint_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY a.total_ms) AS median_ms
      FROM unnest($2::uuid[]) e (id)
     CROSS JOIN LATERAL (SELECT x.at, x.id, x.state, x.attempts
                           FROM webhook_delivery x
                          WHERE x.organization_id = $1
                            AND x.endpoint_id = e.id
                          ORDER BY x.at DESC, x.id DESC
                          LIMIT $3) d
     CROSS JOIN LATERAL (SELECT y.total_ms
                           FROM webhook_attempt y
                          WHERE y.organization_id = $1
                            AND y.delivery_id = d.id
                            AND y.n = d.attempts
                            AND y.at >= d.at - $4::interval
                            AND d.state = 'delivered'
                          LIMIT 1) a
     GROUP BY e.id
"""
