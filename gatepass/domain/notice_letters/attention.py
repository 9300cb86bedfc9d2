"""Letters about what needs attention before it hurts: endpoints that fail, and API keys in use that end soon.

They go to those who can do something about it. Only the live mode is written about: a developer's laptop that is off
at night is no reason for a letter.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.mail import LetterKind, Mailer, is_sendable
from gatepass.domain.staff import MAY, Permission, Role

# A restart or a short outage is over by then.
FAILING_FOR: Final = timedelta(minutes=15)
EARLY_DAYS: Final = 14
LATE_DAYS: Final = 1
BATCH: Final = 50
# Readers of one letter. The longest-serving come first.
MOST_READERS: Final = 20


@dataclass(frozen=True, slots=True)
class _Failing:
    organization_id: UUID
    organization_name: str
    id: UUID
    url: str
    failing_since: datetime


@dataclass(frozen=True, slots=True)
class _Ending:
    organization_id: UUID
    organization_name: str
    id: UUID
    name: str
    last_four: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class _Reader:
    id: UUID
    email: str


async def write_of_endpoints(tx: Tx, mailer: Mailer, *, origin: str, at: datetime) -> int:
    """Write of endpoints that have failed for a while, once in each period of failure; how many endpoints."""
    if not mailer.enabled:
        return 0
    found = await tx.all(_Failing, TAKE_FAILING, at - FAILING_FOR, BATCH)
    for one in found:
        values = {
            "organization": one.organization_name,
            # A URL may hold a secret of the receiver's.
            "host": urlsplit(one.url).hostname or "",
            "since": _moment(one.failing_since),
            "link": f"{origin}/studio/o/{one.organization_id}/live/webhooks/{one.id}",
        }
        await _write(
            tx, mailer, LetterKind.ENDPOINT_FAILING, one.organization_id, Permission.WEBHOOKS_WRITE, values, at
        )
    return len(found)


async def write_of_keys(tx: Tx, mailer: Mailer, *, origin: str, at: datetime) -> int:
    """Write of keys that end within 14 days, and again within one; how many keys."""
    if not mailer.enabled:
        return 0
    early, late = timedelta(days=EARLY_DAYS), timedelta(days=LATE_DAYS)
    found = await tx.all(_Ending, TAKE_ENDING, at, early, late, EARLY_DAYS, LATE_DAYS, BATCH)
    for one in found:
        values = {
            "organization": one.organization_name,
            "key": f"{one.name}, …{one.last_four}",
            "left": _left(one.expires_at - at),
            "ends": _moment(one.expires_at),
            "link": f"{origin}/studio/o/{one.organization_id}/live/keys/{one.id}",
        }
        await _write(tx, mailer, LetterKind.KEY_ENDING, one.organization_id, Permission.KEYS_WRITE, values, at)
    return len(found)


async def _write(
    tx: Tx,
    mailer: Mailer,
    kind: LetterKind,
    organization_id: UUID,
    needed: Permission,
    values: dict[str, str],
    at: datetime,
) -> None:
    """To everybody in the organization who has the permission, and an address that is proven."""
    roles = [role for role in Role if needed in MAY[role]]
    for reader in await tx.all(_Reader, READERS, organization_id, roles, MOST_READERS):
        if is_sendable(reader.email):
            await mailer.write(
                tx, kind, to=reader.email, organization_id=organization_id, person_id=reader.id, values=values, at=at
            )


def _moment(moment: datetime) -> str:
    return f"{moment:%d %B %Y, %H:%M} UTC"


def _left(left: timedelta) -> str:
    """Rounded down, so that nobody waits too long."""
    if left.days > 1:
        return f"{left.days} days"
    return "1 day" if left.days else "less than a day"


TAKE_FAILING: Final = """
    -- every organization: maintenance, as for the notices of the studio
    UPDATE webhook_endpoint w
       SET told_failing_since = w.failing_since
      FROM (SELECT e.organization_id, e.id, o.name
              FROM webhook_endpoint e
              JOIN organization o ON o.id = e.organization_id
             WHERE e.failing_since <= $1
               AND e.failing_since IS DISTINCT FROM e.told_failing_since
               AND e.mode = 'live'
               AND e.deleted_at IS NULL
               AND o.suspended_at IS NULL
             LIMIT $2
               FOR NO KEY UPDATE OF e SKIP LOCKED) due
     WHERE w.organization_id = due.organization_id
       AND w.id = due.id
    RETURNING w.organization_id, due.name AS organization_name, w.id, w.url, w.failing_since
"""

TAKE_ENDING: Final = """
    -- every organization: maintenance, as for the notices of the studio
    UPDATE api_key k
       SET told_expires_at = k.expires_at, told_days = due.days
      FROM (SELECT a.organization_id, a.id, o.name, d.days
              FROM api_key a
              JOIN organization o ON o.id = a.organization_id
             CROSS JOIN LATERAL (SELECT CASE WHEN a.expires_at <= $1::timestamptz + $3::interval THEN $5::smallint
                                             ELSE $4::smallint END AS days) d
             WHERE a.expires_at > $1
               AND a.expires_at <= $1::timestamptz + $2::interval
               AND a.revoked_at IS NULL
               AND a.device_id IS NULL
               AND a.last_used_at >= $1::timestamptz - interval '30 days'
               AND a.mode = 'live'
               AND o.suspended_at IS NULL
               AND (a.told_expires_at IS DISTINCT FROM a.expires_at OR a.told_days > d.days)
             LIMIT $6
               FOR NO KEY UPDATE OF a SKIP LOCKED) due
     WHERE k.organization_id = due.organization_id
       AND k.id = due.id
    RETURNING k.organization_id, due.name AS organization_name, k.id, k.name, k.last_four, k.expires_at
"""

READERS: Final = """
    SELECT p.id, p.email
      FROM member m
      JOIN person p ON p.id = m.person_id
     WHERE m.organization_id = $1
       AND m.role = ANY ($2)
       AND p.proven_at IS NOT NULL
       AND p.disabled_at IS NULL
       AND p.removed_at IS NULL
     ORDER BY m.joined_at, m.person_id
     LIMIT $3
"""
