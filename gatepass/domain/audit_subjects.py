"""What entries of the audit log are about, by name: a card by its number, an event by its title, not by an id."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final, LiteralString
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.audit_log import AuditEntry
from gatepass.domain.visibility import WORDS, Columns


@dataclass(frozen=True, slots=True)
class SubjectName:
    """`path` is the page in the studio below its organization, if there is one: mode, section, id."""

    guest: ClassVar[Columns] = {"name": WORDS}

    id: UUID
    name: str
    path: str | None = None


async def find_subjects(tx: Tx, organization_id: UUID, entries: Iterable[AuditEntry]) -> dict[UUID, SubjectName]:
    """The names of what these entries are about. What was deleted or erased has none any more."""
    ids: dict[str, set[UUID]] = {}
    for entry in entries:
        ids.setdefault(entry.subject, set()).add(entry.subject_id)
    found: dict[UUID, SubjectName] = {}
    for subject, statement in NAMES.items():
        if subject in ids:
            names = await tx.all(SubjectName, statement, organization_id, list(ids[subject]))
            found |= {name.id: name for name in names}
    return found


CARDS: Final = """
    SELECT id, number AS name, 'live/cards/' || id AS path
      FROM card
     WHERE organization_id = $1
       AND id = ANY ($2)
"""

EVENTS: Final = """
    SELECT id, title AS name, 'live/events/' || id AS path
      FROM event
     WHERE organization_id = $1
       AND id = ANY ($2)
"""

TICKETS: Final = """
    SELECT t.id, e.title || ', on ' || c.number AS name, 'live/cards/' || t.card_id AS path
      FROM ticket t
      JOIN event e ON e.organization_id = t.organization_id AND e.id = t.event_id
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
     WHERE t.organization_id = $1
       AND t.id = ANY ($2)
"""

IMPORTS: Final = """
    SELECT id, file_name AS name, 'live/events/' || event_id || '/imports/' || id AS path
      FROM import
     WHERE organization_id = $1
       AND id = ANY ($2)
"""

CARD_EXPORTS: Final = """
    SELECT x.id, 'cards of ' || e.title AS name, 'live/events/' || x.event_id || '/cards' AS path
      FROM card_export x
      JOIN event e ON e.organization_id = x.organization_id AND e.id = x.event_id
     WHERE x.organization_id = $1
       AND x.id = ANY ($2)
"""

KEYS: Final = """
    SELECT id, name, mode || '/keys/' || id AS path
      FROM api_key
     WHERE organization_id = $1
       AND id = ANY ($2)
"""

DEVICES: Final = """
    SELECT id, name, mode || '/devices/' || id AS path
      FROM device
     WHERE organization_id = $1
       AND id = ANY ($2)
"""

PAIRING_CODES: Final = """
    SELECT id, 'a code for ' || gate AS name, mode || '/devices/pair/' || id AS path
      FROM pairing_code
     WHERE organization_id = $1
       AND id = ANY ($2)
"""

ENDPOINTS: Final = """
    SELECT id, url AS name, mode || '/webhooks/' || id AS path
      FROM webhook_endpoint
     WHERE organization_id = $1
       AND id = ANY ($2)
"""

INVITATIONS: Final = """
    SELECT id, email AS name, NULL AS path
      FROM invitation
     WHERE organization_id = $1
       AND id = ANY ($2)
"""

MEMBERS: Final = """
    SELECT p.id, p.name, 'live/team/' || p.id AS path
      FROM member m
      JOIN person p ON p.id = m.person_id
     WHERE m.organization_id = $1
       AND m.person_id = ANY ($2)
"""

ORGANIZATIONS: Final = """
    SELECT id, name, 'live/settings' AS path
      FROM organization
     WHERE id = $1
       AND id = ANY ($2)
"""

SIGNING_KEYS: Final = """
    SELECT id, 'kid ' || left(id::text, 8) || '…' AS name, 'live/settings' AS path
      FROM signing_key
     WHERE organization_id = $1
       AND id = ANY ($2)
"""

# By the subject of an entry.
NAMES: Final[dict[str, LiteralString]] = {
    "card": CARDS,
    "event": EVENTS,
    "ticket": TICKETS,
    "import": IMPORTS,
    "card_export": CARD_EXPORTS,
    "key": KEYS,
    "device": DEVICES,
    "pairing_code": PAIRING_CODES,
    "webhook_endpoint": ENDPOINTS,
    "invitation": INVITATIONS,
    "member": MEMBERS,
    "person": MEMBERS,
    "organization": ORGANIZATIONS,
    "signing_key": SIGNING_KEYS,
}
