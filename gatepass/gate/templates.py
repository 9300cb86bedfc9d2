"""The page as text, and the URLs of static files."""

from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gatepass.base.language import Language
from gatepass.base.web.assets import version_of_files
from gatepass.gate.words import BOOK

HERE: Final = Path(__file__).parent
STATIC: Final = HERE / "static"


@cache
def page_text() -> str:
    """The page in English. The script puts it into the language of the phone before anything is seen."""
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    languages = [(language.value, BOOK.words(language)["language_name"]) for language in Language]
    return environment.get_template("page.html").render(
        words=BOOK.words(Language.ENGLISH), static=static_url, version=static_version(), languages=languages
    )


@cache
def static_version() -> str:
    """A hash of all that a phone keeps. One for all: a phone has one version whole, or another."""
    return version_of_files(HERE, ("static", "templates"), beside=BOOK.module)


def static_url(name: str) -> str:
    return f"/gate/static/{static_version()}/{name}"
