"""Reads of the catalogue, many in one statement, which also finds the callers whose keys have ended.

A read comes back as the text of its JSON: equal texts are equal events, so that a reply is built once for each text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from gatepass.base.database import Tx
from gatepass.base.paging import START, Place
from gatepass.domain.events.catalogue import CatalogueEntry
from gatepass.domain.events.event import EventStatus


@dataclass(frozen=True, slots=True)
class CatalogueRead:
    """Events of a status by start, at most `limit` after this place; or the event with this id, whatever its status."""

    tenant_id: UUID
    status: EventStatus | None = None
    after: Place | None = None
    limit: int = 1
    event_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class CatalogueQuestion:
    """A read, and the API key of its caller."""

    organization_id: UUID
    key_id: UUID
    read: CatalogueRead


async def read_batch(tx: Tx, questions: Sequence[CatalogueQuestion], *, at: datetime) -> list[str | None]:
    """The events as JSON, for each question; None if its key has ended, or is of a device that was moved."""
    callers = list({(q.organization_id, q.key_id, q.read.event_id): None for q in questions})
    reads = list({q.read: None for q in questions})
    places = [read.after or START for read in reads]
    (row,) = await tx.rows(
        READ,
        at,
        [organization_id for organization_id, _, _ in callers],
        [key_id for _, key_id, _ in callers],
        [event_id for _, _, event_id in callers],
        [read.tenant_id for read in reads],
        [read.status for read in reads],
        [place.at for place in places],
        [place.id for place in places],
        [read.limit for read in reads],
        [read.event_id for read in reads],
    )
    good = {caller for caller, is_good in zip(callers, row["good"], strict=True) if is_good}
    found = dict(zip(reads, row["found"], strict=True))
    return [found[q.read] if (q.organization_id, q.key_id, q.read.event_id) in good else None for q in questions]


def entries(found: str) -> list[CatalogueEntry]:
    """The events in the text of a read."""
    return DECODER.decode(found)


# The text of a read that found no event.
NOTHING: Final = "[]"
DECODER: Final = msgspec.json.Decoder(list[CatalogueEntry])

# Of `event x`. The statement is joined of this constant, never of values.
COLUMNS: Final = """
           x.id, x.title, x.description, x.venue, x.city, x.country, x.starts_at, x.ends_at, x.cover_url, x.status,
           x.time_zone, x.updated_at, x.codes, x.doors_open_at, x.offline
"""

READ: Final = """
    SELECT ARRAY(SELECT EXISTS (SELECT FROM api_key a
                                 WHERE a.organization_id = u.organization_id
                                   AND a.id = u.key_id
                                   AND a.revoked_at IS NULL
                                   AND (a.expires_at IS NULL OR a.expires_at > $1)
                                   AND (a.device_id IS NULL
                                        OR a.event_id = u.event_id AND 'events:read' = ANY (a.scopes))
                                OFFSET 0)
                   FROM unnest($2::uuid[], $3::uuid[], $4::uuid[])
                        WITH ORDINALITY u (organization_id, key_id, event_id, n)
                  ORDER BY u.n) AS good,
           ARRAY(SELECT read.listed
                   FROM unnest($5::uuid[], $6::text[], $7::timestamptz[], $8::uuid[], $9::integer[], $10::uuid[])
                        WITH ORDINALITY u (tenant_id, status, after_at, after_id, most, event_id, n)
                  CROSS JOIN LATERAL (
                        SELECT coalesce(json_agg(json_build_object('event', e, 'categories', c.listed)
                                                 ORDER BY e.starts_at, e.id), '[]')::text AS listed
                          FROM ((SELECT """ + COLUMNS + """
                                   FROM event x
                                  WHERE x.organization_id = u.tenant_id
                                    AND x.status = u.status
                                    AND (x.starts_at, x.id) > (u.after_at, u.after_id)
                                  ORDER BY x.starts_at, x.id
                                  LIMIT u.most)
                                 UNION ALL
                                (SELECT """ + COLUMNS + """
                                   FROM event x
                                  WHERE x.organization_id = u.tenant_id
                                    AND x.id = u.event_id
                                 OFFSET 0)) e
                         CROSS JOIN LATERAL (
                               SELECT coalesce(json_agg(k ORDER BY k.id), '[]') AS listed
                                 FROM (SELECT y.id, y.event_id, y.name, y.tier, y.price_minor, y.currency,
                                              y.quantity_total, y.quantity_sold, y.updated_at, y.valid_from,
                                              y.valid_until, y.gates
                                         FROM ticket_category y
                                        WHERE y.organization_id = u.tenant_id
                                          AND y.event_id = e.id
                                          AND y.removed_at IS NULL
                                       OFFSET 0) k) c) read
                  ORDER BY u.n) AS found
"""  # fmt: skip
