"""Output: JSON for programs, lines and columns for people, colours for terminals only."""

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

ANSI: Final = {
    "good": "1;30;42",
    "bad": "1;37;41",
    "warn": "1;30;43",
    "strong": "1",
    "green": "32",
    "red": "31",
    "yellow": "33",
    "faint": "2",
}


class Printer:
    """Prints the results of a command. With `as_json` they are one object per line, and nothing else."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self._colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def data(self, value: Mapping[str, Any]) -> None:
        print(json.dumps(value, ensure_ascii=False, default=str), flush=True)

    def line(self, text: str, style: str | None = None) -> None:
        print(self.coloured(text, style), flush=True)

    def verdict(self, word: str, text: str, *, good: bool) -> None:
        """A verdict that can be read from two steps away."""
        label = self.coloured(f"{word:^9}", "good" if good else "bad")
        print(label, self.coloured(text, "green" if good else "red"), flush=True)

    def coloured(self, text: str, style: str | None) -> str:
        shown = printable(text)
        return f"\x1b[{ANSI[style]}m{shown}\x1b[0m" if style and self._colours else shown

    def fields(self, values: Mapping[str, object]) -> None:
        """One object: a name and a value per line."""
        width = max(map(len, values))
        for name, value in values.items():
            self.line(f"{name:<{width}}  {_shown(value)}")

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[object]], nothing: str) -> None:
        """Many objects: one line each, never cut, so that `grep` and `awk` find everything."""
        lines = [[_shown(value) for value in row] for row in rows]
        if not lines:
            self.line(nothing)
            return
        widths = [max(len(line[column]) for line in [list(heads), *lines]) for column in range(len(heads))]
        self.line(_columns([head.upper() for head in heads], widths), "strong")
        for line in lines:
            self.line(_columns(line, widths))


def note(text: str) -> None:
    """Print a hint to stderr, so that it never gets into a file of results."""
    print(printable(text), file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """Escape control characters: foreign text must not move the cursor or ring the bell."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def _columns(line: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{value:<{width}}" for value, width in zip(line, widths, strict=True)).rstrip()


def _shown(value: object) -> str:
    match value:
        case None | "":
            return "-"
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S}Z"
        case tuple() | list():
            return ",".join(str(one) for one in value)
        case _:
            return str(value)
