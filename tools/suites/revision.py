"""What git knows of a change: the paths since a commit, and the tree's hash, by which things are drawn."""

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def head() -> str:
    return _git("rev-parse", "--short=10", "HEAD")


def tree_hash() -> str:
    """The hash of all that is committed: another one for each change, the same on each day. Fixed without git."""
    try:
        return _git("rev-parse", "HEAD^{tree}")
    except (OSError, subprocess.CalledProcessError):
        return "0" * 40


@cache
def knows(commit: str) -> bool:
    """Whether HEAD comes after this commit; a shallow clone may not have it."""
    asked = ["git", "merge-base", "--is-ancestor", commit, "HEAD"]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, check=False).returncode == 0


@cache
def since(commit: str) -> list[str]:
    """The paths that differ from this commit: those of later commits, those not committed yet, old and new names."""
    changed = _git("diff", "--name-only", "--no-renames", commit)
    new = _git("ls-files", "--others", "--exclude-standard")
    return sorted({*changed.splitlines(), *new.splitlines()})
