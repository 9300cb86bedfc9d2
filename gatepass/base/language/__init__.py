"""The languages that participants read."""

from gatepass.base.language.catalogue import Language, language_of, translations
from gatepass.base.language.dates import written
from gatepass.base.language.word_book import WordBook

__all__ = ["Language", "WordBook", "language_of", "translations", "written"]
