"""Text from outside: whether PostgreSQL can store it, a line can show it, and a spreadsheet can open it safely.

A spreadsheet runs a cell that begins like a formula, and the text of a cell may come from anybody. An apostrophe in
front makes it text. A spreadsheet may also split our lines at other separators than the comma, whatever the quotes say;
so the apostrophe stands wherever a cell might begin. `original_cell` takes it away, exactly.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

# ASCII, full-width and small forms: spreadsheets of East Asia take all three.
SIGN: Final = "[=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]"
SPLITS: Final = ";|\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029"
# Blanks, control characters and characters without a width.
UNSEEN: Final = (
    " \xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
    "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f"
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\uffff\U000e0000-\U000e0fff"
)
# What a spreadsheet may drop in front of a sign.
DROPPED: Final = f'"{UNSEEN}'
# No character of DROPPED is one of SPLITS, so that each is scanned once: a cell takes linear time.
BEGINS: Final = f"'*[{DROPPED}]*{SIGN}"
FORMULA: Final = re.compile(f"(^|[{SPLITS}])(?={BEGINS})")
MADE_SAFE: Final = re.compile(f"(^|[{SPLITS}])'(?={BEGINS})")

SEEN: Final = re.compile(f"[^{UNSEEN}{SPLITS}]|[;|]")
# Zero width non-joiner and joiner, left-to-right and right-to-left mark: names of India and Persia, families of emoji,
# and a Hebrew name beside a number are not written without them.
JOINERS_AND_MARKS: Final = frozenset("\u200c\u200d\u200e\u200f")
# Code points without a character yet: of some kinds there will only be characters that nobody sees.
NEVER_SEEN: Final = re.compile("[\u2065\ufdd0-\ufdef\ufff0-\uffff\U000e0000-\U000e0fff]")


def is_storable(text: str) -> bool:
    """NUL and lone surrogates pass every parser and fail inside PostgreSQL."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


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


def safe_cell(text: str) -> str:
    """The text with an apostrophe in front of everything that may be run as a formula."""
    return FORMULA.sub(r"\1'", text)


def original_cell(text: str) -> str:
    """The text of which `safe_cell` made this one."""
    return MADE_SAFE.sub(r"\1", text)


def safe_line(cells: Iterable[str | None]) -> str:
    """One line of a CSV file, every cell made safe; None becomes an empty cell."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow("" if cell is None else safe_cell(cell) for cell in cells)
    return line.getvalue()
