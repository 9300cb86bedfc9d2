"""The CSV reader: for any chunks, the rows are those of the whole file."""

import csv
import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepass.base.text import original_cell, safe_line
from gatepass.domain.imports import CsvReader, CsvRow, Fault, FileRefused
from gatepass.domain.imports import job as limits
from gatepass.domain.imports.csv_reader import QuoteScanner


def read(data: bytes, piece: int = 1 << 16) -> tuple[list[str], list[CsvRow]]:
    sheet = CsvReader()
    rows = [row for place in range(0, len(data), piece) for row in sheet.feed(data[place : place + piece])]
    return sheet.header, [*rows, *sheet.end()]


def cells(data: bytes) -> list[list[str]]:
    return [row.cells for row in read(data)[1]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_any_common_file(end: str, delimiter: str, mark: bytes) -> None:
    text = end.join([f"name{delimiter}e-mail", f"Zoë{delimiter}z@example.org", f"Ann{delimiter}a@example.org"])
    header, rows = read(mark + text.encode(), piece=3)
    assert header == ["name", "e-mail"]
    assert rows == [CsvRow(2, ["Zoë", "z@example.org"]), CsvRow(3, ["Ann", "a@example.org"])]


def test_quotes() -> None:
    assert cells(b'a,b\n"x, y","he said ""no"""\n"two\nlines",z\n5" pipe,w\n') == [
        ["x, y", 'he said "no"'],
        ["two\nlines", "z"],
        ['5" pipe', "w"],
    ]


def test_a_quote_in_the_wrong_place_is_read_as_it_stands() -> None:
    assert cells(b'a,b\n"x"y,z\n') == [["xy", "z"]]


def test_a_file_that_we_wrote_is_read_as_it_was() -> None:
    table = [["name", "=note"], ["=Ann", "'+1"], ["two\n-lines;@x", "it's"]]
    header, rows = read("".join(map(safe_line, table)).encode())
    assert [header, *(row.cells for row in rows)] == table


def test_rows_are_counted_as_a_spreadsheet_counts_them() -> None:
    assert read(b'a\n\n"x\ny"\n,\nz\n')[1] == [CsvRow(3, ["x\ny"]), CsvRow(5, ["z"])]


def test_a_delimiter_within_quotes_does_not_count() -> None:
    assert read(b'"a,b,c,d";e\n1;2\n')[0] == ["a,b,c,d", "e"]


def test_a_row_with_more_cells_than_columns() -> None:
    assert read(b"a,b\n1,2,3\n1,2,\n1\n")[1] == [
        CsvRow(2, ["1", "2", "3"], Fault.TOO_MANY_CELLS),
        CsvRow(3, ["1", "2", ""]),
        CsvRow(4, ["1"]),
    ]


def test_nul_is_told_and_stored_as_something_else() -> None:
    assert read(b"a,b\n1,2\0\n")[1] == [CsvRow(2, ["1", "2\ufffd"], Fault.UNREADABLE)]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"name\n", "nothing below"),
        ("name\nZoë\n".encode("utf-16"), "neither UTF-8"),
        ("name\nZoë\n".encode() + b"\xe9\n", "neither UTF-8"),
        (b"name\nZo\xeb \x81\n", "neither UTF-8"),
        (b'a,b\n"open,2\n3,4\n', "never closed"),
        (b"a\n" + b"x" * (limits.LONGEST_ROW + 1) + b"\n", "Line 2 is longer"),
        (b"a\n" + b"x" * (limits.LONGEST_ROW + 1), "Line 2 is longer"),
        (b'a\n"' + b"x\n" * limits.LONGEST_ROW, "Line 2 is longer"),
        (b"," * 50 + b"\n1\n", "nothing below"),
        (b"a" + b",a" * 50 + b"\n1\n", "more than 50 columns"),
    ],
)
def test_a_file_that_is_refused(data: bytes, sentence: str) -> None:
    with pytest.raises(FileRefused, match=sentence):
        read(data, piece=1000)


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1000])
def test_windows_1252_is_read_too(piece: int) -> None:
    header, rows = read("näme;prijs\r\nZoë Ößter;5 €\r\nAnn;1\r\n".encode("windows-1252"), piece=piece)
    assert header == ["näme", "prijs"]
    assert [row.cells for row in rows] == [["Zoë Ößter", "5 €"], ["Ann", "1"]]


@pytest.mark.parametrize("piece", [1, 2, 3, 1000])
def test_a_letter_of_utf_8_may_be_cut(piece: int) -> None:
    assert read("name\nZoë €\n".encode(), piece=piece)[1] == [CsvRow(2, ["Zoë €"])]


def test_too_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatepass.domain.imports.csv_reader.MOST_ROWS", 3)
    with pytest.raises(FileRefused, match="more than 3 rows"):
        read(b"a\n" + b"1\n" * 4)


def test_too_many_empty_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatepass.domain.imports.csv_reader.MOST_LINES", 100)
    with pytest.raises(FileRefused, match="more than 100 lines"):
        read(b"a\n" + b"\n" * 101)


def test_too_large_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatepass.domain.imports.csv_reader.LARGEST_FILE", 2**20)
    with pytest.raises(FileRefused, match="larger than 1 MB"):
        read(b"a\n" + b"1\n" * 2**19)


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=20)


@given(st.lists(st.lists(TEXT, min_size=2, max_size=2), min_size=1, max_size=8), st.integers(1, 40))
def test_however_it_is_cut(table: list[list[str]], piece: int) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([["first", "second"], *table])
    found = [row.cells for row in read(out.getvalue().encode(), piece)[1]] if any(map(any, table)) else []
    assert found == [[original_cell(cell) for cell in row] for row in table if any(row)]


@given(st.text('",x \n', max_size=30), st.sampled_from(",;\t"))
def test_rows_end_where_the_standard_reader_ends_them(text: str, delimiter: str) -> None:
    lines = [f"{line}\n" for line in text.replace(",", delimiter).split("\n")]
    quotes, records = QuoteScanner(delimiter), [list[str]()]
    for line in lines:
        records[-1].append(line)
        if not quotes.scan(line[:-1]):
            records.append([])
    apart = [cells for record in records for cells in csv.reader(record, delimiter=delimiter)]
    assert apart == list(csv.reader(lines, delimiter=delimiter))
    assert all(len(list(csv.reader(record, delimiter=delimiter))) == 1 for record in records if record)


def seconds(data: bytes) -> float:
    """Of this thread's own CPU time, so that a busy machine changes nothing."""
    began = time.thread_time()
    read(data, piece=4096)
    return time.thread_time() - began


def test_a_quoted_cell_of_many_lines_is_parsed_once() -> None:
    size = limits.LONGEST_ROW // 2 - 2
    plain, quoted = seconds(b"a\n" + b"x\n" * size * 5), seconds(b"a\n" + (b'"' + b"\nx" * size + b'"\n') * 5)
    assert quoted < plain * 20
