"""Every kind of letter has its text, participants read it in four languages, and no value leaves its place."""

from html.parser import HTMLParser
from typing import Final

import pytest
from babel.messages.pofile import read_po

from gatepass.base.language import Language
from gatepass.domain.mail import LetterKind, rendered
from gatepass.domain.mail.text import FIELD, FOLDER, LANGUAGES, BlockKind, letter_text

WRITTEN: Final = [LetterKind(path.stem) for path in sorted((FOLDER / "letters").glob("*.txt"))]
FOR_PARTICIPANTS: Final = [kind for kind in WRITTEN if kind.is_for_participants]
HOSTILE: Final = '</p><script>alert(1)</script>"{link}{{x}}&amp;'


def values(kind: LetterKind, value: str = "Ada") -> dict[str, str]:
    return dict.fromkeys(letter_text(kind).fields, value)


def texts(kind: LetterKind) -> list[str]:
    letter = letter_text(kind)
    return [letter.subject, *(block.text for block in letter.blocks if block.text)]


def test_the_letters_to_participants_are_written() -> None:
    assert {LetterKind.CARD, LetterKind.PHONE_CODE} <= set(WRITTEN)


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_letter_has_a_title(kind: LetterKind) -> None:
    blocks = letter_text(kind).blocks
    assert blocks[0].kind is BlockKind.TITLE
    assert [block.kind for block in blocks].count(BlockKind.TITLE) == 1


@pytest.mark.parametrize("language", [one for one in Language if one is not Language.ENGLISH])
def test_every_text_is_translated_with_its_values_and_none_too_many(language: Language) -> None:
    with (LANGUAGES / f"{language}.po").open("rb") as source:
        catalogue = {str(one.id): str(one.string) for one in read_po(source, locale=language) if one.id}
    assert set(catalogue) == {text for kind in FOR_PARTICIPANTS for text in texts(kind)}
    assert [text for text, translated in catalogue.items() if not translated] == []
    for text, translated in catalogue.items():
        assert sorted(FIELD.findall(translated)) == sorted(FIELD.findall(text)), text


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("kind", WRITTEN)
def test_a_letter_is_filled_in(kind: LetterKind, language: Language) -> None:
    letter = rendered(kind, language, values(kind))
    for text in (letter.subject, letter.text, letter.html):
        assert "{" not in text.partition("</style>")[2] or text is not letter.html
        assert not FIELD.search(text)
    assert "Ada" in letter.text
    assert f'<html lang="{language}">' in letter.html


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.found.append(tag)


def tags(html: str) -> list[str]:
    parser = Tags()
    parser.feed(html)
    return parser.found


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_value_is_text_whatever_it_holds(kind: LetterKind) -> None:
    plain, hostile = (rendered(kind, Language.FRENCH, values(kind, value)) for value in ("Ada", HOSTILE))
    assert tags(hostile.html) == tags(plain.html)
    assert HOSTILE in hostile.text


def test_a_fact_without_a_value_is_left_out() -> None:
    letter = rendered(LetterKind.CARD, Language.ENGLISH, values(LetterKind.CARD) | {"where": ""})
    assert "Where" not in letter.text + letter.html
    assert "When: Ada" in letter.text


def test_control_characters_become_blanks() -> None:
    letter = rendered(LetterKind.CARD, Language.ENGLISH, values(LetterKind.CARD, "a\r\nBcc: b\x00\u202ec"))
    assert letter.subject == "Your card for a Bcc: b c"
