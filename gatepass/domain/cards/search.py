"""Finding cards: by number, by the beginning of a holder's name or address, or page by page."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.cards.card import CardNotFound, CardStatus, normalize_number

LAST_ID: Final = UUID(int=2**128 - 1)
# Appended to a prefix, it sorts after every text with that prefix, byte by byte.
HIGHEST: Final = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class HeldCard:
    """A card and its holder, if that is known."""

    id: UUID
    number: str
    status: CardStatus
    issued_at: datetime
    name: str | None
    email: str | None


async def find(tx: Tx, organization_id: UUID, card_id: UUID) -> HeldCard:
    found = await tx.one(HeldCard, FIND, organization_id, card_id)
    if found is None:
        raise CardNotFound
    return found


async def find_by_number(tx: Tx, organization_id: UUID, typed: str) -> HeldCard | None:
    """The card with this number in any spelling; the letters before the digits may be left out."""
    bare = "".join(sign for sign in typed if sign.isdigit())
    if typed and len(bare) == 12 and not any(sign.isalpha() for sign in typed):
        typed = (await tx.value(PREFIX, organization_id)) + bare
    return await tx.one(HeldCard, BY_NUMBER, organization_id, normalize_number(typed))


async def find_by_holder(tx: Tx, organization_id: UUID, prefix: str, *, limit: int) -> list[HeldCard]:
    """Cards whose holder has a name with this prefix, or an e-mail address with it if there is an @ in it."""
    statement = BY_EMAIL if "@" in prefix else BY_NAME
    return await tx.all(HeldCard, statement, organization_id, prefix, prefix + HIGHEST, limit)


async def newest(
    tx: Tx, organization_id: UUID, *, status: CardStatus | None = None, before: UUID | None = None, limit: int
) -> list[HeldCard]:
    """Cards, newest first; all of them, or those that are suspended or revoked."""
    place = before or LAST_ID
    if status is None:
        return await tx.all(HeldCard, PAGE, organization_id, place, limit)
    return await tx.all(HeldCard, PAGE_OUT_OF_USE, organization_id, place, limit, status)


FIND: Final = """
    SELECT c.id, c.number, c.status, c.issued_at, h.name, h.email
      FROM card c
      LEFT JOIN card_holder h ON h.organization_id = c.organization_id AND h.card_id = c.id
     WHERE c.organization_id = $1
       AND c.id = $2
"""

PREFIX: Final = """
    SELECT card_prefix
      FROM organization
     WHERE id = $1
"""

BY_NUMBER: Final = """
    SELECT c.id, c.number, c.status, c.issued_at, h.name, h.email
      FROM card c
      LEFT JOIN card_holder h ON h.organization_id = c.organization_id AND h.card_id = c.id
     WHERE c.organization_id = $1
       AND c.number = $2
"""

# LIKE with a parameter would not use the index; these two comparisons do, in any plan.
BY_NAME: Final = """
    SELECT c.id, c.number, c.status, c.issued_at, h.name, h.email
      FROM card_holder h
      JOIN card c ON c.organization_id = h.organization_id AND c.id = h.card_id
     WHERE h.organization_id = $1
       AND lower(h.name) ~>=~ lower($2)
       AND lower(h.name) ~<~ lower($3)
     ORDER BY lower(h.name) USING ~<~, h.card_id
     LIMIT $4
"""

BY_EMAIL: Final = """
    SELECT c.id, c.number, c.status, c.issued_at, h.name, h.email
      FROM card_holder h
      JOIN card c ON c.organization_id = h.organization_id AND c.id = h.card_id
     WHERE h.organization_id = $1
       AND lower(h.email) ~>=~ lower($2)
       AND lower(h.email) ~<~ lower($3)
     ORDER BY lower(h.email) USING ~<~, h.card_id
     LIMIT $4
"""

PAGE: Final = """
    SELECT c.id, c.number, c.status, c.issued_at, h.name, h.email
      FROM card c
      LEFT JOIN card_holder h ON h.organization_id = c.organization_id AND h.card_id = c.id
     WHERE c.organization_id = $1
       AND c.id < $2
     ORDER BY c.id DESC
     LIMIT $3
"""

PAGE_OUT_OF_USE: Final = """
    SELECT c.id, c.number, c.status, c.issued_at, h.name, h.email
      FROM card c
      LEFT JOIN card_holder h ON h.organization_id = c.organization_id AND h.card_id = c.id
     WHERE c.organization_id = $1
       AND c.status <> 'active'
       AND c.status = $4
       AND c.id < $2
     ORDER BY c.id DESC
     LIMIT $3
"""
