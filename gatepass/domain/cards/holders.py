"""Holders: the people who hold cards. Their data stands in `card_holder` and nowhere else."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.cards.card import CardStatus, normalize_number

# A person with more cards than this, who booked for a group, is erased in several steps.
MOST_FOUND: Final = 100


@dataclass(frozen=True, slots=True)
class Holder:
    card_id: UUID
    card_number: str
    card_status: CardStatus
    name: str
    email: str | None


async def find_holders(tx: Tx, organization_id: UUID, query: str) -> list[Holder]:
    """The holder of the card with this number, or of every card with this e-mail address; at most MOST_FOUND."""
    query = query.strip()
    if "@" in query:
        return await tx.all(Holder, BY_EMAIL, organization_id, query, MOST_FOUND)
    return await tx.all(Holder, BY_NUMBER, organization_id, normalize_number(query))


BY_EMAIL: Final = """
    SELECT h.card_id, c.number AS card_number, c.status AS card_status, h.name, h.email
      FROM card_holder h
      JOIN card c ON c.organization_id = h.organization_id AND c.id = h.card_id
     WHERE h.organization_id = $1
       AND lower(h.email) = lower($2)
     ORDER BY h.card_id
     LIMIT $3
"""

BY_NUMBER: Final = """
    SELECT h.card_id, c.number AS card_number, c.status AS card_status, h.name, h.email
      FROM card c
      JOIN card_holder h ON h.organization_id = c.organization_id AND h.card_id = c.id
     WHERE c.organization_id = $1
       AND c.number = $2
"""
