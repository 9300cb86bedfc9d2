"""`gatepass serve` with the CSV reader that it once had.

Each line of an open quote parses the row again from its start, on the event loop.

    python -m tests.attacks.mutants.quadratic_csv_reader serve --port 8000
"""

import csv
from collections.abc import Callable, Iterator
from typing import TypeVar

from gatepass.cli.main import run
from gatepass.domain.imports.csv_reader import CsvReader
from gatepass.studio.tickets import import_upload
from gatepass.studio.web import upload

T = TypeVar("T")


class QuadraticCsvReader(CsvReader):
    _text = ""

    def _records(self, lines: list[str]) -> Iterator[list[str]]:
        for line in lines:
            self._text = f"{self._text}\n{line}" if self._text else line
            self._require_short(len(self._text))
            try:
                cells = next(csv.reader([f"{part}\n" for part in self._text.split("\n")], strict=True), [])
            except csv.Error:
                continue
            self._text = ""
            yield cells


async def parse_on_the_loop(work: Callable[[bytes], T], piece: bytes) -> T:
    return work(piece)


if __name__ == "__main__":
    import_upload.CsvReader = QuadraticCsvReader
    import_upload.parse = upload.parse = parse_on_the_loop
    run()
