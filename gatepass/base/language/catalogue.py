"""The languages that participants read. English stands in the code, the others in `.po` catalogues beside it.

A package that speaks to participants has a folder `languages/` with one catalogue a language, and marks its texts with
gettext's functions. Staff read English: the studio is not translated.
"""

from enum import StrEnum
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path


class Language(StrEnum):
    ENGLISH = "en"
    DUTCH = "nl"
    FRENCH = "fr"
    GERMAN = "de"


def language_of(locale: str | None, accepted: str | None = None) -> Language:
    """The language of a holder's locale, such as `nl-BE`; else the first of an Accept-Language header that we speak."""
    wanted = ([locale] if locale else []) + [part.partition(";")[0] for part in (accepted or "")[:500].split(",")]
    for text in wanted:
        primary = text.strip().replace("_", "-").partition("-")[0].lower()
        if primary in set(Language):
            return Language(primary)
    return Language.ENGLISH


@cache
def translations(folder: Path, language: Language) -> NullTranslations:
    """The catalogue of this language in a package's folder `languages/`."""
    if language is Language.ENGLISH:
        return NullTranslations()
    from babel.messages.mofile import write_mo  # noqa: PLC0415  `gatepass --help` should not wait for it
    from babel.messages.pofile import read_po  # noqa: PLC0415  as above

    compiled = BytesIO()
    with (folder / f"{language}.po").open("rb") as source:
        write_mo(compiled, read_po(source, locale=language))
    compiled.seek(0)
    return GNUTranslations(compiled)
