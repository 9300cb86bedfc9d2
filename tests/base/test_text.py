"""Cells that a spreadsheet shows and does not run."""

import csv
import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepass.base.text import original_cell, safe_cell, safe_line

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+49 30", "-2", "@SUM(A1)", "=", "=HYPERLINK(1)", "\uff1d1", " =1", "\ufeff=1", '"=1', "'=1", "\xa0-1"],
)
def test_what_looks_like_a_formula_becomes_text(text: str) -> None:
    assert safe_cell(text) == "'" + text


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("x;=cmd|'/C calc'!A0", "x;'=cmd|'/C calc'!A0"),
        ("x\t=1", "x\t'=1"),
        ("x\r\n=1", "x\r\n'=1"),
        ("\t\t=1", "\t\t'=1"),
        ("=1;+2;@3", "'=1;'+2;'@3"),
        ('a; "\uff1d1', "a;' \"\uff1d1"),
    ],
)
def test_where_another_separator_would_begin_a_cell(text: str, safe: str) -> None:
    assert safe_cell(text) == safe


@pytest.mark.parametrize("text", ["", "Ada", "a=b", "1-2", "'1", "é", "a@b.example", "a; b", "two\nlines", "x, -1"])
def test_everything_else_stays_as_it_is(text: str) -> None:
    assert safe_cell(text) == text


def test_a_line_reads_back_as_it_was() -> None:
    cells = ["a,b", 'say "hi"', "two\nlines", "=1", None, "é"]
    (read,) = csv.reader(io.StringIO(safe_line(cells), newline=""))
    assert read == ["a,b", 'say "hi"', "two\nlines", "'=1", "", "é"]


@given(st.text(f"{SIGNS};|\t\r\n\v\u2028 \"',a\ufeff\u200b", max_size=20))
def test_the_original_comes_back(text: str) -> None:
    assert original_cell(safe_cell(text)) == text


@given(
    st.lists(
        st.lists(st.text(f"{SIGNS};|\t\r\n \"',a\ufeff\u200b", max_size=12), min_size=1, max_size=4),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(",;\t|"),
)
def test_no_separator_makes_a_formula(table: list[list[str]], separator: str) -> None:
    file = "".join(map(safe_line, table))
    for row in csv.reader(io.StringIO(file, newline=""), delimiter=separator):
        for cell in row:
            assert not cell.lstrip(' \t\r\n"\ufeff\u200b').startswith(tuple(SIGNS))


@pytest.mark.parametrize("text", ["\t", " ", "'", '"', ";'", "; ", "'=", ";=", "\ufeff\t"])
def test_a_long_cell_takes_linear_time(text: str) -> None:
    def seconds(size: int) -> float:
        cell = text * (size // len(text))
        began = time.thread_time()
        original_cell(safe_cell(cell))
        return time.thread_time() - began

    seconds(1_000)
    assert seconds(100_000) < 0.5
