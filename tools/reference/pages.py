"""The pages with a generated part, and the marks around it."""

import re
from pathlib import Path
from typing import Final

from tools.reference import api, commands, sdk, settings

DOCS: Final = Path(__file__).parents[2] / "docs"
GENERATED: Final = re.compile(
    r"(<!-- made by `make reference`: begin -->\n).*(\n<!-- made by `make reference`: end -->)", re.DOTALL
)


def generated() -> dict[str, str]:
    """The text of each generated part, from the code as it is now."""
    return {
        "reference/api.md": api.generate((DOCS / "openapi.json").read_text(encoding="utf-8")),
        "reference/sdk.md": sdk.generate(),
        "reference/commands.md": commands.generate(),
        "operate/configure.md": settings.generate(),
    }


def replaced(page: str, text: str) -> str:
    """The page with this text as its generated part."""
    begin, end = GENERATED.search(page).groups()  # pyright: ignore[reportOptionalMemberAccess]
    return GENERATED.sub(lambda _: f"{begin}\n{text.strip()}\n{end}", page)
