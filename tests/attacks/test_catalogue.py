"""The attacks as a whole: each finding of the security review is among them, and their number only grows.

They are read as text: a run of one class of attack collects the others no more.
"""

import re
from pathlib import Path

import pytest

FILES = [path for path in Path(__file__).parent.rglob("test_*.py") if path != Path(__file__)]
TEXT = "\n".join(path.read_text() for path in FILES)
FINDINGS = range(1, 21)
# Functions; with their parameters there are eight times as many.
AT_LEAST = 430


def test_there_are_enough_attempts() -> None:
    assert len(re.findall(r"^ *(?:async )?def test_", TEXT, re.MULTILINE)) >= AT_LEAST


@pytest.mark.parametrize("finding", FINDINGS)
def test_each_finding_is_attempted_again(finding: int) -> None:
    assert f"mark.finding({finding})" in TEXT
