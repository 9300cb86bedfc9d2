"""Codes of phones: 10,000 mutations of certificate and code. None is believed."""

import random
from base64 import b32decode, b32encode
from typing import Final
from uuid import UUID

import segno
from nacl.signing import SigningKey
from PIL import Image
from zxingcpp import read_barcode

from gatepass.domain.cards import InvalidToken, PublicKey, format_number, phone_code
from gatepass_sdk.tokens import CardKeys

MUTATIONS: Final = 10_000
ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
ORGANIZATION: Final = SigningKey(bytes(range(32)))
KEYS: Final = [PublicKey(UUID(int=1), bytes(ORGANIZATION.verify_key))]
NOW: Final = 1_790_000_000


def code_of(phone: SigningKey, serial: int = 1, made_at: int = NOW) -> str:
    number = format_number("PREFIX", serial)
    certificate = phone_code.certify(number, NOW + 600_000, serial % 16, bytes(phone.verify_key), ORGANIZATION)
    return phone_code.sign(certificate, made_at, phone)


def is_believed(text: str) -> bool:
    try:
        phone_code.verify(text, KEYS)
    except InvalidToken:
        return False
    return True


def mutated(good: str, other: str, rng: random.Random) -> str:
    """One change: a character, a bit of what is encoded, a part of another code, a piece lost, doubled or moved."""
    parts, others, n = good.split("."), other.split("."), rng.randrange(4)
    match rng.randrange(6):
        case 0:
            at = rng.randrange(len(good))
            return good[:at] + rng.choice(ALPHABET + "0189.=-_ a") + good[at + 1 :]
        case 1:
            n = rng.choice((1, 3))
            raw = bytearray(b32decode(parts[n] + "=" * (-len(parts[n]) % 8)))
            for _ in range(rng.randint(1, 3)):
                raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
            parts[n] = b32encode(bytes(raw)).rstrip(b"=").decode()
        case 2:
            parts[n] = others[n]
        case 3:
            parts[2] = str(int(parts[2]) + rng.choice((-3600, -60, -1, 1, 60, 3600, 10**9)))
        case 4:
            at, length = rng.randrange(len(good)), rng.randint(1, 8)
            return rng.choice((good[:at] + good[at + length :], good[:at] + good[at : at + length] + good[at:]))
        case _:
            one, two = rng.sample(range(4), 2)
            parts[one], parts[two] = parts[two], parts[one]
    return ".".join(parts)


def test_of_ten_thousand_mutations_none_is_believed() -> None:
    rng = random.Random(18)
    good, other = code_of(SigningKey(bytes([7]) * 32)), code_of(SigningKey(bytes([8]) * 32), 2, NOW + 20)
    assert is_believed(good)
    assert is_believed(other)
    tried = 0
    while tried < MUTATIONS:
        text = mutated(good, other, rng)
        if text != good:
            tried += 1
            assert not is_believed(text), text


def test_the_sdk_believes_none_either() -> None:
    """In plain Python a verification takes milliseconds, so that a sample has to do."""
    rng = random.Random(19)
    good, other = code_of(SigningKey(bytes([7]) * 32)), code_of(SigningKey(bytes([8]) * 32), 2, NOW + 20)
    keys = CardKeys((bytes(ORGANIZATION.verify_key),))
    assert keys.verify(good).card_number is not None
    for text in (mutated(good, other, rng) for _ in range(200)):
        assert text == good or keys.verify(text).reason == "invalid_token"


def test_the_longest_code_is_read_from_a_small_picture() -> None:
    """Version 10-M at most, in 260 pixels, 50 of 50."""
    for serial in range(50):
        code = code_of(SigningKey.generate(), serial)
        made = segno.make(code, error="m", boost_error=False, micro=False)
        assert (made.version, made.error, made.mode) == (10, "M", "alphanumeric")
        rows = [[0 if dark else 255 for dark in row] for row in made.matrix_iter(border=4)]
        picture = Image.new("L", (len(rows), len(rows)))
        picture.putdata([pixel for row in rows for pixel in row])
        found = read_barcode(picture.resize((260, 260), Image.Resampling.BILINEAR))
        assert found is not None
        assert found.text == code
