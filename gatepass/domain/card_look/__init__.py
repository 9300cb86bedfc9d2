"""What an organizer chooses of the card page."""

from gatepass.domain.card_look.colour import BLACK, ENOUGH_CONTRAST, TEAL, WHITE, contrast, ink_on
from gatepass.domain.card_look.look import LOGO, LONGEST_LINE, CardLook, Logo, change, find, find_logo, set_logo

__all__ = [
    "BLACK",
    "ENOUGH_CONTRAST",
    "LOGO",
    "LONGEST_LINE",
    "TEAL",
    "WHITE",
    "CardLook",
    "Logo",
    "change",
    "contrast",
    "find",
    "find_logo",
    "ink_on",
    "set_logo",
]
