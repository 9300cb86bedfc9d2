"""The audit of calls: one row for every call made with a known key; never a token, a key or a body.

A scan writes its own row inside `activation.sql`. Everything else is handed to `write`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Address, IPv6Address
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx


@dataclass(frozen=True, slots=True)
class Call:
    organization_id: UUID
    at: datetime
    id: UUID
    mode: str
    key_id: UUID
    method: str
    path: str
    status: int
    code: str | None
    address: IPv4Address | IPv6Address | None
    duration_us: int
    event_id: UUID | None = None


async def write(tx: Tx, calls: Sequence[Call]) -> None:
    """Write down calls, many at a time. A row that is there already is left as it is, so this can be repeated."""
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


WRITE: Final = """
    INSERT INTO audit (organization_id, at, id, mode, key_id, method, path, status, code, address, duration_us,
                       event_id)
    SELECT *
      FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::uuid[], $6::text[], $7::text[],
                  $8::smallint[], $9::text[], $10::inet[], $11::integer[], $12::uuid[])
    ON CONFLICT DO NOTHING
"""
