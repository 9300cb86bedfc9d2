"""Every text for participants is in every language, in every package that has catalogues."""

from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from gatepass.base.language import Language
from gatepass.card_page.words import BOOK, WORDS
from tools import languages


@pytest.mark.parametrize("package", languages.packages(), ids=lambda package: package.name)
def test_every_text_is_in_every_language(package: Path) -> None:
    assert len(languages.texts(package)) > 5, "texts are found"
    assert list(languages.faults(package)) == []


def test_no_catalogue_is_unsure_of_a_text() -> None:
    catalogues = sorted((languages.ROOT / "gatepass").rglob("languages/*.po"))
    assert len(catalogues) >= 3
    assert [path for path in catalogues if "fuzzy" in path.read_text()] == []


def test_the_card_page_has_catalogues() -> None:
    assert "card_page" in {package.name for package in languages.packages()}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (('msgid "Sandbox"', 'msgid "Sand box"'), "lacks: Sandbox"),
        (('msgid "Sandbox"', 'msgid "Sand box"'), "has a text that is gone: Sand box"),
        (('msgstr "Kaartnummer"', 'msgstr ""'), "does not translate: Card number"),
        (('msgid "Sandbox"', '#, fuzzy\nmsgid "Sandbox"'), "is not sure of: Sandbox"),
        (('msgstr "Geannuleerd: {event}."', 'msgstr "Geannuleerd."'), "has other fields than: Cancelled: {event}."),
    ],
    ids=["missing", "gone", "empty", "fuzzy", "without its field"],
)
def test_a_fault_in_a_catalogue_is_found(
    change: tuple[str, str], fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = next(package for package in languages.packages() if package.name == "card_page")
    changed = tmp_path / "nl.po"
    changed.write_text((package / "languages" / "nl.po").read_text().replace(*change))
    right = languages.catalogue
    with changed.open("rb") as file:
        wrong = read_po(file, locale="nl")
    monkeypatch.setattr(languages, "catalogue", lambda of, into: wrong if into == "nl" else right(of, into))
    assert [found for found in languages.faults(package) if found.endswith(fault)]


def test_each_language_has_words_of_its_own() -> None:
    said = {language: BOOK.words(language)["entered"] for language in Language}
    assert len(set(said.values())) == 4
    assert BOOK.words(Language.ENGLISH) == dict(WORDS)
