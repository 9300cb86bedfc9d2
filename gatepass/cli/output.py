"""Output for programs: all of it, or an error."""

import sys


def print_whole(text: str) -> None:
    """Print a long text. With PYTHONUNBUFFERED, which containers set, `print` drops the rest of a write cut short."""
    with open(sys.stdout.fileno(), "w", encoding="utf-8", closefd=False) as out:
        out.write(text + "\n")
