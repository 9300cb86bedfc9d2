"""Cards, which participants carry, and the signed tokens that stand for them."""

from gatepass.domain.cards.card import (
    SERIALS,
    Card,
    CardNotFound,
    CardRevoked,
    CardStatus,
    CardSuspended,
    format_number,
    has_good_check_digit,
    normalize_number,
)
from gatepass.domain.cards.holders import MOST_FOUND, Holder, find_holders
from gatepass.domain.cards.issuance import erase_holder, issue
from gatepass.domain.cards.search import HeldCard, find, find_by_holder, find_by_number, newest
from gatepass.domain.cards.signing_keys import (
    NoSigningKey,
    Signer,
    SigningKeyShown,
    retire,
    rotate,
    signer,
    signing_keys_of,
    verifying_keys,
)
from gatepass.domain.cards.status import change_status
from gatepass.domain.cards.token import Expired, InvalidToken, PublicKey, Token
from gatepass.domain.cards.token import verify as read_token
from gatepass.domain.cards.verification import (
    INVALID,
    Verification,
    VerificationReason,
    VerificationRequest,
    standing,
    verify,
)

__all__ = [
    "INVALID",
    "MOST_FOUND",
    "SERIALS",
    "Card",
    "CardNotFound",
    "CardRevoked",
    "CardStatus",
    "CardSuspended",
    "Expired",
    "HeldCard",
    "Holder",
    "InvalidToken",
    "NoSigningKey",
    "PublicKey",
    "Signer",
    "SigningKeyShown",
    "Token",
    "Verification",
    "VerificationReason",
    "VerificationRequest",
    "change_status",
    "erase_holder",
    "find",
    "find_by_holder",
    "find_by_number",
    "find_holders",
    "format_number",
    "has_good_check_digit",
    "issue",
    "newest",
    "normalize_number",
    "read_token",
    "retire",
    "rotate",
    "signer",
    "signing_keys_of",
    "standing",
    "verify",
    "verifying_keys",
]
