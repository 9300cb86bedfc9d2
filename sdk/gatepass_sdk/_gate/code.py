"""What was shown at the gate, read without a network: a token, a phone's code, or a typed number."""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Final, Self

from gatepass_sdk._card import TYPED, UNREADABLE, as_stored, number_in
from gatepass_sdk._phone_code import PREFIX as PHONE_CODE

TOKEN: Final = "SVC1."  # noqa: S105  the prefix of tokens
# Longer than any code. A reader that types without end must not fill the memory.
LONGEST: Final = 512
TEST_CARD: Final = re.compile(r"TEST_[A-Z_]{1,27}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Code:
    """One of `token` and `card_number` is what is sent; `number` names the card."""

    token: str | None
    card_number: str | None
    number: str

    @property
    def digest(self) -> str:
        """The SHA-256 of what was shown, which the journal signs."""
        return hashlib.sha256((self.token or self.card_number or "").encode()).hexdigest()

    @property
    def echo(self) -> str:
        """What makes two readings the same. A phone that is held still makes another code every few seconds."""
        return self.number if self.token is not None and self.token.startswith(PHONE_CODE) else self.digest

    @property
    def sent(self) -> dict[str, str]:
        return {"token": self.token} if self.token is not None else {"card_number": self.card_number or ""}

    def to_bytes(self) -> bytes:
        return json.dumps(self.sent).encode()

    @classmethod
    def from_bytes(cls, kept: bytes) -> Self:
        value = json.loads(kept)
        token, typed = value.get("token"), value.get("card_number")
        return cls(token, typed, number_in(token) if token is not None else as_stored(typed))

    def __repr__(self) -> str:
        """Without the code, so that it does not get into a log."""
        return "Code(…)"


def read_code(text: str) -> Code | None:
    """None if this is no code of ours: a gate's reader also sees parcels, posters and phones."""
    shown = text.strip()
    if not 0 < len(shown) <= LONGEST or not shown.isascii() or not shown.isprintable():
        return None
    if shown.startswith((TOKEN, PHONE_CODE)):
        number = number_in(shown)
        return None if number == UNREADABLE else Code(shown, None, number)
    number = as_stored(shown)
    is_number = TYPED.fullmatch(number.replace(" ", "")) or TEST_CARD.fullmatch(number)
    return Code(None, number, number) if is_number else None
