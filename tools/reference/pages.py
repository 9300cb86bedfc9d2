"""Which page has what made part, and where it stands in it."""

import re
from pathlib import Path
from typing import Final

from tools.reference import api, commands, sdk, settings

DOCS: Final = Path(__file__).parents[2] / "docs"
MADE: Final = re.compile(
    r"(<!-- made by `make reference`: begin -->\n).*(\n<!-- made by `make reference`: end -->)", re.DOTALL
)


def made() -> dict[str, str]:
    """The text of each made part, as the code is now."""
    return {
        "reference/api.md": api.written((DOCS / "openapi.json").read_text(encoding="utf-8")),
        "reference/sdk.md": sdk.written(),
        "reference/commands.md": commands.written(),
        "operate/configure.md": settings.written(),
    }


def replaced(page: str, text: str) -> str:
    """The page with this text as its made part."""
    begin, end = MADE.search(page).groups()  # pyright: ignore[reportOptionalMemberAccess]
    return MADE.sub(lambda _: f"{begin}\n{text.strip()}\n{end}", page)
