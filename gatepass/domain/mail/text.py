"""The text of a kind of letter: a file with a subject and blocks, in the language of its reader.

The first line is the subject. Blocks are separated by empty lines, and their first characters say what they are:

    # title            > {code}, shown large        -- small print
    [Label] {link}, a button, and = Label: {value}, a fact: both are left out if the value is empty

Anything else is a paragraph. `{name}` stands for a value. A catalogue in `languages/` has every text as it stands in
the file, without the characters in front.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

from gatepass.base.language import Language, translations
from gatepass.domain.mail.kinds import LetterKind

FOLDER: Final = Path(__file__).parent
LANGUAGES: Final = FOLDER / "languages"
FIELD: Final = re.compile(r"\{([a-z_]+)\}")
BUTTON: Final = re.compile(r"\[(?P<text>[^\]]+)\] (?P<value>\{[a-z_]+\})")
FACT: Final = re.compile(r"= (?P<text>[^:]+): (?P<value>\{[a-z_]+\})")


class BlockKind(StrEnum):
    TITLE = "title"
    PARAGRAPH = "paragraph"
    CODE = "code"
    FACT = "fact"
    BUTTON = "button"
    SMALL = "small"


@dataclass(frozen=True, slots=True)
class Block:
    """`text` is what people translate. `value` is the field of a button, a fact or a code, with its braces."""

    kind: BlockKind
    text: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class LetterText:
    subject: str
    blocks: tuple[Block, ...]

    @property
    def fields(self) -> frozenset[str]:
        """The values that the letter needs."""
        texts = [self.subject, *(block.text + block.value for block in self.blocks)]
        return frozenset(field for text in texts for field in FIELD.findall(text))


@cache
def letter_text(kind: LetterKind, language: Language = Language.ENGLISH) -> LetterText:
    """Staff read English, whatever the language."""
    found = parsed((FOLDER / "letters" / f"{kind}.txt").read_text())
    if language is Language.ENGLISH or not kind.is_for_participants:
        return found
    catalogue = translations(LANGUAGES, language)
    blocks = [Block(one.kind, catalogue.gettext(one.text) if one.text else "", one.value) for one in found.blocks]
    return LetterText(catalogue.gettext(found.subject), tuple(blocks))


def parsed(source: str) -> LetterText:
    subject, *blocks = source.strip().split("\n\n")
    return LetterText(subject.strip(), tuple(_block(line) for block in blocks for line in _parts(block)))


def _parts(block: str) -> list[str]:
    """Each fact is a line; every other block is one text, however it is wrapped in the file."""
    return block.splitlines() if block.startswith("= ") else [" ".join(block.split())]


def _block(text: str) -> Block:
    for kind, pattern in ((BlockKind.BUTTON, BUTTON), (BlockKind.FACT, FACT)):
        if found := pattern.fullmatch(text):
            return Block(kind, found["text"], found["value"])
    for kind, prefix in ((BlockKind.TITLE, "# "), (BlockKind.SMALL, "-- ")):
        if text.startswith(prefix):
            return Block(kind, text.removeprefix(prefix))
    if text.startswith("> "):
        return Block(BlockKind.CODE, "", text.removeprefix("> "))
    return Block(BlockKind.PARAGRAPH, text)
