"""Verifying a card token: may this card be used? Nothing is activated, and nothing is said about tickets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.cards.card import Card, CardStatus
from gatepass.domain.cards.token import Token
from gatepass.domain.keys import InvalidKey


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


@dataclass(frozen=True, slots=True)
class Question:
    """A token whose signature is good, and the API key that asks about it."""

    organization_id: UUID
    key_id: UUID
    token: Token


async def verify(tx: Tx, questions: Sequence[Question], *, at: datetime) -> list[Verification | InvalidKey]:
    """What these tokens are worth, in their order. Keys of either kind that have ended meanwhile are found here."""
    rows = await tx.rows(
        LOOK_UP,
        [question.organization_id for question in questions],
        [question.key_id for question in questions],
        [question.token.signing_key for question in questions],
        [question.token.card_number for question in questions],
        at,
    )
    answers: list[Verification | InvalidKey] = [INVALID] * len(questions)
    for row in rows:
        place = row["n"] - 1
        if not row["key_is_good"]:
            answers[place] = InvalidKey()
        elif row["signing_key_is_good"] and row["id"] is not None:
            card = Card(row["id"], row["number"], CardStatus(row["status"]), row["issued_at"])
            answers[place] = standing(card, expired=questions[place].token.is_expired(at))
    return answers


def standing(card: Card, *, expired: bool) -> Verification:
    """The card's status outranks the token's expiry."""
    if card.status is CardStatus.SUSPENDED:
        return Verification(card, expired, Reason.CARD_SUSPENDED)
    if card.status is CardStatus.REVOKED:
        return Verification(card, expired, Reason.CARD_REVOKED)
    return Verification(card, expired, Reason.EXPIRED if expired else None)


LOOK_UP: Final = """
    SELECT u.n,
           EXISTS (SELECT FROM api_key a
                    WHERE a.organization_id = u.organization_id
                      AND a.id = u.key_id
                      AND a.revoked_at IS NULL
                      AND (a.expires_at IS NULL OR a.expires_at > $5)
                   OFFSET 0) AS key_is_good,
           EXISTS (SELECT FROM signing_key s
                    WHERE s.organization_id = u.organization_id
                      AND s.id = u.signing_key
                      AND s.retired_at IS NULL
                   OFFSET 0) AS signing_key_is_good,
           c.id, c.number, c.status, c.issued_at
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[])
           WITH ORDINALITY u (organization_id, key_id, signing_key, card_number, n)
      LEFT JOIN LATERAL (SELECT x.id, x.number, x.status, x.issued_at
                           FROM card x
                          WHERE x.organization_id = u.organization_id
                            AND x.number = u.card_number
                         OFFSET 0) c ON true
"""
