"""The ink on a colour: white or black, whichever is read. Pure.

For every colour one of the two has a contrast of 4.58 or more, so no colour is refused.
"""

from typing import Final

WHITE: Final = "#ffffff"
BLACK: Final = "#000000"
# Before an organizer has chosen another.
TEAL: Final = "#14605c"
# WCAG 2.2, 1.4.3: what text of ordinary size needs.
ENOUGH_CONTRAST: Final = 4.5


def ink_on(colour: str) -> str:
    """White where it is read well, since most brands expect it; else black."""
    return WHITE if contrast(colour, WHITE) >= ENOUGH_CONTRAST else BLACK


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG: from 1, the same colour, to 21, black and white."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
