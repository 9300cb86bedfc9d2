"""The files of the repository, as git knows them."""

import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Made by a tool, or not ours.
MADE = ("sdk/gatepass_sdk/_sync/", "gatepass/studio/static/htmx/", "gatepass/api/static/scalar/")
CODE = ("gatepass", "sdk", "tests", "bench", "examples", "tools")


def tracked(*suffixes: str) -> list[Path]:
    """Every file of git with one of these suffixes, without those that a tool made."""
    return [path for path in every_file() if str(path).endswith(suffixes) and not str(path).startswith(MADE)]


def every_file() -> list[Path]:
    """Every file of git, also one that is new and not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    return sorted(path for path in map(Path, listed) if (ROOT / path).exists())


def modules() -> list[Path]:
    return [path for path in tracked(".py") if path.parts[0] in CODE]


def folders() -> dict[Path, list[str]]:
    """The names of the modules directly in each folder; `__init__` and `__main__` do not count."""
    found: defaultdict[Path, list[str]] = defaultdict(list)
    for path in modules():
        if not path.stem.startswith("__"):
            found[path.parent].append(path.stem)
    return found
