"""The template engine with the four languages, and the URLs of static files."""

from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gatepass.base.language import Language, translations
from gatepass.base.web.assets import version_of_files
from gatepass.card_page.words import BOOK, LANGUAGES

HERE: Final = Path(__file__).parent
STATIC: Final = HERE / "static"


class Templates:
    """All values are escaped. An unknown variable is an error, not an empty text."""

    def __init__(self) -> None:
        self._environments: dict[Language, Environment] = {}

    def render(self, template: str, language: Language, facts: dict[str, Any]) -> str:
        found = self._environment(language).get_template(template)
        return found.render(facts, language=language, words=BOOK.words(language))

    def _environment(self, language: Language) -> Environment:
        if language not in self._environments:
            made: Any = Environment(
                loader=FileSystemLoader(HERE / "templates"),
                extensions=["jinja2.ext.i18n"],
                autoescape=True,
                undefined=StrictUndefined,
                trim_blocks=True,
                lstrip_blocks=True,
            )
            made.install_gettext_translations(translations(LANGUAGES, language), newstyle=True)
            made.globals.update(static=static_url)
            self._environments[language] = made
        return self._environments[language]


@cache
def static_version() -> str:
    """A hash of all files, so that browsers may cache them for good. One for all: modules import each other by name."""
    return version_of_files(HERE, ("static", "templates"), beside=BOOK.module)


def static_url(name: str) -> str:
    return f"/c/static/{static_version()}/{name}"
