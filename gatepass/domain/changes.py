"""Who changed what, when and why: one row for each change, written in its transaction."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id


@dataclass(frozen=True, slots=True)
class Change:
    at: datetime
    actor: str
    action: str
    was: str | None
    becomes: str | None
    reason: str | None


async def note(
    tx: Tx,
    organization_id: UUID,
    subject: str,
    subject_id: UUID,
    action: str,
    *,
    by: str,
    at: datetime,
    was: str | None = None,
    becomes: str | None = None,
    reason: str | None = None,
) -> None:
    await tx.run(NOTE, organization_id, at, new_id(), by, subject, subject_id, action, was, becomes, reason)


async def of_subject(tx: Tx, organization_id: UUID, subject_id: UUID) -> list[Change]:
    """The last hundred changes of one thing, newest first."""
    return await tx.all(Change, OF_SUBJECT, organization_id, subject_id)


NOTE: Final = """
    INSERT INTO change (organization_id, at, id, actor, subject, subject_id, action, was, becomes, reason)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""

OF_SUBJECT: Final = """
    SELECT at, actor, action, was, becomes, reason
      FROM change
     WHERE organization_id = $1
       AND subject_id = $2
     ORDER BY at DESC, id DESC
     LIMIT 100
"""
