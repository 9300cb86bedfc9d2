"""Card tokens: forged, stretched, cut, spelled in another way. None is believed, at either endpoint."""

import base64
from collections.abc import Callable
from datetime import timedelta

import pytest
from nacl.signing import SigningKey

from gatepass.domain.cards.token import sign
from tests import factory
from tests.attacks.target import Target

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def part(change: Callable[[list[str]], list[str]]) -> Callable[[str], str]:
    return lambda token: ".".join(change(token.split(".")))


def nth(at: int, change: Callable[[str], str]) -> Callable[[str], str]:
    """Change one of the four parts."""
    return part(lambda parts: [change(one) if n == at else one for n, one in enumerate(parts)])


def flipped(text: str) -> str:
    return ("A" if text[0] != "A" else "B") + text[1:]


def last_bits(text: str) -> str:
    """Another spelling of the same bytes: the last character has bits that count for nothing."""
    return text[:-1] + ALPHABET[ALPHABET.index(text[-1]) ^ 1]


def own_key(_: str) -> str:
    return sign("SVC 0000 0000 0000", factory.now() + timedelta(days=1), SigningKey.generate())


# The order of the group of Ed25519: S and S + L verify alike unless the verifier is strict.
ORDER = 2**252 + 27742317777372353535851937790883648493


def malleable(signature: str) -> str:
    raw = base64.urlsafe_b64decode(signature + "==")
    scalar = int.from_bytes(raw[32:], "little") + ORDER
    return encoded(raw[:32] + scalar.to_bytes(32, "little"))


FORGERIES: dict[str, Callable[[str], str]] = {
    "a key of one's own": own_key,
    "another card": nth(1, lambda _: encoded(b"SVC 0000 0000 0000")),
    "another card, one letter": nth(1, flipped),
    "an empty card": nth(1, lambda _: ""),
    "a card of NULs": nth(1, lambda _: encoded(b"\0" * 18)),
    "a card that is no text": nth(1, lambda _: encoded(b"\xff" * 18)),
    "a card of 65 characters": nth(1, lambda _: "A" * 65),
    "a card in another spelling": nth(1, lambda text: text + "="),
    "a card in standard base64": nth(1, lambda text: text[:-1] + "+"),
    "a later expiry": nth(2, lambda text: str(int(text) + 1)),
    "an earlier expiry": nth(2, lambda text: str(int(text) - 1)),
    "the latest expiry": nth(2, lambda _: "9" * 12),
    "an expiry of 13 digits": nth(2, lambda _: "9" * 13),
    "an expiry of many digits": nth(2, lambda _: "9" * 400),
    "no expiry": nth(2, lambda _: ""),
    "a negative expiry": nth(2, lambda text: "-" + text),
    "an expiry with a plus": nth(2, lambda text: "+" + text),
    "an expiry with a zero in front": nth(2, lambda text: "0" + text),
    "an expiry with a blank": nth(2, lambda text: " " + text),
    "an expiry with an underscore": nth(2, lambda text: text[:2] + "_" + text[2:]),
    "an expiry in another script": nth(2, lambda text: text.translate({48 + n: 0x0660 + n for n in range(10)})),
    "an expiry as a float": nth(2, lambda text: text + "e0"),
    "another signature": nth(3, flipped),
    "no signature": nth(3, lambda _: ""),
    "a signature of zeros": nth(3, lambda _: encoded(bytes(64))),
    "a signature of ones": nth(3, lambda _: encoded(b"\xff" * 64)),
    "half a signature": nth(3, lambda text: text[:43]),
    "a signature and more": nth(3, lambda text: text + "A"),
    "a signature with padding": nth(3, lambda text: text + "=="),
    "a signature in another spelling": nth(3, last_bits),
    "a signature in standard base64": nth(3, lambda text: text.replace("-", "+").replace("_", "/") + "+"),
    "a signature that is not the smallest": nth(3, malleable),
    "the point of small order": nth(3, lambda _: encoded(b"\x01" + bytes(63))),
    "another version": nth(0, lambda _: "SVC2"),
    "the version in lower case": nth(0, str.lower),
    "no version": part(lambda parts: parts[1:]),
    "algorithm none": part(lambda parts: [*parts[:3], "none"]),
    "a part too many": part(lambda parts: [*parts, "x"]),
    "a part too few": part(lambda parts: parts[:3]),
    "parts in another order": part(lambda parts: [parts[0], parts[2], parts[1], parts[3]]),
    "a token twice": lambda token: token + token,
    "dots only": lambda _: "." * 100,
    "a blank in front": lambda token: " " + token,
    "a line feed behind": lambda token: token + "\n",
    "a NUL behind": lambda token: token + "\0",
    "a zero width blank": lambda token: token.replace(".", ".\u200b", 1),
    "full-width letters": lambda token: token.replace("SVC", "\uff33\uff36\uff23", 1),
    "a token of 6 KB": lambda token: token + "A" * 6_000,
    "a sandbox token": lambda _: "SVC1.TEST_VALID.0.0",
    "a JWT": lambda _: "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.",
}


@pytest.mark.parametrize("name", FORGERIES)
async def test_a_forged_token(target: Target, name: str) -> None:
    card = await target.tenant.card()
    token = target.tenant.token(card)
    forged = FORGERIES[name](token)
    assert forged != token
    async with target.api() as gate:
        verified = await gate.get("/card/verify", params={"token": forged})
        scanned = await gate.post("/scan", json={"event_id": str(target.tenant.event_id), "token": forged})
        good = await gate.post("/scan", json={"event_id": str(target.tenant.event_id), "token": token})
    assert verified.status_code == 200
    assert verified.json()["valid"] is False
    assert verified.json()["reason"] == "invalid_token"
    assert scanned.status_code == 400
    assert scanned.json()["code"] in {"invalid_token", "invalid_request"}
    assert good.status_code == 200, good.text


@pytest.mark.parametrize("whose", ["another organization", "the sandbox"])
async def test_a_token_that_is_good_elsewhere(target: Target, whose: str) -> None:
    card = await target.other.card()
    token = target.other.token(card)
    async with target.api(sandbox=whose == "the sandbox") as gate:
        verified = await gate.get("/card/verify", params={"token": token})
    assert verified.json()["valid"] is False
    assert verified.json()["card_number"] is None
