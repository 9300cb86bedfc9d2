"""The texts of an interface by key, in every language, for its templates and for its script."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from gatepass.base.language.catalogue import Language, translations


class WordBook:
    def __init__(self, texts: Mapping[str, str], folder: Path) -> None:
        """`texts` are in English; the catalogues of the other languages are in `folder`."""
        self._texts = texts
        self._folder = folder
        self._words: dict[Language, dict[str, str]] = {}

    def words(self, language: Language) -> dict[str, str]:
        """The texts by key, in this language."""
        if language not in self._words:
            catalogue = translations(self._folder, language)
            self._words[language] = {key: catalogue.gettext(text) for key, text in self._texts.items()}
        return self._words[language]

    @cached_property
    def module(self) -> str:
        """A module of JavaScript with every text in every language, for the script."""
        texts = {language.value: self.words(language) for language in Language}
        return f"export default {json.dumps(texts, ensure_ascii=False, separators=(',', ':'))};\n"
