"""The Ed25519 key of a device: it signs the fetching of the API key, and each entry of the journal."""

import hashlib
from datetime import datetime
from typing import Final, Self

from gatepass_sdk._arguments import format_time
from gatepass_sdk._base64url import encoded
from gatepass_sdk._gate.words import WORDS
from gatepass_sdk.errors import GateError

SEED_BYTES: Final = 32


class DeviceKey:
    def __init__(self, seed: bytes) -> None:
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
        except ImportError as error:
            raise GateError("A gate needs the package cryptography: pip install 'gatepass-sdk[gate]'.") from error

        self.seed = seed
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public_key = self._key.public_key().public_bytes_raw()

    @classmethod
    def create(cls) -> Self:
        from secrets import token_bytes  # noqa: PLC0415

        return cls(token_bytes(SEED_BYTES))

    def signature(self, *parts: str) -> str:
        return encoded(self._key.sign("\n".join(parts).encode()))

    def sign_fetch(self, request: str, at: datetime) -> str:
        return self.signature("svc-pair-1", request, format_time(at) or "")

    def __repr__(self) -> str:
        """Without the seed, so that it does not get into a log."""
        return f"DeviceKey({encoded(self.public_key)!r})"


def two_words(code: str, public_key: bytes, request: str) -> tuple[str, str]:
    """What both screens show. The device computes them itself: an answer that somebody changed shows others."""
    digest = hashlib.sha256(b"\0".join([b"svc-words-1", code.encode(), public_key, request.encode()])).digest()
    return WORDS[digest[0]], WORDS[digest[1]]
