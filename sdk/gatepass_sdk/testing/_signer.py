"""The signer of card tokens. It stands for the service's private key."""

import hashlib
from datetime import datetime

from gatepass_sdk import _ed25519
from gatepass_sdk._base64url import encoded


class TokenSigner:
    """Signs tokens as the service does (RFC 8032, section 5.1.6). For tests only: its key is no secret."""

    def __init__(self, seed: bytes = b"a fake Gatepass") -> None:
        digest = hashlib.sha512(hashlib.sha256(seed).digest()).digest()
        self._scalar = int.from_bytes(digest[:32], "little") & (2**254 - 8) | 2**254
        self._prefix = digest[32:]
        self.public_key = _ed25519.times_base(self._scalar)

    def token(self, card_number: str, expires_at: datetime) -> str:
        signed = f"SVC1.{encoded(card_number.encode())}.{int(expires_at.timestamp())}"
        return f"{signed}.{encoded(self._sign(signed.encode()))}"

    def _sign(self, message: bytes) -> bytes:
        nonce = _number(self._prefix + message)
        commitment = _ed25519.times_base(nonce)
        challenge = _number(commitment + self.public_key + message)
        answer = (nonce + challenge * self._scalar) % _ed25519.ORDER
        return commitment + answer.to_bytes(32, "little")


def _number(message: bytes) -> int:
    return int.from_bytes(hashlib.sha512(message).digest(), "little") % _ed25519.ORDER
