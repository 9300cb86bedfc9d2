"""The cards whose records changed since a snapshot, found over scans and the audit log.

Each is found by visibility and not by time, as on live pages: what commits late is found when it has committed. An
entry of the audit log has the id of its transaction. A scan has only `xmin`, and time limits how far back to look for
it (`live/lookback.py`). Whoever changes a ticket or a card writes one of the two: a test walks over all that do.
"""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.manifest.content import Content
from gatepass.domain.manifest.record_sql import CANCELLED, HMAC, IN_USE, MOVED_AWAY
from gatepass.domain.manifest.records import ChangedCard
from gatepass.domain.manifest.salt import Pads


async def read_changes(
    tx: Tx, organization_id: UUID, event_id: UUID, content: Content, *, seen: str, since: datetime
) -> list[ChangedCard]:
    """The cards that changed by what is not visible in the snapshot `seen`, as they are now."""
    pads = Pads.of(content.salt)
    return await tx.all(
        ChangedCard, CHANGES, organization_id, event_id, content.category_ids, pads.inner, pads.outer, seen, since
    )


# A restored dump has ids of another server: those that this one has not given out yet are not looked at. The full id of
# a scan's transaction is that of the snapshot's oldest one, plus the difference of the two ages (`live/deltas.py`).
# An import writes one entry for each batch of tickets, with the first and the last of their ids, which are adjacent.
CHANGES: Final = (
    """
    WITH seen AS (
        SELECT $6::text::pg_snapshot AS snapshot,
               pg_snapshot_xmin($6::text::pg_snapshot) AS oldest,
               age(pg_snapshot_xmin($6::text::pg_snapshot)::xid) AS oldest_age
    ),
    entry AS MATERIALIZED (
        SELECT a.subject, a.subject_id, a.action, a.was, a.becomes
          FROM audit_log a
         WHERE a.organization_id = $1
           AND a.transaction >= (SELECT oldest FROM seen)
           AND a.transaction < pg_snapshot_xmax(pg_current_snapshot())
           AND NOT pg_visible_in_snapshot(a.transaction, (SELECT snapshot FROM seen))
           AND a.subject IN ('ticket', 'card', 'import')
    ),
    touched AS (
        SELECT t.card_id
          FROM scan s
         CROSS JOIN LATERAL (SELECT x.card_id
                               FROM ticket x
                              WHERE x.organization_id = $1
                                AND x.id = s.ticket_id
                                AND x.event_id = $2
                             OFFSET 0) t
         WHERE s.organization_id = $1
           AND s.event_id = $2
           AND s.at >= $7
           AND s.verdict = 'activated'
           AND age(s.xmin) <= (SELECT oldest_age FROM seen)
           AND NOT pg_visible_in_snapshot(
                   ((SELECT oldest::text::bigint + oldest_age FROM seen) - age(s.xmin))::text::xid8,
                   (SELECT snapshot FROM seen))
         UNION
        SELECT t.card_id
          FROM entry e
         CROSS JOIN LATERAL (SELECT x.card_id
                               FROM ticket x
                              WHERE x.organization_id = $1
                                AND x.id = e.subject_id
                                AND x.event_id = $2
                             OFFSET 0) t
         WHERE e.subject = 'ticket'
         UNION
        SELECT t.card_id
          FROM entry e
         CROSS JOIN LATERAL (SELECT x.card_id
                               FROM ticket x
                              WHERE x.organization_id = $1
                                AND x.id >= CASE WHEN e.action = 'tickets made' THEN e.was::uuid END
                                AND x.id <= CASE WHEN e.action = 'tickets made' THEN e.becomes::uuid END
                                AND x.event_id = $2
                             OFFSET 0) t
         WHERE e.subject = 'import'
         UNION
        SELECT e.subject_id
          FROM entry e
         WHERE e.subject = 'card'
           AND EXISTS (SELECT FROM ticket x
                        WHERE x.organization_id = $1
                          AND x.card_id = e.subject_id
                          AND x.event_id = $2)
    ),
    numbered AS (
        SELECT x.number
          FROM touched u
         CROSS JOIN LATERAL (SELECT y.number
                               FROM card y
                              WHERE y.organization_id = $1
                                AND y.id = u.card_id
                             OFFSET 0) x
         UNION
        SELECT x.number  -- a ticket of it was moved away once, so that it may be in the manifest without a ticket
          FROM entry e
         CROSS JOIN LATERAL (SELECT y.number
                               FROM card y
                              WHERE y.organization_id = $1
                                AND y.id = e.subject_id
                             OFFSET 0) x
         WHERE e.subject = 'card'
           AND EXISTS (SELECT FROM audit_log y
                        WHERE y.organization_id = $1
                          AND y.was = x.number
                          AND y.subject = 'ticket'
                          AND y.action = 'moved to another card')
         UNION
        SELECT e.was
          FROM entry e
         WHERE e.subject = 'ticket'
           AND e.action IN ('moved to another card', 'removed')
           AND e.was IS NOT NULL
           AND NOT EXISTS (SELECT FROM ticket x
                            WHERE x.organization_id = $1
                              AND x.id = e.subject_id
                              AND x.event_id <> $2)
    )
    SELECT substring(r.hmac FROM 1 FOR 6) AS hash, substring(r.hmac FROM 7 FOR 4) AS mark, r.ending
      FROM (SELECT """
    + HMAC
    + """ AS hmac,
                   CASE WHEN c.id IS NULL THEN NULL
                        WHEN t.category_id IS NOT NULL THEN """
    + IN_USE
    + """
                        WHEN EXISTS (SELECT FROM ticket x
                                      WHERE x.organization_id = $1
                                        AND x.event_id = $2
                                        AND x.card_id = c.id
                                        AND x.cancelled_at IS NOT NULL) THEN """
    + CANCELLED
    + """
                        WHEN EXISTS (SELECT FROM audit_log y
                                       JOIN ticket x ON x.organization_id = $1
                                                    AND x.id = y.subject_id
                                                    AND x.event_id = $2
                                      WHERE y.organization_id = $1
                                        AND y.was = c.number
                                        AND y.subject = 'ticket'
                                        AND y.action = 'moved to another card') THEN """
    + MOVED_AWAY
    + """
                   END AS ending
              FROM (SELECT n.number, x.id, x.status, x.phone
                      FROM numbered n
                      LEFT JOIN LATERAL (SELECT y.id, y.status, y.phone
                                           FROM card y
                                          WHERE y.organization_id = $1
                                            AND y.number = n.number
                                         OFFSET 0) x ON true) c
              LEFT JOIN LATERAL (SELECT x.category_id, x.activated_at
                                   FROM ticket x
                                  WHERE x.organization_id = $1
                                    AND x.event_id = $2
                                    AND x.card_id = c.id
                                    AND x.cancelled_at IS NULL
                                 OFFSET 0) t ON true) r
"""
)
