"""Write sdk/cases/codes.json: codes and tokens, good and bad, that every verifier must answer alike.

The keys are fixed and public, so that the file comes out the same each time. A case has the text, the second at which
it is shown, and what must be said of it: `valid`, `expired` or `invalid_token`, with the card and the phone.
"""

import json
from base64 import b32decode, b32encode, urlsafe_b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from nacl.signing import SigningKey

from gatepass.domain.cards import phone_code, token

FILE: Final = Path(__file__).parent.parent / "sdk" / "cases" / "codes.json"
ORGANIZATION: Final = SigningKey(bytes(range(32)))
STRANGER: Final = SigningKey(bytes(range(100, 132)))
PHONE: Final = SigningKey(bytes(range(1, 33)))
OTHER_PHONE: Final = SigningKey(bytes(range(2, 34)))
NUMBER: Final = "SVC 1234 5678 9015"
OTHER_NUMBER: Final = "PREFIX 0000 0000 0000"
NOW: Final = 1_790_000_000
EXPIRES: Final = NOW + 7 * 86_400
ORDER: Final = 2**252 + 27742317777372353535851937790883648493
SMALL_ORDER: Final = (
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
)


def encoded(raw: bytes) -> str:
    return b32encode(raw).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return b32decode(text + "=" * (-len(text) % 8))


def certified(number: bytes, phone: int, key: bytes, by: SigningKey = ORGANIZATION) -> str:
    """A certificate with any content, signed."""
    body = number + EXPIRES.to_bytes(4, "big") + bytes([phone]) + key
    return encoded(body + by.sign(phone_code.CERTIFICATE_CONTEXT + body).signature)


def certificate(number: str = NUMBER, phone: int = 3, expires_at: int = EXPIRES, by: SigningKey = ORGANIZATION) -> str:
    return phone_code.certify(number, expires_at, phone, bytes(PHONE.verify_key), by)


def case(name: str, text: str, reason: str | None, *, at: int = NOW, **said: Any) -> dict[str, Any]:
    return {"name": name, "text": text, "at": at, "reason": reason, "card_number": None, "phone": None, **said}


def cases() -> list[dict[str, Any]]:
    good = certificate()
    known: dict[str, Any] = {"card_number": NUMBER, "phone": 3}
    code = phone_code.sign(good, NOW, PHONE)
    message, _, signature = code.rpartition(".")
    raw = decoded(signature)
    raised = raw[:32] + (int.from_bytes(raw[32:], "little") + ORDER).to_bytes(32, "little")
    ended = certificate(expires_at=NOW)
    longest = phone_code.sign(certificate(OTHER_NUMBER, 15), NOW, PHONE)
    paper = token.sign(NUMBER, datetime.fromtimestamp(EXPIRES, UTC), ORGANIZATION)
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    spare = message + "." + signature[:-1] + last[last.index(signature[-1]) + 1]
    phone = bytes(PHONE.verify_key)
    found = [
        case("a good code", code, None, **known),
        case("the longest code", longest, None, card_number=OTHER_NUMBER, phone=15),
        *(case(f"shown {s} seconds after it was made", code, None, at=NOW + s, **known) for s in (60, -60)),
        *(case(f"shown {s} seconds after it was made", code, "expired", at=NOW + s, **known) for s in (61, -61)),
        case("a certificate that has ended", phone_code.sign(ended, NOW, PHONE), "expired", **known),
        case("a good token", paper, None, card_number=NUMBER),
        case("a token that has expired", paper, "expired", at=EXPIRES, card_number=NUMBER),
        case("a forged certificate", phone_code.sign(certificate(by=STRANGER), NOW, PHONE), "invalid_token"),
        case("a phone that certifies itself", phone_code.sign(certificate(by=PHONE), NOW, PHONE), "invalid_token"),
        case("another phone's certificate", phone_code.sign(good, NOW, OTHER_PHONE), "invalid_token"),
        case("another time", code.replace(f".{NOW}.", f".{NOW + 1}."), "invalid_token"),
        case("another card", code.replace(good, certificate(OTHER_NUMBER)), "invalid_token"),
        case("another enrolment", code.replace(good, certificate(phone=4)), "invalid_token"),
        case("a second signature made from the first", f"{message}.{encoded(raised)}", "invalid_token"),
        case("a spare bit", spare, "invalid_token"),
        case("padding", code + "=", "invalid_token"),
        case("lower case", code.lower(), "invalid_token"),
        case("a line end", code + "\n", "invalid_token"),
        case("SVC1 in front", "SVC1" + code[4:], "invalid_token"),
        case("a second with a zero in front", phone_code.sign(good, 0, PHONE), "invalid_token"),
        case("a number of one letter", _signed(certified(b"S123456789015", 3, phone)), "invalid_token"),
        case("a number in lower case", _signed(certified(b"svc123456789015", 3, phone)), "invalid_token"),
        case("an enrolment of 16", _signed(certified(b"SVC123456789015", 16, phone)), "invalid_token"),
    ]
    found += [case(name, text, "invalid_token") for name, text in spoilt_tokens(paper).items()]
    for key in SMALL_ORDER:
        text = _signed(certified(b"SVC123456789015", 3, bytes.fromhex(key)))
        found.append(case(f"a key of small order, {key[:4]}", text, "invalid_token"))
    return found


def spoilt_tokens(paper: str) -> dict[str, str]:
    """Tokens of the card, each with one thing that no signer of ours does."""
    head, card, expiry, signature = paper.split(".")
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    spare = letters[letters.index(signature[-1]) + 1]
    return {
        "a token with a spare bit": f"{head}.{card}.{expiry}.{signature[:-1]}{spare}",
        "a token with padding": paper + "==",
        "a token in standard base64": f"{head}.{card}.{expiry}.{signature.replace('-', '+').replace('_', '/')}",
        "a token with a line end": paper + "\n",
        "a token with a space in front": " " + paper,
        "a token for later": f"{head}.{card}.{int(expiry) + 1}.{signature}",
        "a token of a stranger": _token(NUMBER.encode(), str(EXPIRES), STRANGER),
        "a token with a zero in front": _token(NUMBER.encode(), f"0{EXPIRES}"),
        "a token with a signed expiry": _token(NUMBER.encode(), f"+{EXPIRES}"),
        "a token whose number is not ASCII": _token("SVC 1234 5678 901५".encode(), str(EXPIRES)),
        "a token with a spare bit in its number": _token(NUMBER[:-1].encode(), str(EXPIRES), spare=True),
    }


def _token(number: bytes, expiry: str, by: SigningKey = ORGANIZATION, *, spare: bool = False) -> str:
    card = urlsafe_b64encode(number).rstrip(b"=").decode()
    # The last letter of a number of 17 bytes has two bits to spare, which are zero.
    signed = f"SVC1.{card[:-1] + chr(ord(card[-1]) + 1) if spare else card}.{expiry}"
    return f"{signed}.{urlsafe_b64encode(by.sign(signed.encode()).signature).rstrip(b'=').decode()}"


def _signed(certificate: str) -> str:
    return phone_code.sign(certificate, NOW, PHONE)


def written() -> str:
    keys = [bytes(ORGANIZATION.verify_key).hex()]
    return json.dumps({"public_keys": keys, "cases": cases()}, indent=1, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    FILE.write_text(written())
