"""The last scans of an event."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.keys import Mode

SHOWN: Final = 20
CARD_NUMBER: Final = re.compile("([A-Z]{2,6}) [0-9]{4} [0-9]{4} ([0-9]{4})", re.ASCII)
SANDBOX_CARD: Final = re.compile("TEST_[A-Z]{1,32}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RecentScan:
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


def masked(card_number: str) -> str:
    """The number for people who may not know its holder. Text that is no card number may be a name: hidden."""
    if SANDBOX_CARD.fullmatch(card_number):
        return card_number
    found = CARD_NUMBER.fullmatch(card_number)
    return f"{found[1]} •••• •••• {found[2]}" if found else "not a card number"


RECENT: Final = """
    SELECT at, id, card_number, card_id, ticket_id, verdict, gate, scanner_id, occurred_at
      FROM scan
     WHERE organization_id = $1
       AND event_id = $3
       AND mode = $2
     ORDER BY at DESC
     LIMIT $4
"""
