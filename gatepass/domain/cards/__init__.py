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
from gatepass.domain.cards.issuing import erase_holder, issue
from gatepass.domain.cards.moves import move
from gatepass.domain.cards.signing import NoSigningKey, Signer, retire, rotate, signer, verifying_keys
from gatepass.domain.cards.token import Expired, InvalidToken, PublicKey, Token
from gatepass.domain.cards.token import verify as read_token
from gatepass.domain.cards.verification import INVALID, Question, Reason, Verification, standing, verify

__all__ = [
    "INVALID",
    "SERIALS",
    "Card",
    "CardNotFound",
    "CardRevoked",
    "CardStatus",
    "CardSuspended",
    "Expired",
    "InvalidToken",
    "NoSigningKey",
    "PublicKey",
    "Question",
    "Reason",
    "Signer",
    "Token",
    "Verification",
    "erase_holder",
    "has_good_check_digit",
    "issue",
    "move",
    "read",
    "read_token",
    "retire",
    "rotate",
    "signer",
    "standing",
    "verify",
    "verifying_keys",
    "written",
]
