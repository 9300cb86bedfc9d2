"""Secrets at rest: sealed with a key from the settings, and bound to their row (XChaCha20-Poly1305).

A sealed secret begins with the fingerprint of its key, so that keys can be rotated: the first
key seals, all of them open.
"""

import hashlib
import secrets
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from typing import Final

from nacl.bindings import (
    crypto_aead_xchacha20poly1305_ietf_decrypt,
    crypto_aead_xchacha20poly1305_ietf_encrypt,
)
from nacl.exceptions import CryptoError

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 24
FINGERPRINT_BYTES: Final = 4


class VaultLocked(Exception):  # noqa: N818
    """None of the configured encryption keys opens this secret, or it belongs to another row."""


def new_key() -> str:
    return b64encode(secrets.token_bytes(KEY_BYTES)).decode()


class Vault:
    def __init__(self, keys: Sequence[str]) -> None:
        if not keys:
            raise ValueError("no encryption key is configured")
        self._keys = {_fingerprint(key): key for key in map(_decoded, keys)}
        self._first = _decoded(keys[0])

    def seal(self, secret: bytes, context: str) -> bytes:
        """Encrypt `secret`; it opens only with the same `context`, such as its row's ids."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = crypto_aead_xchacha20poly1305_ietf_encrypt(secret, context.encode(), nonce, self._first)
        return _fingerprint(self._first) + nonce + sealed

    def open(self, box: bytes, context: str) -> bytes:
        key = self._keys.get(box[:FINGERPRINT_BYTES])
        if key is None:
            raise VaultLocked
        nonce = box[FINGERPRINT_BYTES : FINGERPRINT_BYTES + NONCE_BYTES]
        sealed = box[FINGERPRINT_BYTES + NONCE_BYTES :]
        try:
            return crypto_aead_xchacha20poly1305_ietf_decrypt(sealed, context.encode(), nonce, key)
        except (CryptoError, TypeError, ValueError):
            raise VaultLocked from None

    def is_current(self, box: bytes) -> bool:
        """Whether the first key has sealed this. It does not prove that it opens."""
        return box.startswith(_fingerprint(self._first))


def _fingerprint(key: bytes) -> bytes:
    return hashlib.sha256(b"gatepass vault " + key).digest()[:FINGERPRINT_BYTES]


def _decoded(key: str) -> bytes:
    try:
        raw = b64decode(key, validate=True)
    except (Base64Error, ValueError):
        raw = b""
    if len(raw) != KEY_BYTES:
        raise ValueError("an encryption key is 32 random bytes in base64")
    return raw
