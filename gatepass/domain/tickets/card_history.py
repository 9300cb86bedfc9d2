"""The history of a card, newest first: its scans, refused ones too, and every change of the card and its tickets."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.paging import END, Place
from gatepass.domain.audit_log import GUEST
from gatepass.domain.visibility import Columns


class HistoryKind(StrEnum):
    SCAN = "scan"
    CHANGE = "change"


@dataclass(frozen=True, slots=True)
class CardHistoryEntry:
    """A scan has a verdict, an event and a gate; a change has an actor and the values before and after."""

    guest: ClassVar[Columns] = GUEST

    at: datetime
    id: UUID
    kind: HistoryKind
    what: str
    subject: str
    subject_id: UUID | None
    gate: str | None
    scanner_id: str | None
    occurred_at: datetime | None
    actor: str | None
    actor_name: str | None
    was: str | None
    becomes: str | None
    reason: str | None


async def history(
    tx: Tx, organization_id: UUID, card_id: UUID, *, before: Place | None = None, limit: int
) -> list[CardHistoryEntry]:
    place = before or END
    return await tx.all(CardHistoryEntry, HISTORY, organization_id, card_id, place.at, place.id, limit)


# A ticket has the id of the scan that activated it, and `undone_activation` those of earlier ones. Refused scans have
# an index of their own, which an activation, the usual case at a gate, does not write.
HISTORY: Final = """
    WITH subjects AS MATERIALIZED (
        SELECT $2::uuid AS id
         UNION
        SELECT t.id
          FROM ticket t
         WHERE t.organization_id = $1
           AND t.card_id = $2
    ),
    scans AS MATERIALIZED (
        SELECT s.at, s.id, s.verdict, s.event_id, s.gate, s.scanner_id, s.occurred_at
          FROM ticket t
          JOIN scan s ON s.organization_id = t.organization_id AND s.at = t.activated_at AND s.id = t.activated_by
         WHERE t.organization_id = $1
           AND t.card_id = $2
         UNION ALL
        SELECT s.at, s.id, s.verdict, s.event_id, s.gate, s.scanner_id, s.occurred_at
          FROM ticket t
          JOIN undone_activation u ON u.organization_id = t.organization_id AND u.ticket_id = t.id
          JOIN scan s ON s.organization_id = u.organization_id AND s.at = u.scan_at AND s.id = u.scan_id
         WHERE t.organization_id = $1
           AND t.card_id = $2
         UNION ALL
        (SELECT s.at, s.id, s.verdict, s.event_id, s.gate, s.scanner_id, s.occurred_at
           FROM scan s
          WHERE s.organization_id = $1
            AND s.card_id = $2
            AND s.verdict <> 'activated'
            AND s.at <= $3
          ORDER BY s.at DESC
          LIMIT $5)
    ),
    noted AS MATERIALIZED (
        SELECT c.at, c.id, c.action, c.subject, c.subject_id, c.actor, c.was, c.becomes, c.reason
          FROM subjects u
         CROSS JOIN LATERAL (SELECT x.*
                               FROM audit_log x
                              WHERE x.organization_id = $1
                                AND x.subject_id = u.id) c
    )
    SELECT m.*,
           CASE WHEN m.actor ~ '^person [0-9a-f-]{36}$'
                THEN (SELECT p.name FROM person p WHERE p.id = right(m.actor, 36)::uuid) END AS actor_name
      FROM (SELECT at, id, 'scan' AS kind, verdict AS what, 'event' AS subject, event_id AS subject_id, gate,
                   scanner_id, occurred_at, NULL AS actor, NULL AS was, NULL AS becomes, NULL AS reason
              FROM scans
             WHERE (at, id) < ($3, $4)
             UNION ALL
            SELECT at, id, 'change', action, subject, subject_id, NULL, NULL, NULL, actor, was, becomes, reason
              FROM noted
             WHERE (at, id) < ($3, $4)
             ORDER BY at DESC, id DESC
             LIMIT $5) m
     ORDER BY m.at DESC, m.id DESC
"""
