"""The scanner's texts: those of the SDK in English, all of them used, and four languages."""

import re
from pathlib import Path

import pytest

from gatepass.base.language import Language
from gatepass.gate import templates
from gatepass.gate.words import BOOK, SCREENS, VERDICTS, WORDS
from gatepass_sdk._gate.shown import REFUSALS, WARNINGS, Shown

SOURCE = Path(templates.HERE) / "source"
CODE = "\n".join(path.read_text() for path in sorted(SOURCE.rglob("*.ts")))
PAGES = "\n".join(path.read_text() for path in sorted((templates.HERE / "templates").glob("*.html")))
# Keys that the script puts together, or takes from a list.
MADE = {"phone", "tablet", "computer", "retired", "retired_note", "revoked", "revoked_note", "language_name"}


def test_english_verdicts_are_those_of_the_sdk() -> None:
    welcome = Shown.of("activated")
    sdk = {"activated": (welcome.word, welcome.message), **REFUSALS, **WARNINGS}
    assert dict(VERDICTS) == {verdict: tuple(text) for verdict, text in sdk.items()}


def test_every_text_that_the_app_asks_for_is_there() -> None:
    asked = set(re.findall(r'\bword\("(\w+)"', CODE)) | set(re.findall(r'data-(?:word|label)="(\w+)"', PAGES))
    assert len(asked) > 60
    assert asked - set(WORDS) == set()


def test_every_text_is_used() -> None:
    unused = {key for key in SCREENS if key not in MADE and not re.search(rf"\b{key}\b", CODE + PAGES)}
    assert unused == set()


@pytest.mark.parametrize("language", Language)
def test_a_word_for_a_verdict_is_short(language: Language) -> None:
    """The style sheet fits eleven letters in a line of the smallest phone."""
    said = {key: text for key, text in BOOK.words(language).items() if key.startswith("word_")}
    assert {key: text for key, text in said.items() if max(map(len, text.split())) > 11 or len(text) > 16} == {}


def test_each_language_has_words_of_its_own() -> None:
    assert len({BOOK.words(language)["word_activated"] for language in Language}) == 4
    assert BOOK.words(Language.ENGLISH) == dict(WORDS)
