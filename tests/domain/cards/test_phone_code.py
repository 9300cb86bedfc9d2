"""A phone's code has one spelling and two signatures. Everything else is refused, even if the right keys signed it."""

from base64 import b32decode, b32encode
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.signing import SigningKey

from gatepass.domain.cards import InvalidToken, PublicKey, format_number, phone_code
from gatepass.domain.cards.phone_code import (
    CERTIFICATE_CONTEXT,
    LONGEST,
    certify,
    is_public_key,
    sign,
    verify,
)

ORGANIZATION: Final = SigningKey(bytes(range(32)))
PHONE: Final = SigningKey(bytes(range(1, 33)))
PUBLIC: Final = [PublicKey(uuid4(), bytes(ORGANIZATION.verify_key))]
NUMBER: Final = format_number("PREFIX", 12345678901)
MADE: Final = int(datetime(2026, 11, 21, 19, 30, tzinfo=UTC).timestamp())
EXPIRES: Final = MADE + 7 * 86_400
CERTIFICATE: Final = certify(NUMBER, EXPIRES, 3, bytes(PHONE.verify_key), ORGANIZATION)
GOOD: Final = sign(CERTIFICATE, MADE, PHONE)
ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
# The order of Ed25519's group: a lenient verifier also accepts a signature whose second half is raised by it.
ORDER: Final = 2**252 + 27742317777372353535851937790883648493
FIELD: Final = 2**255 - 19
# Every point of order 1, 2, 4 and 8, and other spellings of the same points.
SMALL_ORDER: Final = [
    bytes.fromhex(text)
    for text in (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    )
]


def encoded(raw: bytes) -> str:
    return b32encode(raw).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return b32decode(text + "=" * (-len(text) % 8))


def certified(body: bytes) -> str:
    """This body, signed by the right organization."""
    return encoded(body + ORGANIZATION.sign(CERTIFICATE_CONTEXT + body).signature)


def body(number: bytes = b"SVC123456789017", phone: bytes = b"\x03", key: bytes = bytes(PHONE.verify_key)) -> bytes:
    return number + EXPIRES.to_bytes(4, "big") + phone + key


def signed(certificate: str, made_at: str, *, prefix: str = "SVC2") -> str:
    """These parts, signed by the right phone."""
    message = f"{prefix}.{certificate}.{made_at}"
    return f"{message}.{encoded(PHONE.sign(message.encode()).signature)}"


def is_refused(text: str, keys: list[PublicKey] = PUBLIC) -> bool:
    try:
        verify(text, keys)
    except InvalidToken:
        return True
    return False


numbers = st.builds(format_number, st.from_regex("[A-Z]{2,6}", fullmatch=True), st.integers(0, 10**11 - 1))


@given(numbers, st.integers(0, 2**32 - 1), st.integers(0, 1000), st.integers(10**9, 10**10 - 1))
def test_what_is_signed_is_read_back(number: str, expires_at: int, enrolment: int, made_at: int) -> None:
    certificate = certify(number, expires_at, enrolment, bytes(PHONE.verify_key), ORGANIZATION)
    code = verify(sign(certificate, made_at, PHONE), PUBLIC)
    assert (code.card_number, code.phone, code.made_at) == (number, enrolment % 16, made_at)
    assert (code.certificate.expires_at, code.signing_key) == (expires_at, PUBLIC[0].id)


def test_the_longest_code_has_311_characters() -> None:
    assert len(GOOD) == LONGEST == 311


def test_every_flipped_bit_is_refused() -> None:
    raw = GOOD.encode()
    for place in range(len(raw)):
        for bit in range(8):
            flipped = bytearray(raw)
            flipped[place] ^= 1 << bit
            assert is_refused(flipped.decode("latin-1")), (place, bit)


def test_every_flipped_bit_of_what_is_encoded_is_refused() -> None:
    prefix, certificate, made_at, signature = GOOD.split(".")
    for text, spelled in ((certificate, "{0}.{1}.{2}.{3}"), (signature, "{0}.{3}.{2}.{1}")):
        other = signature if text is certificate else certificate
        raw = decoded(text)
        for place in range(len(raw) * 8):
            flipped = bytearray(raw)
            flipped[place // 8] ^= 1 << place % 8
            assert is_refused(spelled.format(prefix, encoded(bytes(flipped)), made_at, other))


def test_spare_bits_of_a_last_character_are_refused() -> None:
    """64 bytes fill 102 characters and two fifths of one; a lenient decoder ignores the spare bits."""
    stem, last = GOOD[:-1], GOOD[-1]
    block = ALPHABET.index(last) // 8 * 8
    for other in ALPHABET[block : block + 8].replace(last, ""):
        assert decoded((stem + other).rpartition(".")[2]) == decoded(GOOD.rpartition(".")[2])
        assert is_refused(stem + other)


@pytest.mark.parametrize("letters", range(2, 7))
def test_a_certificate_has_one_spelling_whatever_its_length(letters: int) -> None:
    """Right keys sign each: with other spare bits, and with the last character doubled, dropped or replaced."""
    good = certified(body(number=b"ABCDEF"[:letters] + b"123456789017"))
    assert not is_refused(signed(good, str(MADE)))
    others = {good[:-1] + last for last in ALPHABET} | {good + last for last in ALPHABET} | {good[:-1]}
    for other in others - {good}:
        assert is_refused(signed(other, str(MADE))), other


@given(st.text(st.sampled_from(ALPHABET + "0189a_ +-=\n\u0661"), max_size=24) | st.text(ALPHABET, max_size=24))
def test_base32_is_read_as_the_standard_library_writes_it(text: str) -> None:
    try:
        expected = decoded(text)
    except ValueError:
        expected = None
    if expected is None or encoded(expected) != text or not text:
        with pytest.raises(InvalidToken):
            phone_code._decode(text)  # pyright: ignore[reportPrivateUsage]
    else:
        assert phone_code._decode(text) == expected  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SVC2...",
        GOOD + "\n",
        " " + GOOD,
        GOOD + "=",
        GOOD + ".X",
        GOOD.lower(),
        GOOD.replace("SVC2", "svc2"),
        GOOD.replace(".", ".."),
        signed(CERTIFICATE, str(MADE), prefix="SVC1"),
        signed(CERTIFICATE + "=", str(MADE)),
        signed(CERTIFICATE.lower(), str(MADE)),
        signed(CERTIFICATE[:-1], str(MADE)),
        *(
            signed(CERTIFICATE, made_at)
            for made_at in ("", "0", "0" + str(MADE)[1:], "0" + str(MADE), "+" + str(MADE)[1:], str(MADE) + "0", "1e9")
        ),
        signed(CERTIFICATE, "\N{ARABIC-INDIC DIGIT ONE}" * 10),
        *(
            signed(certified(body(number=number)), str(MADE))
            for number in (
                b"S123456789017", b"PREFIXX123456789017", b"svc123456789017", b"SVC 12345678901", b"SVC12345678901X",
                b"SVC\xff23456789017", b"SVC12345678901\n", b"SVC1234567890\xd9\xa1",
            )
        ),
        signed(certified(body(phone=b"\x10")), str(MADE)),
        signed(certified(body(phone=b"\xff")), str(MADE)),
    ],
)  # fmt: skip
def test_other_spellings_are_refused_though_the_right_keys_signed_them(text: str) -> None:
    assert is_refused(text)


@pytest.mark.parametrize("key", SMALL_ORDER, ids=bytes.hex)
def test_a_key_of_small_order_is_refused_though_the_organization_signed_it(key: bytes) -> None:
    assert not is_public_key(key)
    identity = encoded(bytes([1]) + bytes(63))  # what a lenient verifier takes for any message
    assert is_refused(f"SVC2.{certified(body(key=key))}.{MADE}.{identity}")
    assert is_refused(signed(certified(body(key=key)), str(MADE)))
    with pytest.raises(ValueError, match="public key"):
        certify(NUMBER, EXPIRES, 0, key, ORGANIZATION)


def test_a_key_that_is_not_a_point_or_has_another_spelling_is_refused() -> None:
    assert is_public_key(bytes(PHONE.verify_key))
    assert not is_public_key(bytes(PHONE.verify_key)[:-1])
    assert not is_public_key((2).to_bytes(32, "little")), "not on the curve"
    assert not is_public_key((FIELD + 3).to_bytes(32, "little")), "not canonical"


def test_a_second_signature_made_from_the_first_is_refused() -> None:
    message, _, signature = GOOD.rpartition(".")
    raw = decoded(signature)
    raised = int.from_bytes(raw[32:], "little") + ORDER
    assert is_refused(f"{message}.{encoded(raw[:32] + raised.to_bytes(32, 'little'))}")


def test_a_phone_cannot_certify_itself_or_use_anothers_certificate() -> None:
    other = SigningKey.generate()
    assert is_refused(sign(certify(NUMBER, EXPIRES, 3, bytes(PHONE.verify_key), PHONE), MADE, PHONE))
    assert is_refused(sign(CERTIFICATE, MADE, other))
    assert is_refused(GOOD, [PublicKey(uuid4(), bytes(other.verify_key))])
    assert is_refused(GOOD, [])


def test_a_code_is_good_for_a_minute_either_way_and_as_long_as_its_certificate() -> None:
    code, made = verify(GOOD, PUBLIC), datetime.fromtimestamp(MADE, UTC)
    instant = timedelta(microseconds=1000)
    for edge in (timedelta(seconds=60), timedelta(seconds=-60)):
        assert not code.is_expired(made + edge)
    assert code.is_expired(made + timedelta(seconds=60) + instant)
    assert code.is_expired(made - timedelta(seconds=60) - instant)
    last = sign(CERTIFICATE, EXPIRES - 1, PHONE)
    assert not verify(last, PUBLIC).is_expired(datetime.fromtimestamp(EXPIRES - 1, UTC))
    assert verify(last, PUBLIC).is_expired(datetime.fromtimestamp(EXPIRES, UTC))
