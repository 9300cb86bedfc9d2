"""The last scans of an event."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.keys import Mode
from gatepass.domain.visibility import NUMBER, Columns

SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class RecentScan:
    guest: ClassVar[Columns] = {"card_number": NUMBER}

    at: datetime
    id: UUID
    card_number: str
    card_id: UUID | None
    ticket_id: UUID | None
    verdict: str
    gate: str | None
    scanner_id: str | None
    occurred_at: datetime | None


async def recent(tx: Tx, organization_id: UUID, mode: Mode, event_id: UUID) -> list[RecentScan]:
    """The last scans of an event, newest first."""
    return await tx.all(RecentScan, RECENT, organization_id, mode, event_id, SHOWN)


RECENT: Final = """
    SELECT at, id, card_number, card_id, ticket_id, verdict, gate, scanner_id, occurred_at
      FROM scan
     WHERE organization_id = $1
       AND event_id = $3
       AND mode = $2
     ORDER BY at DESC
     LIMIT $4
"""
