"""A token has one spelling. Everything else is refused, even if the right key signed it."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.signing import SigningKey

from gatepass.domain.cards import InvalidToken, PublicKey, Token, format_number
from gatepass.domain.cards.token import LONGEST, sign, verify

KEY: Final = SigningKey(bytes(range(32)))
PUBLIC: Final = [PublicKey(uuid4(), bytes(KEY.verify_key))]
NUMBER: Final = format_number("SVC", 12345678901)
EXPIRES: Final = datetime(2031, 5, 1, 12, tzinfo=UTC)
GOOD: Final = sign(NUMBER, EXPIRES, KEY)
ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
# The order of Ed25519's group: a lenient verifier also accepts a signature whose second half is raised by it.
ORDER: Final = 2**252 + 27742317777372353535851937790883648493


def encoded(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(card: str, expires: str, *, prefix: str = "SVC1") -> str:
    """These parts, signed by the right key."""
    message = f"{prefix}.{card}.{expires}"
    return f"{message}.{encoded(KEY.sign(message.encode()).signature)}"


def is_refused(text: str, keys: list[PublicKey] = PUBLIC) -> bool:
    try:
        verify(text, keys)
    except InvalidToken:
        return True
    return False


numbers = st.builds(format_number, st.from_regex("[A-Z]{2,6}", fullmatch=True), st.integers(0, 10**11 - 1))
moments = st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001


@given(numbers, moments)
def test_what_is_signed_is_read_back(number: str, expires_at: datetime) -> None:
    text = sign(number, expires_at, KEY)
    assert verify(text, PUBLIC) == Token(number, int(expires_at.timestamp()), PUBLIC[0].id)
    assert len(text) <= LONGEST


def test_every_flipped_bit_is_refused() -> None:
    raw = GOOD.encode()
    for place in range(len(raw)):
        for bit in range(8):
            flipped = bytearray(raw)
            flipped[place] ^= 1 << bit
            assert is_refused(flipped.decode("latin-1")), (place, bit)


def test_every_flipped_bit_of_what_is_encoded_is_refused() -> None:
    prefix, card, expires, signature = GOOD.split(".")
    for place in range(64 * 8):
        flipped = bytearray(urlsafe_b64decode(signature + "=="))
        flipped[place // 8] ^= 1 << place % 8
        assert is_refused(f"{prefix}.{card}.{expires}.{encoded(bytes(flipped))}")
    for place in range(len(NUMBER) * 8):
        flipped = bytearray(NUMBER.encode())
        flipped[place // 8] ^= 1 << place % 8
        assert is_refused(f"{prefix}.{encoded(bytes(flipped))}.{expires}.{signature}")


def test_spare_bits_of_a_last_character_are_refused() -> None:
    """64 bytes fill 85 characters and a third of one; a lenient decoder ignores the spare bits."""
    stem, last = GOOD[:-1], GOOD[-1]
    block = ALPHABET.index(last) // 16 * 16
    others = [one for one in ALPHABET[block : block + 16] if one != last]
    for other in others:
        same = urlsafe_b64decode((stem + other).rpartition(".")[2] + "==")
        assert same == urlsafe_b64decode(GOOD.rpartition(".")[2] + "=="), "a lenient decoder would take it"
        assert is_refused(stem + other)


@given(st.text(max_size=3), st.integers(0, len(GOOD)))
def test_nothing_can_be_added(more: str, place: int) -> None:
    assert is_refused(GOOD[:place] + more + GOOD[place:]) == bool(more)


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 8))
def test_nothing_can_be_left_out(place: int, length: int) -> None:
    assert is_refused(GOOD[:place] + GOOD[place + length :])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SVC1...",
        GOOD + "\n",
        " " + GOOD,
        GOOD + "==",
        GOOD + ".x",
        GOOD.replace("SVC1", "svc1"),
        GOOD.replace(".", ".."),
        signed(encoded(NUMBER.encode()), "1935403200", prefix="SVC2"),
        signed(encoded(NUMBER.encode()) + "=", "1935403200"),
        signed(urlsafe_b64encode(b"SVC 1").decode(), "1935403200"),
        signed("U1ZDIDF", "1935403200"),  # `SVC 1` with a spare bit set
        signed("U1ZDI", "1935403200"),  # not a whole number of bytes
        signed("U1ZD+/", "1935403200"),
        signed("", "1935403200"),
        signed("A" * 68, "1935403200"),
        signed(encoded("SVC é".encode()), "1935403200"),
        signed(encoded(b"SVC \xff"), "1935403200"),
        *(
            signed(encoded(NUMBER.encode()), expires)
            for expires in ("", "00", "01", "+1", "-1", " 1", "1 ", "1_0", "1.0", "1e3", "0x1", "1" * 13)
        ),
        *(
            signed(encoded(NUMBER.encode()), expires)
            for expires in ("\N{ARABIC-INDIC DIGIT ONE}", "\N{FULLWIDTH DIGIT ONE}")
        ),
    ],
)
def test_other_spellings_are_refused_though_the_right_key_signed_them(text: str) -> None:
    assert is_refused(text)


def test_a_second_signature_made_from_the_first_is_refused() -> None:
    message, _, signature = GOOD.rpartition(".")
    raw = urlsafe_b64decode(signature + "==")
    raised = int.from_bytes(raw[32:], "little") + ORDER
    assert is_refused(f"{message}.{encoded(raw[:32] + raised.to_bytes(32, 'little'))}")


def test_any_of_the_keys_may_have_signed() -> None:
    others = [PublicKey(uuid4(), bytes(SigningKey.generate().verify_key)) for _ in range(2)]
    assert verify(GOOD, [*others, *PUBLIC]) == Token(NUMBER, int(EXPIRES.timestamp()), PUBLIC[0].id)
    assert is_refused(GOOD, others)
    assert is_refused(GOOD, [])


def test_a_token_is_good_until_the_second_it_names() -> None:
    token = verify(GOOD, PUBLIC)
    assert token.is_expired(EXPIRES)
    assert not token.is_expired(EXPIRES - timedelta(microseconds=1))
