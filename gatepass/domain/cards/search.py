"""Finding cards: by number, external id or address, by words of a holder or digits of a number, or page by page."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import ClassVar, Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import digest_of
from gatepass.domain.cards.card import CardNotFound, CardStatus, normalize_number
from gatepass.domain.cards.holders import normalize_email
from gatepass.domain.cards.words import MOST_WORDS, SHORTEST_BEGINNING, digit_groups
from gatepass.domain.visibility import EMAIL, NAME, NUMBER, Columns, GuestField, Sight

LAST_ID: Final = UUID(int=2**128 - 1)
FIRST_ID: Final = UUID(int=0)


@dataclass(frozen=True, slots=True)
class HeldCard:
    """A card and its holder, if that is known."""

    guest: ClassVar[Columns] = {"number": NUMBER, "name": NAME, "email": EMAIL}

    id: UUID
    number: str
    status: CardStatus
    issued_at: datetime
    updated_at: datetime
    external_id: str | None
    name: str | None
    email: str | None
    locale: str | None
    companion: bool

    @property
    def version(self) -> str:
        """Another one after every change, whichever version of the service made it."""
        return digest_of(*astuple(self)).hex


async def find(tx: Tx, organization_id: UUID, card_id: UUID) -> HeldCard:
    found = await tx.one(HeldCard, FIND, organization_id, card_id)
    if found is None:
        raise CardNotFound
    return found


async def find_all(tx: Tx, organization_id: UUID, card_ids: Sequence[UUID]) -> dict[UUID, HeldCard]:
    return {found.id: found for found in await tx.all(HeldCard, FIND_ALL, organization_id, list(card_ids))}


async def find_by_number(tx: Tx, organization_id: UUID, typed: str) -> HeldCard | None:
    """The card with this number in any spelling; the letters before the digits may be left out."""
    bare = "".join(sign for sign in typed if sign.isdigit())
    if typed and len(bare) == 12 and not any(sign.isalpha() for sign in typed):
        typed = (await tx.value(PREFIX, organization_id)) + bare
    return await tx.one(HeldCard, BY_NUMBER, organization_id, normalize_number(typed))


async def find_by_email(tx: Tx, organization_id: UUID, email: str, *, after: UUID | None, limit: int) -> list[HeldCard]:
    """Cards of the person with this address, in any spelling, and of their companions, oldest first."""
    return await tx.all(HeldCard, OF_PERSON, organization_id, email, normalize_email(email), after or FIRST_ID, limit)


async def find_by_external_id(tx: Tx, organization_id: UUID, external_id: str) -> HeldCard | None:
    return await tx.one(HeldCard, BY_EXTERNAL_ID, organization_id, external_id)


async def find_by_holder(tx: Tx, organization_id: UUID, typed: str, *, limit: int) -> list[HeldCard]:
    """Cards whose holder has all these words in name and address, in any order and case, or words that begin so."""
    return await tx.all(HeldCard, BY_WORDS, organization_id, typed, limit, SHORTEST_BEGINNING, MOST_WORDS)


async def ids_by_text(tx: Tx, organization_id: UUID, typed: str, *, sight: Sight, limit: int) -> list[UUID]:
    """The ids of cards with these digits; else, if names may be seen, of cards with a holder of these words."""
    groups, last = _groups(typed, sight)
    found = [row["id"] for row in await tx.rows(DIGITS, organization_id, groups, limit, last)] if groups else []
    if found or not sight.sees(GuestField.NAME):
        return found
    rows = await tx.rows(HOLDERS, organization_id, typed, limit, SHORTEST_BEGINNING, MOST_WORDS)
    return [row["card_id"] for row in rows]


async def find_by_text(tx: Tx, organization_id: UUID, typed: str, *, sight: Sight, limit: int) -> list[HeldCard]:
    """Cards with these digits; else, if names may be seen, cards with a holder of these words."""
    groups, last = _groups(typed, sight)
    found = await tx.all(HeldCard, BY_DIGITS, organization_id, groups, limit, last) if groups else []
    if not found and sight.sees(GuestField.NAME):
        found = await find_by_holder(tx, organization_id, typed, limit=limit)
    return sight.of(found)


def _groups(typed: str, sight: Sight) -> tuple[list[str], str]:
    """The groups of digits to look for, and the one that must be the last, or any if it is empty.

    Who sees the last four digits only finds a card by these only: by any others the rest could be guessed.
    """
    groups = digit_groups(typed)
    if sight.sees(GuestField.NUMBER):
        return groups, ""
    return (groups, groups[0]) if len(groups) == 1 else ([], "")


async def newest(
    tx: Tx, organization_id: UUID, *, status: CardStatus | None = None, before: UUID | None = None, limit: int
) -> list[HeldCard]:
    """Cards, newest first; all of them, or those that are suspended or revoked."""
    place = before or LAST_ID
    if status is None:
        return await tx.all(HeldCard, PAGE, organization_id, place, limit)
    return await tx.all(HeldCard, PAGE_OUT_OF_USE, organization_id, place, limit, status)


COLUMNS: Final = """
           c.id, c.number, c.status, c.issued_at, greatest(c.issued_at, c.changed_at) AS updated_at, x.external_id,
           h.name, h.email, h.locale, coalesce(e.companion, false) AS companion
"""
# What is known of a card besides its own row.
KNOWN: Final = """
      LEFT JOIN holder_email e ON e.organization_id = c.organization_id AND e.card_id = c.id
      LEFT JOIN card_external_id x ON x.organization_id = c.organization_id AND x.card_id = c.id
"""
FROM_CARD: Final = (
    " FROM card c LEFT JOIN card_holder h ON h.organization_id = c.organization_id AND h.card_id = c.id" + KNOWN
)
FROM_HOLDER: Final = (
    " FROM card_holder h JOIN card c ON c.organization_id = h.organization_id AND c.id = h.card_id" + KNOWN
)

FIND: Final = "SELECT " + COLUMNS + FROM_CARD + " WHERE c.organization_id = $1 AND c.id = $2"

# Look-ups as in `tickets/listing.py`: each by the whole key of an index, also if the organization is new.
FIND_ALL: Final = (
    "SELECT "
    + COLUMNS
    + """
      FROM unnest($2::uuid[]) u (id)
     CROSS JOIN LATERAL (SELECT x.*
                           FROM card x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.id = u.id
                         OFFSET 0) c
      LEFT JOIN LATERAL (SELECT x.name, x.email, x.locale
                           FROM card_holder x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.card_id = c.id
                         OFFSET 0) h ON true
      LEFT JOIN LATERAL (SELECT x.companion
                           FROM holder_email x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.card_id = c.id
                         OFFSET 0) e ON true
      LEFT JOIN LATERAL (SELECT x.external_id
                           FROM card_external_id x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.card_id = c.id
                         OFFSET 0) x ON true
    """
)

PREFIX: Final = """
    SELECT card_prefix
      FROM organization
     WHERE id = $1
"""

BY_NUMBER: Final = "SELECT " + COLUMNS + FROM_CARD + " WHERE c.organization_id = $1 AND c.number = $2"

BY_EXTERNAL_ID: Final = "SELECT " + COLUMNS + FROM_CARD + """
     WHERE c.organization_id = $1
       AND c.id = (SELECT k.card_id
                     FROM card_external_id k
                    WHERE k.organization_id = $1
                      AND k.external_id = $2)
"""  # fmt: skip

# Holders that version 0.2 stored have no row in `holder_email`.
OF_PERSON: Final = "SELECT " + COLUMNS + FROM_CARD + """
     WHERE c.organization_id = $1
       AND c.id IN ((SELECT k.card_id
                       FROM holder_email k
                      WHERE k.organization_id = $1
                        AND k.email = $3
                        AND k.card_id > $4
                      ORDER BY k.card_id
                      LIMIT $5)
                     UNION
                    (SELECT k.card_id
                       FROM card_holder k
                      WHERE k.organization_id = $1
                        AND lower(k.email) = lower($2)
                        AND k.card_id > $4
                      ORDER BY k.card_id
                      LIMIT $5))
     ORDER BY c.id
     LIMIT $5
"""  # fmt: skip

# The question is the organization and each word. A word of a few letters must be whole.
HOLDERS: Final = """
       SELECT k.card_id
         FROM card_holder k
        WHERE holder_words(k.organization_id, k.name, k.email) @@ (
                  SELECT (quote_literal('@' || $1::uuid) || string_agg(
                             ' & ' || quote_literal(w.word) || CASE WHEN length(w.word) >= $4 THEN ':*' ELSE '' END, ''
                         ))::tsquery
                    FROM (SELECT u.word FROM unnest(search_words($2)) u (word) LIMIT $5) w)
          AND k.organization_id = $1
        LIMIT $3
"""

BY_WORDS: Final = "SELECT " + COLUMNS + FROM_HOLDER + """
     WHERE h.organization_id = $1
       AND h.card_id IN (""" + HOLDERS + """)
     ORDER BY lower(h.name), h.card_id
"""  # fmt: skip

DIGITS: Final = """
       SELECT k.id
         FROM card k
        WHERE card_groups(k.organization_id, k.number) @> (('@' || $1::uuid) || $2::text[])
          AND k.organization_id = $1
          AND right(k.number, length($4)) = $4
        LIMIT $3
"""

BY_DIGITS: Final = "SELECT " + COLUMNS + FROM_CARD + """
     WHERE c.organization_id = $1
       AND c.id IN (""" + DIGITS + """)
     ORDER BY c.number
"""  # fmt: skip

PAGE: Final = "SELECT " + COLUMNS + FROM_CARD + """
     WHERE c.organization_id = $1
       AND c.id < $2
     ORDER BY c.id DESC
     LIMIT $3
"""  # fmt: skip

PAGE_OUT_OF_USE: Final = "SELECT " + COLUMNS + FROM_CARD + """
     WHERE c.organization_id = $1
       AND c.status <> 'active'
       AND c.status = $4
       AND c.id < $2
     ORDER BY c.id DESC
     LIMIT $3
"""  # fmt: skip
