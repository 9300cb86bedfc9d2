"""The rules for text as the service has them; `sdk/cases/names.json` has what both must say."""

import re
import unicodedata
from typing import Final

# Blanks, line breaks, control characters and characters without a width.
UNSEEN: Final = (
    " \xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
    "\x00-\x1f\x7f-\x9f\u2028\u2029"
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\uffff\U000e0000-\U000e0fff"
)
SEEN: Final = re.compile(f"[^{UNSEEN}]")
# Zero width non-joiner and joiner, left-to-right and right-to-left mark: names of India and Persia, families of emoji,
# and a Hebrew name beside a number are not written without them.
JOINERS_AND_MARKS: Final = frozenset("\u200c\u200d\u200e\u200f")
# Code points without a character yet: of some kinds there will only be characters that nobody sees.
NEVER_SEEN: Final = re.compile("[\u2065\ufdd0-\ufdef\ufff0-\uffff\U000e0000-\U000e0fff]")


def is_line(text: str) -> bool:
    """Whether this is one line with something to see: a name, a reason.

    Controls are refused, line breaks too, and what turns the direction of all that follows: overrides, embeddings,
    isolates. Blanks of every width are not, nor are letters that are younger than our tables of Unicode.
    """
    if text.isprintable() and text.isascii():
        return not text.isspace() and text != ""
    return SEEN.search(text) is not None and all(map(_fits_in_a_line, text))


def _fits_in_a_line(character: str) -> bool:
    if character in JOINERS_AND_MARKS:
        return True
    kind = unicodedata.category(character)
    if kind == "Cn":
        return NEVER_SEEN.match(character) is None and ord(character) & 0xFFFE != 0xFFFE
    return kind[0] != "C" and kind not in ("Zl", "Zp")
