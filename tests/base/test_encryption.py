"""Secrets at rest: they open with their key and in their own row, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.exceptions import CryptoError

from gatepass.base.encryption import Vault, VaultLocked, new_key

OLD, NEW = new_key(), new_key()
PLACE = "signing_key 1 2"


@given(st.binary(max_size=200), st.text(st.characters(exclude_categories=["Cs"]), max_size=50))
def test_what_is_sealed_opens_in_the_same_place(secret: bytes, place: str) -> None:
    vault = Vault([NEW])
    box = vault.seal(secret, place)
    assert vault.open(box, place) == secret
    with pytest.raises(VaultLocked):
        vault.open(box, place + "x")


def test_a_secret_is_sealed_differently_each_time() -> None:
    vault = Vault([NEW])
    boxes = [vault.seal(b"secret", PLACE) for _ in range(10)]
    assert len(set(boxes)) == 10
    assert all(b"secret" not in box for box in boxes)


def test_every_flipped_bit_is_noticed() -> None:
    vault = Vault([NEW])
    box = vault.seal(b"secret", PLACE)
    for place in range(len(box) * 8):
        flipped = bytearray(box)
        flipped[place // 8] ^= 1 << place % 8
        with pytest.raises((VaultLocked, CryptoError)):
            vault.open(bytes(flipped), PLACE)


def test_no_part_of_a_box_opens() -> None:
    vault = Vault([NEW])
    box = vault.seal(b"secret", PLACE)
    for length in range(len(box)):
        with pytest.raises((VaultLocked, CryptoError, ValueError, TypeError)):
            vault.open(box[:length], PLACE)


def test_the_first_key_seals_and_all_of_them_open() -> None:
    before, during, after = Vault([OLD]), Vault([NEW, OLD]), Vault([NEW])
    old_box, new_box = before.seal(b"secret", PLACE), during.seal(b"secret", PLACE)
    assert during.open(old_box, PLACE) == during.open(new_box, PLACE) == after.open(new_box, PLACE) == b"secret"
    with pytest.raises(VaultLocked):
        after.open(old_box, PLACE)
    with pytest.raises(VaultLocked):
        before.open(new_box, PLACE)


def test_only_what_the_first_key_sealed_is_current() -> None:
    old_box, new_box = Vault([OLD]).seal(b"secret", PLACE), Vault([NEW]).seal(b"secret", PLACE)
    during = Vault([NEW, OLD])
    assert during.is_current(new_box)
    assert not during.is_current(old_box)
    assert not any(during.is_current(box) for box in (b"", new_box[:3], b"x" + new_box))


@pytest.mark.parametrize("keys", [[], [""], ["short"], [NEW[:-4]], [NEW + "AAAA"], [NEW, "?"], ["é" * 44]])
def test_a_key_is_32_bytes_in_base64(keys: list[str]) -> None:
    with pytest.raises(ValueError, match="encryption key"):
        Vault(keys)
