"""The tables of the benches are whole where there is no terminal: in a pipe, in the log of CI."""

import os
import re
import subprocess
import sys
from io import StringIO

import pytest
from rich.console import Console

from tests.bench.all_tables import print_all
from tests.markdown_page import ROOT

# A shell may export these although stdout is a pipe.
PIPES = [{}, {"COLUMNS": "80", "FORCE_COLOR": "1", "TERM": "xterm-256color"}]


def printed_at(width: int) -> str:
    text = StringIO()
    print_all(Console(file=text, width=width))
    return text.getvalue()


def cells(text: str) -> list[str]:
    """Headings and values, in their order."""
    return [cell.strip() for line in text.splitlines() for cell in re.split("[│┃]", line)[1:-1]]


@pytest.mark.parametrize("env", PIPES, ids=str)
def test_tables_are_whole_in_a_pipe(env: dict[str, str]) -> None:
    inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR", "TERM")}
    printed = subprocess.run(
        [sys.executable, "-m", "tests.bench.all_tables"],
        cwd=ROOT,
        env=inherited | env,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert cells(printed) == cells(printed_at(1_000))
    assert "…" not in printed
    assert "\x1b" not in printed


def test_there_is_a_table_of_each_bench() -> None:
    headings = ["scenario", "size", "system", "step", "scans", "messages"]
    assert [cell for cell in cells(printed_at(1_000)) if cell in headings] == [*headings[:3], "scans", *headings[3:]]


def test_rich_shortens_them_at_80_columns() -> None:
    """Else the test above would prove nothing."""
    assert "…" in printed_at(80)
