"""The pages with a generated part, and the marks around it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tools.reference import api, commands, sdk, sdk_js, settings

DOCS: Final = Path(__file__).parents[2] / "docs"
BEGIN: Final = "<!-- made by `make reference`: begin -->"
END: Final = "<!-- made by `make reference`: end -->"
GENERATED: Final = re.compile(rf"({BEGIN}\n).*(\n{END})", re.DOTALL)


def _api() -> str:
    return api.generate((DOCS / "openapi.json").read_text(encoding="utf-8"))


# The generated part of each page, from the code as it is now.
GENERATORS: Final[dict[str, Callable[[], str]]] = {
    "reference/api.md": _api,
    "reference/sdk.md": sdk.generate,
    "reference/sdk-js.md": sdk_js.generate,
    "reference/commands.md": commands.generate,
    "operate/configure.md": settings.generate,
}


def replaced(page: str, text: str) -> str:
    """The page with this text as its generated part."""
    begin, end = GENERATED.search(page).groups()  # pyright: ignore[reportOptionalMemberAccess]
    return GENERATED.sub(lambda _: f"{begin}\n{text.strip()}\n{end}", page)
