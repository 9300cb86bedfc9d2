"""Reading a CSV file as it arrives: any pieces in, whole rows out, and never more than a row held back.

UTF-8 with or without a byte order mark; commas, semicolons or tabs; quotes; any line ends.
"""

import codecs
import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gatepass.domain.imports.job import LARGEST_FILE, LONGEST_ROW, MOST_COLUMNS, MOST_ROWS, Fault, FileRefused

DELIMITERS: Final = ",;\t"
LONGEST_HEADING: Final = 100
NUL: Final = "\0"
UNREADABLE: Final = "\ufffd"


@dataclass(frozen=True, slots=True)
class Row:
    line: int
    cells: list[str]
    fault: Fault | None = None


class Sheet:
    """A file on its way in. `header` is there once the first line is."""

    def __init__(self) -> None:
        self.header: list[str] = []
        self.line = 0
        self.rows = 0
        self._size = 0
        self._delimiter = ","
        self._pending = ""
        self._open = ""
        self._decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8-sig")(), translate=True)

    def feed(self, piece: bytes) -> list[Row]:
        """The rows that are whole now."""
        self._size += len(piece)
        if self._size > LARGEST_FILE:
            raise FileRefused(f"The file is larger than {LARGEST_FILE // 2**20} MB. Split it into several.")
        lines = (self._pending + self._decoded(piece)).split("\n")
        self._pending = lines.pop()
        self._require_short(self._pending)
        return self._rows(lines)

    def end(self) -> list[Row]:
        """What the last line holds, if it did not end."""
        last = self._pending + self._decoded(b"", final=True)
        self._pending = ""
        rows = self._rows([last] if last else [])
        if self._open:
            raise FileRefused(f"A quote that opens in line {self.line + 1} is never closed.")
        if not self.header:
            raise FileRefused("The file is empty. Its first line names the columns.")
        if not self.rows:
            raise FileRefused("The file has a line with the names of the columns, and nothing below it.")
        return rows

    def _decoded(self, piece: bytes, *, final: bool = False) -> str:
        try:
            return self._decoder.decode(piece, final=final)
        except UnicodeDecodeError:
            raise FileRefused(
                f"The file is not UTF-8 (after line {self.line + 1}). Save it as “CSV UTF-8” and try again."
            ) from None

    def _rows(self, lines: list[str]) -> list[Row]:
        if not lines:
            return []
        rows = [row for cells in self._records(lines) if (row := self._row(cells)) is not None]
        self.rows += len(rows)
        if self.rows > MOST_ROWS:
            raise FileRefused(f"The file has more than {MOST_ROWS:,} rows. Split it into several.")
        return rows

    def _records(self, lines: list[str]) -> Iterator[list[str]]:
        """Cells of each record. A quoted cell may run over several lines; most files have none."""
        self._require_short(max(lines, key=len))
        if not self.header:
            self._delimiter = _delimiter(next(filter(None, lines), ""))
        if not self._open and not any('"' in line for line in lines):
            yield from csv.reader(lines, delimiter=self._delimiter)
            return
        for line in lines:
            text = f"{self._open}\n{line}" if self._open else line
            self._require_short(text)
            cells = self._closed(text)
            self._open = text if cells is None else ""
            if cells is not None:
                yield cells

    def _closed(self, text: str) -> list[str] | None:
        """The cells, or None as long as a quote is open."""
        try:
            return next(csv.reader(_kept_whole(text), delimiter=self._delimiter, strict=True), [])
        except csv.Error as odd:
            if str(odd) == "unexpected end of data":
                return None
            return next(csv.reader(_kept_whole(text), delimiter=self._delimiter), [])

    def _row(self, cells: list[str]) -> Row | None:
        self.line += 1
        if not any(cells):
            return None
        if not self.header:
            self.header = _header(cells)
            return None
        fault = None
        if len(cells) > len(self.header) and any(cells[len(self.header) :]):
            fault = Fault.TOO_MANY_CELLS
        if any(NUL in cell for cell in cells):
            cells, fault = [cell.replace(NUL, UNREADABLE) for cell in cells], Fault.UNREADABLE
        return Row(self.line, cells[: MOST_COLUMNS + 1], fault)

    def _require_short(self, text: str) -> None:
        if len(text) > LONGEST_ROW:
            raise FileRefused(
                f"Line {self.line + 1} is longer than {LONGEST_ROW // 1024} KB. Is a quote left open there?"
            )


def _kept_whole(text: str) -> list[str]:
    """As the reader wants it: the lines of one record, each with its end."""
    return [f"{line}\n" for line in text.split("\n")]


def _delimiter(heading: str) -> str:
    """What parts the column names most often, quoted text left out."""
    bare = "".join(heading.split('"')[::2])
    return max(DELIMITERS, key=bare.count)


def _header(cells: list[str]) -> list[str]:
    if len(cells) > MOST_COLUMNS:
        raise FileRefused(f"The file has more than {MOST_COLUMNS} columns.")
    return [cell.replace(NUL, UNREADABLE).strip()[:LONGEST_HEADING] for cell in cells]
