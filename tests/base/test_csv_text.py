"""Cells that a spreadsheet shows and does not run."""

import csv
import io

import pytest

from gatepass.base.csv_text import safe_cell, safe_line


@pytest.mark.parametrize("text", ["=1+1", "+49 30", "-2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=", "=HYPERLINK(1)"])
def test_what_looks_like_a_formula_becomes_text(text: str) -> None:
    assert safe_cell(text) == "'" + text


@pytest.mark.parametrize("text", ["", "Ada", "a=b", "1-2", "'=1", " =1", "é", "a@b.example"])
def test_everything_else_stays_as_it_is(text: str) -> None:
    assert safe_cell(text) == text


def test_a_line_reads_back_as_it_was() -> None:
    cells = ["a,b", 'say "hi"', "two\nlines", "=1", None, "é"]
    (read,) = csv.reader(io.StringIO(safe_line(cells), newline=""))
    assert read == ["a,b", 'say "hi"', "two\nlines", "'=1", "", "é"]
