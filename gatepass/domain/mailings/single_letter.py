"""One letter to the holder of one card, outside of any mailing: their link has changed."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import events, organizations
from gatepass.domain.mailings.audience import next_recipients
from gatepass.domain.mailings.card_letters import CardLetters, Recipient

FIRST: Final = UUID(int=0)


async def recipient_of(tx: Tx, organization_id: UUID, card_id: UUID) -> tuple[UUID, Recipient] | None:
    """The next event, and who reads the letter about it. None without an address or a published event."""
    rows = await tx.rows(NEXT_TICKET, organization_id, card_id)
    for row in rows:
        found = await next_recipients(tx, organization_id, row["event_id"], [row["id"]], FIRST, 1)
        if found and found[0].address is not None:
            return row["event_id"], found[0]
    return None


async def mail_card(tx: Tx, organization_id: UUID, card_id: UUID, letters: CardLetters, *, at: datetime) -> bool:
    """Write the letter with the card's link; whether there is anybody to write to."""
    wanted = await recipient_of(tx, organization_id, card_id)
    organization = await organizations.find(tx, organization_id)
    if wanted is None or organization is None:
        return False
    event_id, recipient = wanted
    event = (await events.find(tx, organization_id, event_id)).event
    written = await letters.write(tx, organization_id, None, event, organization.name, [recipient], few=True, at=at)
    return written > 0


NEXT_TICKET: Final = """
    SELECT t.id, t.event_id
      FROM ticket t
      JOIN event e ON e.organization_id = t.organization_id AND e.id = t.event_id
     WHERE t.organization_id = $1
       AND t.card_id = $2
       AND t.cancelled_at IS NULL
       AND e.status = 'published'
     ORDER BY e.starts_at, t.id
     LIMIT 1
"""
