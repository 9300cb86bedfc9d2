"""Verifying a card token: may this card be used? Nothing is activated, and nothing is said about tickets."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.cards import signing, token
from gatepass.domain.cards.card import Card, CardStatus
from gatepass.domain.cards.token import InvalidToken, Token


class Reason(StrEnum):
    INVALID_TOKEN = "invalid_token"  # noqa: S105
    EXPIRED = "expired"
    CARD_SUSPENDED = "card_suspended"
    CARD_REVOKED = "card_revoked"


@dataclass(frozen=True, slots=True)
class Verification:
    """What a token is worth. Of a token that we did not sign, nothing is said but that."""

    card: Card | None
    expired: bool
    reason: Reason | None

    @property
    def valid(self) -> bool:
        return self.reason is None


INVALID: Final = Verification(None, expired=False, reason=Reason.INVALID_TOKEN)


async def read_token(tx: Tx, organization_id: UUID, text: str) -> Token:
    """The token, if the organization signed it; otherwise InvalidToken."""
    keys = await signing.verifying_keys(tx, organization_id)
    return token.verify(text, (key.public_key for key in keys))


async def verify(tx: Tx, organization_id: UUID, text: str, *, at: datetime) -> Verification:
    try:
        shown = await read_token(tx, organization_id, text)
    except InvalidToken:
        return INVALID
    card = await tx.one(Card, BY_NUMBER, organization_id, shown.card_number)
    return INVALID if card is None else standing(card, expired=shown.is_expired(at))


def standing(card: Card, *, expired: bool) -> Verification:
    """The card's status outranks the token's expiry."""
    if card.status is CardStatus.SUSPENDED:
        return Verification(card, expired, Reason.CARD_SUSPENDED)
    if card.status is CardStatus.REVOKED:
        return Verification(card, expired, Reason.CARD_REVOKED)
    return Verification(card, expired, Reason.EXPIRED if expired else None)


BY_NUMBER: Final = """
    SELECT id, number, status, issued_at
      FROM card
     WHERE organization_id = $1
       AND number = $2
"""
