"""A streaming CSV reader: it takes chunks of any size, returns whole rows, and buffers at most one row.

UTF-8 with or without a byte order mark, or Windows-1252; commas, semicolons or tabs; quotes; any line ends. The work
is linear in the size of the file, whatever it holds: each line is scanned once for quotes, and each row is parsed once.
"""

import csv
import io
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from gatepass.base.text import original_cell
from gatepass.domain.imports.job import (
    LARGEST_FILE,
    LONGEST_ROW,
    MOST_COLUMNS,
    MOST_LINES,
    MOST_ROWS,
    Fault,
    FileRefused,
)
from gatepass.domain.imports.text_decoder import TextDecoder

DELIMITERS: Final = ",;\t"
LONGEST_HEADING: Final = 100
NUL: Final = "\0"
UNREADABLE: Final = "\ufffd"
QUOTED: Final = '(?:[^"]++|"")*+'


class CsvRow(NamedTuple):
    line: int
    cells: list[str]
    fault: Fault | None = None


class CsvReader:
    """`header` is set after the first line."""

    def __init__(self) -> None:
        self.header: list[str] = []
        self.line = 0
        self.rows = 0
        self._size = 0
        self._delimiter = ","
        self._quotes = QuoteScanner(",")
        # The beginning of a line, and the lines of a row with an open quote.
        self._pending = _Held()
        self._open = _Held()
        self._text = TextDecoder()
        self._decoder = io.IncrementalNewlineDecoder(self._text, translate=True)

    @property
    def encoding(self) -> str:
        return self._text.encoding

    def feed(self, chunk: bytes) -> list[CsvRow]:
        """The rows that are complete now."""
        self._size += len(chunk)
        if self._size > LARGEST_FILE:
            raise FileRefused(f"The file is larger than {LARGEST_FILE // 2**20} MB. Split it into several.")
        first, *lines = self._decoded(chunk).split("\n")
        self._hold(self._pending, first)
        if not lines:
            return []
        lines.insert(0, "".join(self._pending.taken()))
        self._hold(self._pending, lines.pop())
        return self._rows(lines)

    def end(self) -> list[CsvRow]:
        """The row of the last line, if that has no line end."""
        last = "".join(self._pending.taken()) + self._decoded(b"", final=True)
        rows = self._rows([last]) if last else []
        if self._quotes.is_open:
            raise FileRefused(f"A quote that opens in line {self.line + 1} is never closed.")
        if not self.header:
            raise FileRefused("The file is empty. Its first line names the columns.")
        if not self.rows:
            raise FileRefused("The file has a line with the names of the columns, and nothing below it.")
        return rows

    def _decoded(self, chunk: bytes, *, final: bool = False) -> str:
        try:
            return self._decoder.decode(chunk, final=final)
        except UnicodeDecodeError:
            raise FileRefused(
                f"The file is neither UTF-8 nor Windows-1252 (after line {self.line + 1}). "
                "Save it as “CSV UTF-8” and try again."
            ) from None

    def _rows(self, lines: list[str]) -> list[CsvRow]:
        if not self.header and not self._quotes.is_open:
            self._delimiter = _delimiter(next(filter(None, lines), ""))
            self._quotes = QuoteScanner(self._delimiter)
        rows = [row for cells in self._records(lines) if (row := self._row(cells)) is not None]
        self.rows += len(rows)
        if self.rows > MOST_ROWS:
            raise FileRefused(f"The file has more than {MOST_ROWS:,} rows. Split it into several.")
        if self.line > MOST_LINES:
            raise FileRefused(f"The file has more than {MOST_LINES:,} lines. Remove the empty ones.")
        return rows

    def _records(self, lines: list[str]) -> Iterator[list[str]]:
        """Cells of each row that is complete. A quoted cell may contain line breaks; most files have no quotes."""
        self._require_short(max(map(len, lines)))
        if not self._quotes.is_open and not any('"' in line for line in lines):
            yield from csv.reader(lines, delimiter=self._delimiter)
            return
        for line in lines:
            self._hold(self._open, line + "\n")
            if not self._quotes.scan(line):
                yield from csv.reader(self._open.taken(), delimiter=self._delimiter)

    def _row(self, cells: list[str]) -> CsvRow | None:
        self.line += 1
        joined = "".join(cells)
        if not joined:
            return None
        if "'" in joined:  # as in a file that we wrote
            cells = [original_cell(cell) for cell in cells]
        if not self.header:
            self.header = _header(cells)
            return None
        fault = None
        if len(cells) > len(self.header) and any(cells[len(self.header) :]):
            fault = Fault.TOO_MANY_CELLS
        if NUL in joined:
            cells, fault = [cell.replace(NUL, UNREADABLE) for cell in cells], Fault.UNREADABLE
        return CsvRow(self.line, cells[: MOST_COLUMNS + 1], fault)

    def _hold(self, held: "_Held", text: str) -> None:
        held.add(text)
        self._require_short(held.size)

    def _require_short(self, size: int) -> None:
        if size > LONGEST_ROW:
            raise FileRefused(
                f"Line {self.line + 1} is longer than {LONGEST_ROW // 1024} KB. Is a quote left open there?"
            )


class QuoteScanner:
    """Whether a line ends within a quoted cell, by the rules of `csv.reader`.

    A quote opens a cell only as its first character. The quantifiers are possessive: nothing is scanned twice.
    """

    def __init__(self, delimiter: str) -> None:
        closed = f'"{QUOTED}"[^{delimiter}]*+|[^"{delimiter}][^{delimiter}]*+|'
        self._open_at_end = re.compile(f'(?:(?:{closed}){delimiter})*+"{QUOTED}')
        self.is_open = False

    def scan(self, line: str) -> bool:
        """Whether a quote is open after this line, the next one."""
        text = f'"{line}' if self.is_open else line
        self.is_open = self._open_at_end.fullmatch(text) is not None
        return self.is_open


class _Held:
    """Text that is not complete, with its size."""

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[str] = []

    def add(self, text: str) -> None:
        self._parts.append(text)
        self.size += len(text)

    def taken(self) -> list[str]:
        parts, self._parts, self.size = self._parts, [], 0
        return parts


def _delimiter(heading: str) -> str:
    """The delimiter that occurs most often in the heading, outside of quotes."""
    bare = "".join(heading.split('"')[::2])
    return max(DELIMITERS, key=bare.count)


def _header(cells: list[str]) -> list[str]:
    if len(cells) > MOST_COLUMNS:
        raise FileRefused(f"The file has more than {MOST_COLUMNS} columns.")
    return [cell.replace(NUL, UNREADABLE).strip()[:LONGEST_HEADING] for cell in cells]
