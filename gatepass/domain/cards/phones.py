"""The phone that shows a card's own codes: enrolled, renewed, moved and ended, one phone at a time.

A link can be forwarded, so that it must not be worth more than the phone that was enrolled with it:

- The link alone enrols the first phone, and the next one after the enrolled one has ended. While a phone is enrolled,
  the link gives nobody else a code.
- Another phone takes over with a signature of the enrolled one, or with a code that was mailed to the holder
  (`mailed_codes.py`). Or a lead ends the enrolled one in the studio.
- So whoever enrols with a forwarded link does not keep it: the holder has the mailbox, and can ask the organizer.

A gate without a network knows a phone by its number modulo 16, until the phone's certificate expires. So no number is
given again while a certificate with it may be alive. The link alone gets half of the numbers: somebody who enrols and
ends phones with a forwarded link leaves the other half to mailed codes.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.base.errors import Refusal
from gatepass.domain import audit_log
from gatepass.domain.cards import mailed_codes
from gatepass.domain.cards.card import CardNotFound, CardRevoked, CardStatus, CardSuspended
from gatepass.domain.cards.phone_code import CERTIFICATE_LIFE, NUMBERS, certify
from gatepass.domain.cards.phone_proof import require_handover
from gatepass.domain.cards.signing_keys import newest_key, signer

# Half of the numbers within the life of a certificate.
MOST_BY_LINK: Final = NUMBERS // 2
# Of a token for a phone that cannot sign. Events that want phones' own codes take tokens of two minutes.
SHORT_LIFE: Final = timedelta(seconds=60)
# The actor of the audit log for what the participant did.
HOLDER: Final = "holder"


class PhoneEnrolled(Refusal):
    """Another phone shows the code of this card."""

    code = "phone_enrolled"


class PhoneNotEnrolled(Refusal):
    """This phone does not show the code of this card, or no longer does."""

    code = "phone_not_enrolled"


class PhoneEnded(Refusal):
    """This phone's key has ended. Make a new key."""

    code = "phone_ended"


class TooManyPhones(Refusal):
    """This card has moved from phone to phone too often this week."""

    code = "too_many_phones"


@dataclass(frozen=True, slots=True)
class Phone:
    enrolment: int
    public_key: bytes
    enrolled_at: datetime


@dataclass(frozen=True, slots=True)
class IssuedCertificate:
    certificate: str
    enrolment: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class _LockedCard:
    number: str
    status: CardStatus


async def find_phone(tx: Tx, organization_id: UUID, card_id: UUID) -> Phone | None:
    """The phone that is enrolled."""
    return await tx.one(Phone, ENROLLED, organization_id, card_id)


async def enrol(
    tx: Tx, organization_id: UUID, card_id: UUID, public_key: bytes, vault: Vault, *, at: datetime
) -> IssuedCertificate:
    """Enrol a phone by the link alone. The phone that is enrolled gets its certificate again."""
    card = await _locked(tx, organization_id, card_id)
    phone = await find_phone(tx, organization_id, card_id)
    if phone is None:
        phone = await _add(tx, organization_id, card_id, public_key, most=MOST_BY_LINK, at=at)
    elif phone.public_key != public_key:
        raise PhoneEnrolled
    return await _certified(tx, organization_id, card, phone, vault, at)


async def renew(
    tx: Tx, organization_id: UUID, card_id: UUID, public_key: bytes, vault: Vault, *, at: datetime
) -> IssuedCertificate:
    """A new certificate for the phone that is enrolled."""
    card = await _locked(tx, organization_id, card_id)
    phone = await _require(tx, organization_id, card_id, public_key)
    return await _certified(tx, organization_id, card, phone, vault, at)


async def move(
    tx: Tx, organization_id: UUID, card_id: UUID, public_key: bytes, old_signature: bytes, vault: Vault, *, at: datetime
) -> IssuedCertificate:
    """Let another phone take over, with the signature of the one that is enrolled."""
    card = await _locked(tx, organization_id, card_id)
    old = await find_phone(tx, organization_id, card_id)
    if old is None:
        raise PhoneNotEnrolled
    require_handover(public_key, old_signature, old.public_key)
    new = await _replace(tx, organization_id, card_id, old, public_key, reason="by the phone before it", at=at)
    return await _certified(tx, organization_id, card, new, vault, at)


async def move_by_code(
    tx: Tx, organization_id: UUID, card_id: UUID, public_key: bytes, code: str, vault: Vault, *, at: datetime
) -> IssuedCertificate:
    """Let another phone take over, or enrol the first, with a code that was mailed to the holder.

    The code is looked at before the lock too, so that guesses do not queue up in front of the holder.
    """
    await mailed_codes.require(tx, organization_id, card_id, code, at=at)
    card = await _locked(tx, organization_id, card_id)
    await mailed_codes.use(tx, organization_id, card_id, code, at=at)
    old = await find_phone(tx, organization_id, card_id)
    new = await _replace(tx, organization_id, card_id, old, public_key, reason="by a code in a mail", at=at)
    return await _certified(tx, organization_id, card, new, vault, at)


async def end(
    tx: Tx,
    organization_id: UUID,
    card_id: UUID,
    *,
    by: str,
    at: datetime,
    public_key: bytes | None = None,
    reason: str | None = None,
) -> None:
    """End the phone that is enrolled: it asks for it itself, with its key, or a lead does. Its codes are `expired`."""
    await _locked(tx, organization_id, card_id)
    phone = await _require(tx, organization_id, card_id, public_key)
    await tx.run(END, organization_id, card_id, phone.enrolment, at, by)
    await tx.run(SHOW_ON_CARD, organization_id, card_id, None)
    await audit_log.record(
        tx, organization_id, "card", card_id, "phone ended", by=by, at=at, was=_name(phone), reason=reason
    )


async def short_token(tx: Tx, organization_id: UUID, card_id: UUID, vault: Vault, *, at: datetime) -> tuple[str, int]:
    """A token that ends in a minute, and when, for a phone that cannot sign. None is given beside an enrolled phone."""
    card = await _locked(tx, organization_id, card_id)
    if card.status is CardStatus.SUSPENDED:
        raise CardSuspended
    if await find_phone(tx, organization_id, card_id) is not None:
        raise PhoneEnrolled
    expires_at = at + SHORT_LIFE
    sign = await signer(tx, organization_id, vault, at=at)
    return sign(card.number, expires_at), int(expires_at.timestamp())


async def _locked(tx: Tx, organization_id: UUID, card_id: UUID) -> _LockedCard:
    """The card; concurrent changes of its phone take turns. A scan reads the card and does not wait."""
    card = await tx.one(_LockedCard, LOCK, organization_id, card_id)
    if card is None:
        raise CardNotFound
    if card.status == CardStatus.REVOKED:
        raise CardRevoked
    return card


async def _require(tx: Tx, organization_id: UUID, card_id: UUID, public_key: bytes | None) -> Phone:
    phone = await find_phone(tx, organization_id, card_id)
    if phone is None or public_key not in (None, phone.public_key):
        raise PhoneNotEnrolled
    return phone


async def _replace(
    tx: Tx, organization_id: UUID, card_id: UUID, old: Phone | None, public_key: bytes, *, reason: str, at: datetime
) -> Phone:
    if old is not None:
        if old.public_key == public_key:
            return old
        await tx.run(END, organization_id, card_id, old.enrolment, at, HOLDER)
    return await _add(tx, organization_id, card_id, public_key, most=NUMBERS, at=at, old=old, reason=reason)


async def _add(
    tx: Tx,
    organization_id: UUID,
    card_id: UUID,
    public_key: bytes,
    *,
    most: int,
    at: datetime,
    old: Phone | None = None,
    reason: str | None = None,
) -> Phone:
    if await tx.value(HAD_KEY, organization_id, card_id, public_key):
        raise PhoneEnded
    enrolment = await tx.value(NEXT_ENROLMENT, organization_id, card_id)
    if await tx.value(MAY_BE_ALIVE, organization_id, card_id, enrolment - most, at - CERTIFICATE_LIFE):
        raise TooManyPhones
    phone = Phone(enrolment, public_key, at)
    await tx.run(ADD, organization_id, card_id, enrolment, public_key, at)
    await tx.run(SHOW_ON_CARD, organization_id, card_id, enrolment % NUMBERS)
    await audit_log.record(
        tx, organization_id, "card", card_id, "phone moved" if old else "phone enrolled", by=HOLDER, at=at,
        was=_name(old) if old else None, becomes=_name(phone), reason=reason,
    )  # fmt: skip
    return phone


async def _certified(
    tx: Tx, organization_id: UUID, card: _LockedCard, phone: Phone, vault: Vault, at: datetime
) -> IssuedCertificate:
    key = await newest_key(tx, organization_id, vault, at=at)
    expires_at = int((at + CERTIFICATE_LIFE).timestamp())
    certificate = certify(card.number, expires_at, phone.enrolment, phone.public_key, key)
    return IssuedCertificate(certificate, phone.enrolment, expires_at)


def _name(phone: Phone) -> str:
    """As people count: the first phone is phone 1."""
    return f"phone {phone.enrolment + 1}"


LOCK: Final = """
    SELECT number, status
      FROM card
     WHERE organization_id = $1
       AND id = $2
       FOR NO KEY UPDATE
"""

ENROLLED: Final = """
    SELECT enrolment, public_key, enrolled_at
      FROM card_phone
     WHERE organization_id = $1
       AND card_id = $2
       AND ended_at IS NULL
"""

HAD_KEY: Final = """
    SELECT true
      FROM card_phone
     WHERE organization_id = $1
       AND card_id = $2
       AND public_key = $3
"""

NEXT_ENROLMENT: Final = """
    SELECT coalesce(max(enrolment) + 1, 0)
      FROM card_phone
     WHERE organization_id = $1
       AND card_id = $2
"""

# Phones end in the order in which they were enrolled.
MAY_BE_ALIVE: Final = """
    SELECT true
      FROM card_phone
     WHERE organization_id = $1
       AND card_id = $2
       AND enrolment = $3
       AND ended_at > $4
"""

ADD: Final = """
    INSERT INTO card_phone (organization_id, card_id, enrolment, public_key, enrolled_at)
    VALUES ($1, $2, $3, $4, $5)
"""

END: Final = """
    UPDATE card_phone
       SET ended_at = $4, ended_by = $5
     WHERE organization_id = $1
       AND card_id = $2
       AND enrolment = $3
       AND ended_at IS NULL
"""

SHOW_ON_CARD: Final = """
    UPDATE card
       SET phone = $3
     WHERE organization_id = $1
       AND id = $2
"""
