"""What somebody made and what still works. Whatever a person can make that outlives their place is a kind here."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Final, LiteralString
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import keys
from gatepass.domain.keys import Mode
from gatepass.domain.visibility import WORDS, Columns

# Of each kind. Those of before are shown once these are gone.
MOST: Final = 100
# A link of a card is looked for in as many of the person's newest entries of the audit log.
LOOKED_THROUGH: Final = 5_000


class BelongingKind(StrEnum):
    """In the order in which they are shown."""

    DEVICE = "device"
    PAIRING_CODE = "pairing code"
    KEY = "API key"
    ENDPOINT = "webhook endpoint"
    CARD_LINK = "card link"
    CARD_EXPORT = "file of cards"


@dataclass(frozen=True, slots=True)
class Belonging:
    """`mark` names it in a form. `path` is its page in the studio, in its mode."""

    guest: ClassVar[Columns] = {"name": WORDS}

    kind: BelongingKind
    id: UUID
    mode: Mode
    name: str
    detail: str
    made_at: datetime
    used_at: datetime | None
    path: str

    @property
    def mark(self) -> str:
        return f"{self.kind}:{self.id}"


async def made_by(tx: Tx, organization_id: UUID, person_id: UUID, *, at: datetime) -> list[Belonging]:
    """What this person made and what works now, by its kind and the newest first."""
    actor = f"person {person_id}"
    found = [
        Belonging(
            BelongingKind.KEY, key.id, key.mode, key.name, " ".join(key.scopes), key.created_at, key.last_used_at,
            f"keys/{key.id}",
        )
        for key in await keys.keys_made_by(tx, organization_id, person_id, at=at)
    ]  # fmt: skip
    for statement in (DEVICES, PAIRING_CODES):
        found += await tx.all(Belonging, statement, organization_id, actor, at, MOST)
    for statement in (ENDPOINTS, CARD_EXPORTS):
        found += await tx.all(Belonging, statement, organization_id, actor, MOST)
    found += await tx.all(Belonging, CARD_LINKS, organization_id, actor, MOST, LOOKED_THROUGH)
    order = list(BelongingKind)
    return sorted(found, key=lambda one: (order.index(one.kind), -one.made_at.timestamp()))


# A device that is retired still sends its journal, as long as its key lives.
DEVICES: Final[LiteralString] = """
    SELECT 'device' AS kind, d.id, d.mode, d.name, 'gate ' || a.gate AS detail, d.paired_at AS made_at,
           d.last_seen_at AS used_at, 'devices/' || d.id AS path
      FROM device d
     CROSS JOIN LATERAL (SELECT x.gate
                           FROM device_assignment x
                          WHERE x.organization_id = $1
                            AND x.organization_id = d.organization_id
                            AND x.device_id = d.id
                          ORDER BY x.since DESC
                          LIMIT 1) a
     WHERE d.organization_id = $1
       AND d.paired_by = $2
       AND (d.status = 'paired'
            OR d.status = 'retired' AND EXISTS (SELECT
                                                  FROM api_key k
                                                 WHERE k.organization_id = $1
                                                   AND k.device_id = d.id
                                                   AND k.revoked_at IS NULL
                                                   AND k.expires_at > $3))
     ORDER BY d.paired_at DESC, d.id DESC
     LIMIT $4
"""

PAIRING_CODES: Final[LiteralString] = """
    SELECT 'pairing code' AS kind, id, mode, 'Gate ' || gate AS name,
           CASE devices WHEN 1 THEN 'for one device' ELSE 'for ' || devices || ' devices' END AS detail, made_at,
           NULL::timestamptz AS used_at, 'devices/pair/' || id AS path
      FROM pairing_code
     WHERE organization_id = $1
       AND made_by = $2
       AND expires_at > $3
       AND ended_at IS NULL
     ORDER BY made_at DESC, id DESC
     LIMIT $4
"""

ENDPOINTS: Final[LiteralString] = """
    SELECT 'webhook endpoint' AS kind, id, mode, url AS name, status AS detail, created_at AS made_at,
           NULL::timestamptz AS used_at, 'webhooks/' || id AS path
      FROM webhook_endpoint
     WHERE organization_id = $1
       AND created_by = $2
       AND deleted_at IS NULL
     ORDER BY created_at DESC, id DESC
     LIMIT $3
"""

CARD_EXPORTS: Final[LiteralString] = """
    SELECT 'file of cards' AS kind, x.id, 'live' AS mode, e.title AS name,
           upper(x.kind) || ' of ' || x.total || CASE x.total WHEN 1 THEN ' card' ELSE ' cards' END AS detail,
           x.created_at AS made_at, NULL::timestamptz AS used_at, 'events/' || x.event_id || '/cards' AS path
      FROM card_export x
      JOIN event e ON e.organization_id = x.organization_id AND e.id = x.event_id
     WHERE x.organization_id = $1
       AND x.created_by = $2
       AND x.state IN ('under_way', 'ready')
     ORDER BY x.created_at DESC, x.id DESC
     LIMIT $3
"""

# The links that they were shown, unless another one has taken their place since.
CARD_LINKS: Final[LiteralString] = """
    SELECT 'card link' AS kind, c.id, 'live' AS mode, c.number AS name, 'they were shown it' AS detail,
           max(a.at) AS made_at, NULL::timestamptz AS used_at, 'cards/' || c.id AS path
      FROM (SELECT x.subject, x.subject_id, x.action, x.at
              FROM audit_log x
             WHERE x.organization_id = $1
               AND x.actor = $2
             ORDER BY x.at DESC, x.id DESC
             LIMIT $4) a
      JOIN card_link l ON l.organization_id = $1 AND l.card_id = a.subject_id
      JOIN card c ON c.organization_id = l.organization_id AND c.id = l.card_id
     WHERE c.organization_id = $1
       AND a.subject = 'card'
       AND a.action IN ('link shown', 'link changed')
       AND l.made_at <= a.at
       AND c.status <> 'revoked'
     GROUP BY c.id, c.number
     ORDER BY made_at DESC, c.id DESC
     LIMIT $3
"""
