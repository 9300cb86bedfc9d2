"""Letters about new credentials: a passkey, a password, codes. Whoever did not make them learns of a break-in."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.client_ip import Address
from gatepass.base.database import Tx
from gatepass.domain.mail import LetterKind, Mailer, is_sendable
from gatepass.domain.staff.mail.letters import plain_name
from gatepass.domain.staff.notices import SENTENCES

BATCH: Final = 100
LONGEST: Final = 1_000


@dataclass(frozen=True, slots=True)
class _Due:
    person_id: UUID
    at: datetime
    kind: str
    address: Address | None


@dataclass(frozen=True, slots=True)
class _Reader:
    id: UUID
    email: str
    name: str


async def write_some(tx: Tx, mailer: Mailer, *, origin: str, at: datetime) -> int:
    """Write the letters of a batch of notices, one for each person; how many notices there were.

    Without a mail server they are only marked: nobody wants letters about last year when there is one.
    """
    due = sorted(await tx.all(_Due, TAKE, BATCH), key=lambda one: one.at)
    if not due or not mailer.enabled:
        return len(due)
    of_person: dict[UUID, list[_Due]] = defaultdict(list)
    for one in due:
        of_person[one.person_id].append(one)
    for reader in await tx.all(_Reader, READERS, list(of_person)):
        if is_sendable(reader.email):
            values = _values(reader, of_person[reader.id], origin)
            await mailer.write(
                tx, LetterKind.CREDENTIAL_ADDED, to=reader.email, organization_id=None, person_id=reader.id,
                values=values, at=at,
            )  # fmt: skip
    return len(due)


def _values(reader: _Reader, notices: list[_Due], origin: str) -> dict[str, str]:
    latest = notices[-1]
    return {
        "name": plain_name(reader.name, "colleague"),
        "what": ". ".join(dict.fromkeys(SENTENCES[one.kind] for one in notices))[:LONGEST],
        "when": f"{latest.at:%d %B %Y, %H:%M} UTC",
        "address": str(latest.address or ""),
        "link": f"{origin}/studio/account",
    }


TAKE: Final = """
    UPDATE notice n
       SET letter_due = false
      FROM (SELECT person_id, id FROM notice WHERE letter_due ORDER BY at LIMIT $1 FOR UPDATE SKIP LOCKED) due
     WHERE n.person_id = due.person_id
       AND n.id = due.id
    RETURNING n.person_id, n.at, n.kind, n.address
"""

READERS: Final = """
    SELECT id, email, name
      FROM person
     WHERE id = ANY ($1)
       AND proven_at IS NOT NULL
       AND removed_at IS NULL
"""
