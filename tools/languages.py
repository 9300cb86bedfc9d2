"""The catalogues of packages that speak to participants: every text of the code is in them, in every language.

    python -m tools.languages          what is missing, without a translation, fuzzy, or no longer in the code
    python -m tools.languages --write  add what is missing, take away what is gone; then translate what is empty

A package has a folder `languages/` with one `.po` file a language. Its texts stand in its Python files and templates.
Letters are texts as a whole: where a package has a folder `letters/`, its own test compares them.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.pofile import read_po, write_po

from gatepass.base.language import Language

ROOT: Final = Path(__file__).parents[1]
METHODS: Final = [("**.py", "python"), ("**.html", "jinja2")]
OPTIONS: Final = {"**.html": {"extensions": "jinja2.ext.i18n", "trimmed": "true"}}
TRANSLATED: Final = [language for language in Language if language is not Language.ENGLISH]
FIELD: Final = re.compile(r"\{\w+\}")
# Longer than any text: a line a text, so that a change of one word is a change of one line.
WIDTH: Final = 10_000


def packages() -> list[Path]:
    found = (folder.parent for folder in (ROOT / "gatepass").rglob("languages") if folder.is_dir())
    return sorted(package for package in found if not (package / "letters").exists())


def texts(package: Path) -> list[str]:
    """Every text that a package marks for translation, in the order of its files."""
    found = extract_from_dir(package, METHODS, OPTIONS, DEFAULT_KEYWORDS)
    return list(dict.fromkeys(text if isinstance(text, str) else text[0] for _, _, text, _, _ in found))


def catalogue(package: Path, language: Language) -> Catalog:
    with (package / "languages" / f"{language}.po").open("rb") as file:
        return read_po(file, locale=language)


def faults(package: Path) -> Iterator[str]:
    wanted = texts(package)
    for language in TRANSLATED:
        known = {message.id: message for message in catalogue(package, language) if message.id}
        name = f"{package.relative_to(ROOT)}/languages/{language}.po"
        yield from (f"{name} lacks: {text}" for text in wanted if text not in known)
        yield from (f"{name} has a text that is gone: {text}" for text in known if text not in wanted)
        for text, message in known.items():
            if message.fuzzy:
                yield f"{name} is not sure of: {text}"
            if not message.string:
                yield f"{name} does not translate: {text}"
            elif set(FIELD.findall(str(text))) != set(FIELD.findall(str(message.string))):
                yield f"{name} has other fields than: {text}"


def write(package: Path) -> None:
    template = Catalog()
    for text in texts(package):
        template.add(text)
    for language in TRANSLATED:
        known = catalogue(package, language)
        known.update(template, no_fuzzy_matching=True)
        known.obsolete.clear()
        path = package / "languages" / f"{language}.po"
        first = path.read_text().partition("\n")[0]
        with path.open("wb") as file:
            write_po(file, known, width=WIDTH, omit_header=True)
        header = (
            f'{first}\nmsgid ""\nmsgstr ""\n"Language: {language}\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
        )
        path.write_text(header + path.read_text())


def run(*options: str) -> int:
    if "--write" in options:
        for package in packages():
            write(package)
    found = [fault for package in packages() for fault in faults(package)]
    print("\n".join(found) or "Every text is in every language.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
