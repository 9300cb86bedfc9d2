"""The page as text, and the URLs of static files."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gatepass.base.language import Language
from gatepass.gate.words import words, words_module

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
    languages = [(language.value, words(language)["language_name"]) for language in Language]
    return environment.get_template("page.html").render(
        words=words(Language.ENGLISH), static=static_url, version=static_version(), languages=languages
    )


@cache
def static_version() -> str:
    """A hash of all that a phone keeps. One for all: a phone has one version whole, or another."""
    digest = hashlib.sha256(words_module().encode())
    for folder in (STATIC, HERE / "templates"):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            digest.update(f"{path.relative_to(HERE)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def static_url(name: str) -> str:
    return f"/gate/static/{static_version()}/{name}"
