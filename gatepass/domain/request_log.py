"""The request log: one row for every API call with a known key; never a token, a key or a body.

A live scan is its own entry: `activation.sql` writes one row of `scan` for both. Every other call goes through `write`.
The view `logged_call` has all. They are many, so no index but the primary keys serves the log: lists are read by
time, and a filter reads a bounded number of rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Address, Tx
from gatepass.base.ids import moment_of
from gatepass.base.paging import END, Place

# A page reads at most this many calls, however few of them match its filter.
LOOKED_THROUGH: Final = 20_000
# A call gets its time and its id at the same moment; the clock may be adjusted in between. A scan has the time of its
# verdict, for which it may have waited. The view `logged_call` has the same bounds.
SKEW: Final = timedelta(seconds=1)
LONGEST_WAIT: Final = timedelta(minutes=1)
EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
MOST_ADDRESSES: Final = 10


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call as it is written."""

    organization_id: UUID
    at: datetime
    id: UUID
    mode: str
    key_id: UUID
    method: str
    path: str
    status: int
    code: str | None
    address: Address | None
    duration_us: int
    event_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call as it is read."""

    at: datetime
    id: UUID
    mode: str
    key_id: UUID
    method: str
    path: str
    status: int
    code: str | None
    address: Address | None
    duration_us: int
    event_id: UUID | None
    card_id: UUID | None


@dataclass(frozen=True, slots=True)
class CallFilter:
    """The calls that a list shows. Ranges of statuses and times include the first value, not the second."""

    key_id: UUID | None = None
    statuses: tuple[int, int] = (0, 1000)
    code: str | None = None
    path: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class UsedFrom:
    """An IP address that a key was used from."""

    address: Address | None
    calls: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class UsedFor:
    """An endpoint that a key was used for."""

    method: str
    path: str
    calls: int


async def write(tx: Tx, calls: Sequence[CallRecord]) -> None:
    """Write calls, many at a time. Existing rows stay unchanged, so this can be repeated."""
    await tx.run(
        WRITE,
        [call.organization_id for call in calls],
        [call.at for call in calls],
        [call.id for call in calls],
        [call.mode for call in calls],
        [call.key_id for call in calls],
        [call.method for call in calls],
        [call.path for call in calls],
        [call.status for call in calls],
        [call.code for call in calls],
        [call.address for call in calls],
        [call.duration_us for call in calls],
        [call.event_id for call in calls],
    )


async def calls_of(
    tx: Tx, organization_id: UUID, mode: str, wanted: CallFilter, *, after: Place | None = None, limit: int
) -> tuple[list[LoggedCall], Place | None]:
    """Calls, newest first, and where the next page begins. A page may be short and not the last."""
    place = after or (END if wanted.until is None else Place(wanted.until, UUID(int=0)))
    here = (organization_id, place.at, place.id, wanted.since or EARLIEST)
    filters = (mode, wanted.key_id, *wanted.statuses, wanted.code, wanted.path)
    found = await tx.all(LoggedCall, PAGE, *here, *filters, LOOKED_THROUGH, limit + 1)
    if len(found) > limit:
        return found[:limit], Place(found[limit - 1].at, found[limit - 1].id)
    return found, await tx.one(Place, LAST_LOOKED_AT, *here, LOOKED_THROUGH - 1)


async def find_call(tx: Tx, organization_id: UUID, request_id: UUID) -> LoggedCall | None:
    """By the request id, in either mode. The id contains its time, which limits the search."""
    moment = moment_of(request_id)
    if moment is None:
        return None
    return await tx.one(LoggedCall, FIND, organization_id, moment - SKEW, moment + LONGEST_WAIT, request_id)


async def used_from(tx: Tx, organization_id: UUID, key_id: UUID, *, since: datetime) -> list[UsedFrom]:
    """The addresses that a key was used from, the latest first, among the last LOOKED_THROUGH calls of all keys."""
    return await tx.all(UsedFrom, USED_FROM, organization_id, since, key_id, LOOKED_THROUGH, MOST_ADDRESSES)


async def used_for(tx: Tx, organization_id: UUID, key_id: UUID, *, since: datetime) -> list[UsedFor]:
    """The endpoints that a key was used for, among the last LOOKED_THROUGH calls of all keys."""
    return await tx.all(UsedFor, USED_FOR, organization_id, since, key_id, LOOKED_THROUGH)


WRITE: Final = """
    INSERT INTO request_log (organization_id, at, id, mode, key_id, method, path, status, code, address, duration_us,
                             event_id)
    SELECT *
      FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::uuid[], $6::text[], $7::text[],
                  $8::smallint[], $9::text[], $10::inet[], $11::integer[], $12::uuid[])
    ON CONFLICT DO NOTHING
"""

# Of `logged_call a`, in the order of the fields of LoggedCall.
COLUMNS: Final = """
           a.at, a.id, a.mode, a.key_id, a.method, a.path, a.status, a.code, a.address, a.duration_us, a.event_id,
           a.card_id
"""

PAGE: Final = """
    SELECT *
      FROM (SELECT """ + COLUMNS + """
              FROM logged_call a
             WHERE a.organization_id = $1
               AND a.at <= $2
               AND (a.at, a.id) < ($2, $3)
               AND a.at >= $4
             ORDER BY a.at DESC, a.id DESC
             LIMIT $11) looked
     WHERE looked.mode = $5
       AND ($6::uuid IS NULL OR looked.key_id = $6)
       AND looked.status >= $7
       AND looked.status < $8
       AND ($9::text IS NULL OR looked.code = $9)
       AND ($10::text IS NULL OR looked.path = $10)
     ORDER BY looked.at DESC, looked.id DESC
     LIMIT $12
"""  # fmt: skip

LAST_LOOKED_AT: Final = """
    SELECT a.at, a.id
      FROM logged_call a
     WHERE a.organization_id = $1
       AND a.at <= $2
       AND (a.at, a.id) < ($2, $3)
       AND a.at >= $4
     ORDER BY a.at DESC, a.id DESC
    OFFSET $5
     LIMIT 1
"""

FIND: Final = "SELECT " + COLUMNS + """
      FROM logged_call a
     WHERE a.organization_id = $1
       AND a.at BETWEEN $2 AND $3
       AND a.id = $4
     LIMIT 1
"""  # fmt: skip

USED_FROM: Final = """
    SELECT looked.address, count(*) AS calls, max(looked.at) AS last_at
      FROM (SELECT a.address, a.at, a.key_id
              FROM logged_call a
             WHERE a.organization_id = $1
               AND a.at >= $2
             ORDER BY a.at DESC, a.id DESC
             LIMIT $4) looked
     WHERE looked.key_id = $3
     GROUP BY looked.address
     ORDER BY last_at DESC
     LIMIT $5
"""

USED_FOR: Final = """
    SELECT looked.method, looked.path, count(*) AS calls
      FROM (SELECT a.method, a.path, a.at, a.key_id
              FROM logged_call a
             WHERE a.organization_id = $1
               AND a.at >= $2
             ORDER BY a.at DESC, a.id DESC
             LIMIT $4) looked
     WHERE looked.key_id = $3
     GROUP BY looked.method, looked.path
     ORDER BY calls DESC
"""
