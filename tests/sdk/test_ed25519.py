"""Signatures are verified as strictly as by libsodium, which the service uses."""

import random

import pytest
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from gatepass_sdk import _ed25519

# RFC 8032, section 7.1: public key, message, signature.
VECTORS = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
            "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
]
# Points whose order is 1, 2, 4 or 8, and spellings of y that are not below P.
AWKWARD_POINTS = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
]


def libsodium_verifies(key: bytes, message: bytes, signature: bytes) -> bool:
    try:
        VerifyKey(key).verify(message, signature)
    except (BadSignatureError, ValueError):
        return False
    return True


@pytest.mark.parametrize(("key", "message", "signature"), VECTORS)
def test_the_vectors_of_the_rfc(key: str, message: str, signature: str) -> None:
    assert _ed25519.verify(bytes.fromhex(key), bytes.fromhex(message), bytes.fromhex(signature))


def test_good_and_spoilt_signatures_are_judged_as_libsodium_does() -> None:
    rng = random.Random(8032)
    for _ in range(60):
        signer = SigningKey(rng.randbytes(32))
        key, message = bytes(signer.verify_key), rng.randbytes(rng.randrange(80))
        signature = signer.sign(message).signature
        assert _ed25519.verify(key, message, signature)
        for changed in (
            with_one_bit_flipped(key, rng),
            with_one_bit_flipped(signature, rng),
            with_one_bit_flipped(signature[:32], rng) + signature[32:],
        ):
            candidate = (changed, signature) if len(changed) == 32 else (key, changed)
            assert _ed25519.verify(candidate[0], message, candidate[1]) == libsodium_verifies(
                candidate[0], message, candidate[1]
            )


def with_one_bit_flipped(raw: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(raw) * 8)
    return bytes(byte ^ (1 << at % 8 if n == at // 8 else 0) for n, byte in enumerate(raw))


def test_points_that_are_no_keys_are_refused_as_by_libsodium() -> None:
    signer = SigningKey(bytes(range(32)))
    key, good = bytes(signer.verify_key), signer.sign(b"gate").signature
    for text in AWKWARD_POINTS:
        point = bytes.fromhex(text)
        for candidate in ((point, good), (key, point + good[32:]), (point, point + bytes(32))):
            assert _ed25519.verify(candidate[0], b"gate", candidate[1]) is False
            assert libsodium_verifies(candidate[0], b"gate", candidate[1]) is False


def test_a_signature_has_one_spelling() -> None:
    """S and S + order satisfy the same equation; only the first is a signature."""
    signer = SigningKey(bytes(range(32)))
    key, good = bytes(signer.verify_key), signer.sign(b"gate").signature
    second = (int.from_bytes(good[32:], "little") + _ed25519.ORDER).to_bytes(32, "little")
    assert _ed25519.verify(key, b"gate", good[:32] + second) is False
    assert libsodium_verifies(key, b"gate", good[:32] + second) is False
