"""What a phone signs besides its codes: that it has a key, and that another phone may take over.

Each message begins with its own context, so that none is taken for a code or for another message.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gatepass.base.errors import Refusal
from gatepass.domain.cards.phone_code import is_public_key, is_signed

PROOF_CONTEXT: Final = b"svc2-enrol\0"
MOVE_CONTEXT: Final = b"svc2-move\0"
# The page takes its time from us, so that this is the time of a slow network, not of a wrong clock.
TOLERANCE: Final = 120


class InvalidProof(Refusal):
    """The signature of the phone is not valid, or not of this minute."""

    code = "invalid_proof"


@dataclass(frozen=True, slots=True)
class PhoneProof:
    """A phone's word that it has this key: its signature over a link's token and the second."""

    public_key: bytes
    signature: bytes
    at: int

    def require(self, link_token: str, *, at: datetime) -> None:
        message = PROOF_CONTEXT + link_token.encode() + str(self.at).encode()
        if (
            abs(self.at - at.timestamp()) > TOLERANCE
            or not is_public_key(self.public_key)
            or not is_signed(message, self.signature, self.public_key)
        ):
            raise InvalidProof


def require_handover(new_key: bytes, signature: bytes, enrolled_key: bytes) -> None:
    """The enrolled phone signs the new phone's key. It says so once: a key that has ended is not enrolled again."""
    if not is_signed(MOVE_CONTEXT + new_key, signature, enrolled_key):
        raise InvalidProof
