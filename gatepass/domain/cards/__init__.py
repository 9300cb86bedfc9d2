"""Cards: what a participant carries, and the tokens that stand for it."""

from gatepass.domain.cards.card import (
    SERIALS,
    Card,
    CardNotFound,
    CardRevoked,
    CardStatus,
    CardSuspended,
    has_good_check_digit,
    read,
    written,
)
from gatepass.domain.cards.finding import HeldCard, find, find_by_number, held_by, newest
from gatepass.domain.cards.holders import MOST_FOUND, Holder, holders_found
from gatepass.domain.cards.issuing import erase_holder, issue
from gatepass.domain.cards.moves import move
from gatepass.domain.cards.signing import (
    NoSigningKey,
    Signer,
    SigningKeyShown,
    retire,
    rotate,
    signer,
    signing_keys_of,
    verifying_keys,
)
from gatepass.domain.cards.token import Expired, InvalidToken, PublicKey, Token
from gatepass.domain.cards.token import verify as read_token
from gatepass.domain.cards.verification import INVALID, Question, Reason, Verification, standing, verify

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
    "Question",
    "Reason",
    "Signer",
    "SigningKeyShown",
    "Token",
    "Verification",
    "erase_holder",
    "find",
    "find_by_number",
    "has_good_check_digit",
    "held_by",
    "holders_found",
    "issue",
    "move",
    "newest",
    "read",
    "read_token",
    "retire",
    "rotate",
    "signer",
    "signing_keys_of",
    "standing",
    "verify",
    "verifying_keys",
    "written",
]
