"""Holders: the people who hold cards. Their data stands in `card_holder` and `holder_email`, and nowhere else."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.text import is_line
from gatepass.base.web.domain_names import ascii_domain, compared_domain
from gatepass.domain.cards.card import CardStatus, normalize_number

# A person with more cards than this, who booked for a group, is erased in several steps.
MOST_FOUND: Final = 100
LONGEST_NAME: Final = 200
LONGEST_EMAIL: Final = 320
EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+")


@dataclass(frozen=True, slots=True)
class Holder:
    card_id: UUID
    card_number: str
    card_status: CardStatus
    name: str
    email: str | None


@dataclass(frozen=True)
class HolderDetails:
    """A person as a caller describes them. A holder must have a name; without one the e-mail address is used."""

    name: str | None = None
    email: str | None = None
    locale: str | None = None

    @property
    def shown_name(self) -> str:
        return self.name or (self.email or "")[:LONGEST_NAME]

    @cached_property
    def address(self) -> str | None:
        """The e-mail address in the form in which addresses are compared."""
        return normalize_email(self.email) if self.email else None


def is_name(text: str) -> bool:
    """The one rule for the name of a guest, however it comes in: typed, imported or by the API."""
    return len(text) <= LONGEST_NAME and is_line(text)


def normalize_email(email: str) -> str:
    """The one form of an address: of two spellings both find the same person. PostgreSQL never makes it.

    What stands before the @ is only written in lower case: nobody but its mail server knows whether ß is ss there.
    """
    local_part, at, domain = unicodedata.normalize("NFC", email.strip()).rpartition("@")
    return unicodedata.normalize("NFC", local_part.lower()) + at + compared_domain(domain)


def is_email(text: str) -> bool:
    """Loose on purpose: only a mail that is sent shows whether an address works."""
    return (
        EMAIL.fullmatch(text) is not None
        and len(text) <= LONGEST_EMAIL
        and 3 <= len(normalize_email(text)) <= LONGEST_EMAIL
        and (text.isprintable() or _has_joined_domain(text))
    )


def _has_joined_domain(text: str) -> bool:
    """Domains of Persia and India are written with joiners, where IDNA allows them."""
    local_part, _, domain = text.rpartition("@")
    try:
        return local_part.isprintable() and not domain.isascii() and ascii_domain(domain) != ""
    except UnicodeError:
        return False


async def find_holders(tx: Tx, organization_id: UUID, query: str) -> list[Holder]:
    """The holder of the card with this number, or of every card with this e-mail address; at most MOST_FOUND."""
    query = query.strip()
    if "@" in query:
        return await tx.all(Holder, BY_EMAIL, organization_id, query, normalize_email(query), MOST_FOUND)
    return await tx.all(Holder, BY_NUMBER, organization_id, normalize_number(query))


async def keep_holders(tx: Tx, organization_id: UUID, card_ids: Sequence[UUID]) -> set[UUID]:
    """Those of the cards that have a holder. None of these is erased before the transaction ends.

    Whoever writes letters asks first: a letter that is written while its reader is erased would stay.
    """
    await tx.run(KEEP_CARDS, organization_id, card_ids)
    rows = await tx.rows(KEEP, organization_id, card_ids)
    return {row["card_id"] for row in rows}


# Holders that version 0.2 stored have no row in `holder_email`.
BY_EMAIL: Final = """
    SELECT h.card_id, c.number AS card_number, c.status AS card_status, h.name, h.email
      FROM ((SELECT x.card_id
               FROM card_holder x
              WHERE x.organization_id = $1
                AND lower(x.email) = lower($2)
              ORDER BY x.card_id
              LIMIT $4)
             UNION
            (SELECT x.card_id
               FROM holder_email x
              WHERE x.organization_id = $1
                AND x.email = $3
              ORDER BY x.card_id
              LIMIT $4)) found
      JOIN card_holder h ON h.organization_id = $1 AND h.card_id = found.card_id
      JOIN card c ON c.organization_id = $1 AND c.id = found.card_id
     ORDER BY h.card_id
     LIMIT $4
"""

# In the order in which an import that is undone deletes them: the card of a link, then its holder.
KEEP_CARDS: Final = """
    SELECT id
      FROM card
     WHERE organization_id = $1
       AND id = ANY ($2::uuid[])
     ORDER BY id
       FOR KEY SHARE
"""

KEEP: Final = """
    SELECT card_id
      FROM card_holder
     WHERE organization_id = $1
       AND card_id = ANY ($2::uuid[])
     ORDER BY card_id
       FOR KEY SHARE
"""

BY_NUMBER: Final = """
    SELECT h.card_id, c.number AS card_number, c.status AS card_status, h.name, h.email
      FROM card c
      JOIN card_holder h ON h.organization_id = c.organization_id AND h.card_id = c.id
     WHERE c.organization_id = $1
       AND c.number = $2
"""
