"""Letters of names as a font can draw them: in visual order, Arabic joined, and a box for each that the font lacks.

The font has Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew and Arabic letters. Scripts that it lacks, such as
Chinese or Thai, are drawn as boxes, which everybody sees; a wrong letter would not be seen.
"""

import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from fontTools.ttLib import TTFont
from fpdf.bidi import BidiParagraph

FONTS: Final = Path(__file__).parent / "fonts"
REGULAR: Final = FONTS / "DejaVuSansCondensed.ttf"
BOLD: Final = FONTS / "DejaVuSansCondensed-Bold.ttf"
MISSING: Final = "\u25a1"
RIGHT_TO_LEFT: Final = frozenset({"R", "AL"})
# Arabic Presentation Forms-B: the shapes of each letter, as code points that fonts without shaping rules have too.
FIRST_FORM, LAST_FORM = 0xFE70, 0xFEFC


def is_drawable(text: str) -> bool:
    """Whether every letter of this text is printed as itself."""
    return MISSING not in visual(text) or MISSING in text


# The event and its categories stand on every card.
@lru_cache(1_000)
def visual(text: str) -> str:
    """The text as it is drawn, from left to right. Control characters and line breaks are gone."""
    kept = "".join(
        " " if letter.isspace() else letter
        for letter in unicodedata.normalize("NFC", text)
        if letter.isspace() or not unicodedata.category(letter).startswith("C")
    )
    if any(unicodedata.bidirectional(letter) in RIGHT_TO_LEFT for letter in kept):
        kept = BidiParagraph(_joined(kept)).get_reordered_string()
    return "".join(letter if ord(letter) in _known() else MISSING for letter in kept)


@cache
def _known() -> frozenset[int]:
    """The code points of both fonts."""
    with TTFont(REGULAR, lazy=True) as regular, TTFont(BOLD, lazy=True) as bold:
        return frozenset((regular.getBestCmap() or {}).keys() & (bold.getBestCmap() or {}).keys())


def _joined(text: str) -> str:
    """Arabic letters in the shape that their neighbours ask for; all else as it is."""
    forms = _forms()
    drawn: list[str] = []
    place = 0
    while place < len(text):
        length = 2 if text[place : place + 2] in forms else 1
        letters = text[place : place + length]
        shapes = forms.get(letters)
        if shapes is None:
            drawn.append(letters)
        else:
            after_one = "initial" in forms.get(_neighbour(text, place, -1), {})
            before_one = "final" in forms.get(_neighbour(text, place + length - 1, 1), {})
            wanted = {(True, True): "medial", (True, False): "final", (False, True): "initial"}
            shape = wanted.get((after_one, before_one), "isolated")
            if shape not in shapes:
                shape = "final" if after_one and "final" in shapes else "isolated"
            drawn.append(shapes.get(shape, letters))
        place += length
    return "".join(drawn)


def _neighbour(text: str, place: int, step: int) -> str:
    """The next letter in this direction. Vowel signs stand above a letter, not between two."""
    place += step
    while 0 <= place < len(text):
        if unicodedata.category(text[place]) != "Mn":
            return text[place]
        place += step
    return ""


@cache
def _forms() -> dict[str, dict[str, str]]:
    """By letter, or by the two letters of a ligature: its shape in each position."""
    forms: dict[str, dict[str, str]] = {}
    for code in range(FIRST_FORM, LAST_FORM + 1):
        position, *letters = unicodedata.decomposition(chr(code)).split() or ("",)
        if position.startswith("<") and "0020" not in letters and letters[0] != "0640":
            forms.setdefault("".join(chr(int(one, 16)) for one in letters), {})[position.strip("<>")] = chr(code)
    return forms
