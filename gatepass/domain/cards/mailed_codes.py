"""Codes in a mail to the holder, with which another phone takes over a card.

Whoever has a card's link can ask for a code, and can type codes. Neither may keep the holder out:

- A code has twelve digits. It needs no bound on tries, which somebody else could use up: a thousand tries a second
  for an hour find one of three with a chance of 1 in 90,000, and the page's limits allow far fewer.
- A code lives as long as the interval in which three may be sent. So if somebody else has asked three times, the holder
  has a mail with a code that works.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import Refusal

DIGITS: Final = 12
LIFE: Final = timedelta(hours=1)
# A mailbox is not flooded.
MOST_SENT: Final = 3
SEPARATORS: Final = re.compile(r"[\s-]")


class InvalidCode(Refusal):
    """This code is not valid, or no longer."""

    code = "invalid_code"


@dataclass(frozen=True, slots=True)
class MailedCode:
    """`code` is as it is written in the mail: in groups of four digits."""

    code: str
    email: str
    locale: str | None


@dataclass(frozen=True, slots=True)
class _Address:
    email: str
    locale: str | None


async def prepare(tx: Tx, organization_id: UUID, card_id: UUID, *, at: datetime) -> MailedCode | None:
    """A new code for the holder of this card; None if nobody's address is known, or enough were sent this hour.

    Codes that were sent before stay good: their mails may arrive in any order. They are counted before the lock too, so
    that who asks without end does not make others wait for it.
    """
    if await tx.value(COUNT, organization_id, card_id, at - LIFE) >= MOST_SENT:
        return None
    await tx.run(LOCK, organization_id, card_id)
    address = await tx.one(_Address, ADDRESS, organization_id, card_id)
    if address is None:
        return None
    await tx.run(FORGET, organization_id, card_id, at - LIFE)
    if await tx.value(COUNT, organization_id, card_id, at - LIFE) >= MOST_SENT:
        return None
    digits = f"{secrets.randbelow(10**DIGITS):0{DIGITS}d}"
    await tx.run(ADD, organization_id, card_id, _hash(organization_id, card_id, digits), at)
    return MailedCode(f"{digits[:4]} {digits[4:8]} {digits[8:]}", address.email, address.locale)


async def require(tx: Tx, organization_id: UUID, card_id: UUID, typed: str, *, at: datetime) -> None:
    """Refuse what is no code of this card."""
    digits = SEPARATORS.sub("", typed)
    wanted = _hash(organization_id, card_id, digits)
    sent = [row["code_hash"] for row in await tx.rows(UNUSED, organization_id, card_id, at - LIFE)]
    if not any([hmac.compare_digest(wanted, known) for known in sent]):  # noqa: C419  each is compared
        raise InvalidCode


async def use(tx: Tx, organization_id: UUID, card_id: UUID, typed: str, *, at: datetime) -> None:
    """Use up this code, and with it all that were sent before: a card moves once for each question."""
    await require(tx, organization_id, card_id, typed, at=at)
    await tx.run(USE, organization_id, card_id, at)


def _hash(organization_id: UUID, card_id: UUID, digits: str) -> bytes:
    return hashlib.sha256(f"{organization_id} {card_id} {digits}".encode()).digest()


LOCK: Final = """
    SELECT true
      FROM card
     WHERE organization_id = $1
       AND id = $2
       FOR NO KEY UPDATE
"""

ADDRESS: Final = """
    SELECT email, locale
      FROM card_holder
     WHERE organization_id = $1
       AND card_id = $2
       AND email IS NOT NULL
"""

FORGET: Final = """
    DELETE FROM card_phone_code
     WHERE organization_id = $1
       AND card_id = $2
       AND sent_at <= $3
"""

COUNT: Final = """
    SELECT count(*)
      FROM card_phone_code
     WHERE organization_id = $1
       AND card_id = $2
       AND sent_at > $3
"""

ADD: Final = """
    INSERT INTO card_phone_code (organization_id, card_id, code_hash, sent_at)
    VALUES ($1, $2, $3, $4)
"""

UNUSED: Final = """
    SELECT code_hash
      FROM card_phone_code
     WHERE organization_id = $1
       AND card_id = $2
       AND sent_at > $3
       AND used_at IS NULL
"""

USE: Final = """
    UPDATE card_phone_code
       SET used_at = $3
     WHERE organization_id = $1
       AND card_id = $2
       AND used_at IS NULL
"""
