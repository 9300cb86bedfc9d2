"""A passkey in Python: the answers of a browser and its authenticator, and those of an attacker."""

import hashlib
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any, Final

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40
BOTH: Final = PRESENT | VERIFIED


@dataclass
class Authenticator:
    """One credential for one site. `count` None is a synced passkey, which does not count."""

    origin: str = "http://localhost:8000"
    rp_id: str = "localhost"
    count: int | None = 0
    flags: int = BOTH
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    user_handle: bytes = b""

    def create(self, options: str, **changed: Any) -> str:
        """Answer `navigator.credentials.create`."""
        asked = json.loads(options)
        self.user_handle = decoded(asked["user"]["id"])
        client = self._client_data("webauthn.create", asked, changed)
        attested = bytes(16) + len(self.credential_id).to_bytes(2) + self.credential_id + self._cose_key()
        data = self._data(self.flags | ATTESTED) + attested
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._answer({"clientDataJSON": encoded(client), "attestationObject": encoded(attestation)})

    def get(self, options: str, **changed: Any) -> str:
        """Answer `navigator.credentials.get`."""
        if self.count is not None:
            self.count += 1
        client = self._client_data("webauthn.get", json.loads(options), changed)
        data = self._data(self.flags)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer(
            {
                "clientDataJSON": encoded(client),
                "authenticatorData": encoded(data),
                "signature": encoded(signature),
                "userHandle": encoded(self.user_handle),
            }
        )

    def _client_data(self, type: str, asked: dict[str, Any], changed: dict[str, Any]) -> bytes:
        plain = {"type": type, "challenge": asked["challenge"], "origin": self.origin, "crossOrigin": False}
        return json.dumps(plain | changed).encode()

    def _data(self, flags: int) -> bytes:
        return hashlib.sha256(self.rp_id.encode()).digest() + bytes([flags]) + (self.count or 0).to_bytes(4)

    def _cose_key(self) -> bytes:
        point = self.key.public_key().public_numbers()
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32), -3: point.y.to_bytes(32)})

    def _answer(self, response: dict[str, str]) -> str:
        id = encoded(self.credential_id)
        return json.dumps({"id": id, "rawId": id, "type": "public-key", "response": response})


def encoded(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
