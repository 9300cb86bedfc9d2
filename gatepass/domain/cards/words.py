"""What people type to find a person or a card: any words of a name or an address, or four digits of a number."""

from typing import Final

from gatepass.domain.cards.card import bare_text

MOST_WORDS: Final = 6
# A shorter word must be whole: of a million people, hundreds of thousands have a word that begins with the same two
# letters, and reading all of them took 349 ms.
SHORTEST_BEGINNING: Final = 3
# A group of digits, as it is printed on a card.
GROUP: Final = 4


def digit_groups(typed: str) -> list[str]:
    """The groups of four digits in this text; none if it is anything but digits, spaces and dashes."""
    digits = bare_text(typed)
    if not (digits.isascii() and digits.isdigit()) or not GROUP <= len(digits) <= 3 * GROUP:
        return []
    return [digits[place : place + GROUP] for place in range(0, len(digits) - GROUP + 1, GROUP)]
