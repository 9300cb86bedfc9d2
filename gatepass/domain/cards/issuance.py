"""Issuing cards. Serials are random, so that a card number does not disclose how many cards there are."""

import secrets
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain import audit_log
from gatepass.domain.cards.card import SERIALS, Card, CardStatus, format_number


async def issue(
    tx: Tx,
    organization_id: UUID,
    *,
    by: str,
    at: datetime,
    holder_name: str | None = None,
    holder_email: str | None = None,
) -> Card:
    """Create a card; its holder stands in a table of its own."""
    prefix = await tx.value(PREFIX, organization_id)
    card_id = new_id()
    # A random serial is taken with a chance of 1 in 10^11 for each card that exists; then another one is drawn.
    number = format_number(prefix, secrets.randbelow(SERIALS))
    while not await tx.run(ISSUE, organization_id, card_id, number, at):
        number = format_number(prefix, secrets.randbelow(SERIALS))
    if holder_name is not None:
        await tx.run(HOLD, organization_id, card_id, holder_name, holder_email)
    await audit_log.record(tx, organization_id, "card", card_id, "issued", by=by, at=at, becomes=CardStatus.ACTIVE)
    return Card(card_id, number, CardStatus.ACTIVE, at)


async def erase_holder(tx: Tx, organization_id: UUID, card_id: UUID, *, by: str, at: datetime) -> None:
    """Delete the person's data. The card, its tickets and their history stay as they are."""
    if await tx.run(ERASE, organization_id, card_id):
        await audit_log.record(tx, organization_id, "card", card_id, "holder erased", by=by, at=at)


PREFIX: Final = """
    SELECT card_prefix
      FROM organization
     WHERE id = $1
"""

ISSUE: Final = """
    INSERT INTO card (organization_id, id, number, issued_at)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (organization_id, number) DO NOTHING
"""

HOLD: Final = """
    INSERT INTO card_holder (organization_id, card_id, name, email)
    VALUES ($1, $2, $3, $4)
"""

ERASE: Final = """
    DELETE FROM card_holder
     WHERE organization_id = $1
       AND card_id = $2
"""
