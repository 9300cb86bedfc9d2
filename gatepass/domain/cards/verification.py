"""Verifying a card token: may this card be used? It activates nothing and discloses nothing about tickets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.cards.card import Card, CardStatus
from gatepass.domain.cards.phone_code import PhoneCode
from gatepass.domain.cards.token import Token
from gatepass.domain.keys import InvalidKey


class VerificationReason(StrEnum):
    INVALID_TOKEN = "invalid_token"  # noqa: S105
    EXPIRED = "expired"
    CARD_SUSPENDED = "card_suspended"
    CARD_REVOKED = "card_revoked"


@dataclass(frozen=True, slots=True)
class Verification:
    """The result for one token. A token that we did not sign has no card."""

    card: Card | None
    expired: bool
    reason: VerificationReason | None

    @property
    def valid(self) -> bool:
        return self.reason is None


INVALID: Final = Verification(None, expired=False, reason=VerificationReason.INVALID_TOKEN)


@dataclass(frozen=True, slots=True)
class VerificationRequest:
    """A token or a phone's code with valid signatures, and the API key of the caller. `tenant_id` has the card."""

    organization_id: UUID
    tenant_id: UUID
    key_id: UUID
    token: Token | PhoneCode


async def verify(tx: Tx, requests: Sequence[VerificationRequest], *, at: datetime) -> list[Verification | InvalidKey]:
    """The results for these tokens, in their order. API keys and signing keys that have ended since are found here."""
    rows = await tx.rows(
        LOOK_UP,
        [request.organization_id for request in requests],
        [request.key_id for request in requests],
        [request.token.signing_key for request in requests],
        [request.token.card_number for request in requests],
        at,
        [request.tenant_id for request in requests],
    )
    results: list[Verification | InvalidKey] = [INVALID] * len(requests)
    for row in rows:
        place = row["n"] - 1
        if not row["key_is_good"]:
            results[place] = InvalidKey()
        elif row["signing_key_is_good"] and row["id"] is not None:
            card = Card(row["id"], row["number"], CardStatus(row["status"]), row["issued_at"])
            token = requests[place].token
            ended = token.phone is not None and token.phone != row["phone"]
            results[place] = standing(card, expired=ended or token.is_expired(at))
    return results


def standing(card: Card, *, expired: bool) -> Verification:
    """The verification of this card. Its status takes precedence over the token's expiry."""
    if card.status is CardStatus.SUSPENDED:
        return Verification(card, expired, VerificationReason.CARD_SUSPENDED)
    if card.status is CardStatus.REVOKED:
        return Verification(card, expired, VerificationReason.CARD_REVOKED)
    return Verification(card, expired, VerificationReason.EXPIRED if expired else None)


LOOK_UP: Final = """
    SELECT u.n,
           EXISTS (SELECT FROM api_key a
                    WHERE a.organization_id = u.organization_id
                      AND a.id = u.key_id
                      AND a.revoked_at IS NULL
                      AND (a.expires_at IS NULL OR a.expires_at > $5)
                      AND (a.device_id IS NULL OR 'cards:verify' = ANY (a.scopes))  -- a retired device has none
                   OFFSET 0) AS key_is_good,
           EXISTS (SELECT FROM signing_key s
                    WHERE s.organization_id = u.tenant_id
                      AND s.id = u.signing_key
                      AND s.retired_at IS NULL
                   OFFSET 0) AS signing_key_is_good,
           c.id, c.number, c.status, c.issued_at, c.phone
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $6::uuid[])
           WITH ORDINALITY u (organization_id, key_id, signing_key, card_number, tenant_id, n)
      LEFT JOIN LATERAL (SELECT x.id, x.number, x.status, x.issued_at, x.phone
                           FROM card x
                          WHERE x.organization_id = u.tenant_id
                            AND x.number = u.card_number
                         OFFSET 0) c ON true
"""
