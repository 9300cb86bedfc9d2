"""All records of an event, made by PostgreSQL in one statement: hashed, sorted, and sent as one value.

One record a card that has a ticket of the event, or had one. The ticket in use wins. A card whose tickets are cancelled
stays, and so does one whose ticket was moved to another card: the audit log has its number.
"""

from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain.manifest.content import Content
from gatepass.domain.manifest.record_sql import CANCELLED, HMAC, IN_USE, MOVED_AWAY
from gatepass.domain.manifest.records import CollisionError, Records
from gatepass.domain.manifest.salt import Pads

# 16 MB, which a process holds once for each event that it is asked for, and a device too.
MOST_RECORDS: Final = 2_000_000


async def read_whole(tx: Tx, organization_id: UUID, event_id: UUID, content: Content) -> Records:
    """All records. Read it in the snapshot in which `content` was read, so that the categories are the same."""
    if await tx.value(IS_TOO_LARGE, organization_id, event_id, MOST_RECORDS):
        raise NotAllowedFromHere(f"An event with more than {MOST_RECORDS:,} tickets has no manifest.")
    await tx.run(SORT_IN_MEMORY)
    await tx.run(SHARE_THE_HASHES)
    pads = Pads.of(content.salt)
    (row,) = await tx.rows(WHOLE, organization_id, event_id, content.category_ids, pads.inner, pads.outer)
    if row["collides"]:
        raise CollisionError
    return Records(row["body"], row["marks"])


# `quantity_sold` counts tickets in use; those that were cancelled are few beside them.
IS_TOO_LARGE: Final = """
    SELECT coalesce(sum(quantity_sold), 0) > $3
      FROM ticket_category
     WHERE organization_id = $1
       AND event_id = $2
"""

# 200,000 records take 16 MB of it. A sort on disk takes twice as long.
SORT_IN_MEMORY: Final = "SET LOCAL work_mem = '64MB'"

# PostgreSQL takes SHA-256 for as cheap as an addition, and would not let other processes share the work.
SHARE_THE_HASHES: Final = "SET LOCAL parallel_tuple_cost = 0.01"

# The hash stands in each branch, so that the processes of a parallel plan share that work.
WHOLE: Final = (
    """
    SELECT coalesce(string_agg(substring(r.hash FROM 1 FOR 6) || r.ending, ''::bytea ORDER BY r.hash), '') AS body,
           coalesce(string_agg(substring(r.hash FROM 7 FOR 4), ''::bytea ORDER BY r.hash), '') AS marks,
           coalesce(bool_or(substring(r.hash FROM 1 FOR 6) = substring(r.previous FROM 1 FOR 6)), false) AS collides
      FROM (SELECT m.hash, m.ending, lag(m.hash) OVER (ORDER BY m.hash) AS previous
              FROM (SELECT """
    + HMAC
    + " AS hash, "
    + IN_USE
    + """ AS ending
                      FROM ticket t
                      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
                     WHERE t.organization_id = $1
                       AND t.event_id = $2
                       AND t.cancelled_at IS NULL
                     UNION ALL
                    SELECT """
    + HMAC
    + ", "
    + CANCELLED
    + """
                      FROM (SELECT DISTINCT x.card_id
                              FROM ticket x
                             WHERE x.organization_id = $1
                               AND x.event_id = $2
                               AND x.cancelled_at IS NOT NULL) t
                      JOIN card c ON c.organization_id = $1 AND c.id = t.card_id
                     WHERE NOT EXISTS (SELECT FROM ticket u
                                        WHERE u.organization_id = $1
                                          AND u.event_id = $2
                                          AND u.card_id = t.card_id
                                          AND u.cancelled_at IS NULL)
                     UNION ALL
                    SELECT """
    + HMAC
    + ", "
    + MOVED_AWAY
    + """
                      FROM (SELECT DISTINCT a.was AS number
                              FROM ticket x
                             CROSS JOIN LATERAL (SELECT y.was
                                                   FROM audit_log y
                                                  WHERE y.organization_id = $1
                                                    AND y.subject_id = x.id
                                                    AND y.subject = 'ticket'
                                                    AND y.action = 'moved to another card'
                                                 OFFSET 0) a
                             WHERE x.organization_id = $1
                               AND x.event_id = $2
                               AND x.changed_at IS NOT NULL) moved
                      JOIN card c ON c.organization_id = $1 AND c.number = moved.number
                     WHERE NOT EXISTS (SELECT FROM ticket u
                                        WHERE u.organization_id = $1
                                          AND u.event_id = $2
                                          AND u.card_id = c.id)) m) r
"""
)
