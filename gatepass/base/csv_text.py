"""Text for CSV files that people open in a spreadsheet.

A cell that begins like a formula would be run by the spreadsheet of whoever opens the file, and its text may come
from anybody. A leading apostrophe makes it text.
"""

import csv
import io
from collections.abc import Iterable
from typing import Final

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe_cell(text: str) -> str:
    return "'" + text if text.startswith(FORMULA) else text


def safe_line(cells: Iterable[str | None]) -> str:
    """One line of a CSV file, every cell made safe; nothing for None."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow("" if cell is None else safe_cell(cell) for cell in cells)
    return line.getvalue()
