"""The languages that participants read."""

from gatepass.base.language.catalogue import Language, language_of, translations
from gatepass.base.language.dates import written

__all__ = ["Language", "language_of", "translations", "written"]
