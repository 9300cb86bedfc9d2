"""Names of the world, and texts that are no names: `sdk/cases/names.json`, for everything that takes a name."""

import json
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).parents[3] / "sdk" / "cases" / "names.json"
_GROUPS: Final[dict[str, dict[str, list[str]]]] = json.loads(FILE.read_text())
ACCEPTED: Final = [name for group in _GROUPS["accepted"].values() for name in group]
REFUSED: Final = [text for group in _GROUPS["refused"].values() for text in group]
