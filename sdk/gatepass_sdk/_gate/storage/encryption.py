"""What a gate keeps is encrypted: AES-256-GCM under a key in a file of its own, which only its owner can read.

That protects a copy of the database without the key: a backup, a file that is sent to support, another user of the
machine. It does not protect from somebody who takes the machine with both files; encrypt its disk, or keep the key file
where it ends with the power, such as a systemd credential or a memory disk.
"""

import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Final

from gatepass_sdk.errors import GateError

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12


class Sealer:
    """Seals values, and marks cards. `purpose` is signed with each value, so that none can stand for another."""

    def __init__(self, key: bytes) -> None:
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415
        except ImportError as error:
            raise GateError("A gate needs the package cryptography: pip install 'gatepass-sdk[gate]'.") from error

        self._cipher = AESGCM(_derived(key, b"gate-seal"))
        self._card_key = _derived(key, b"gate-card")

    def seal(self, value: bytes, purpose: str) -> bytes:
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, value, purpose.encode())

    def opened(self, sealed: bytes, purpose: str) -> bytes:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415

        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], purpose.encode())
        except InvalidTag as error:
            raise GateError("What this gate keeps was sealed with another key, or is damaged.") from error

    def mark(self, event_id: str, card_number: str) -> bytes:
        """A name for this card at this event that says nothing without the key."""
        return hmac.digest(self._card_key, f"{event_id}\n{card_number}".encode(), "sha256")[:16]


def key_in(path: Path, *, may_create: bool) -> bytes:
    """The key in this file. A new one is made only where nothing was sealed before."""
    try:
        if may_create and not path.exists():
            _create(path, secrets.token_bytes(KEY_BYTES))
        key = path.read_bytes()
    except OSError as error:
        raise GateError(f"{path}: the key of this gate cannot be read ({error.strerror}).") from error
    if len(key) != KEY_BYTES:
        raise GateError(f"{path}: this is not the key of a gate.")
    return key


def _create(path: Path, key: bytes) -> None:
    """Write it whole or not at all, because a kill may come between any two steps, and make it last."""
    beside = path.with_name(path.name + ".new")
    beside.unlink(missing_ok=True)
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(file, key)
        os.fsync(file)
    finally:
        os.close(file)
    beside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _derived(key: bytes, purpose: bytes) -> bytes:
    return hmac.digest(key, purpose, hashlib.sha256)
