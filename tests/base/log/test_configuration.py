"""The log: one line for each event, whatever a value holds, in both formats."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.processes

PROGRAM = """
import sys
from gatepass.base import log
log.configure("info", sys.argv[1])
log.logger("test").info("refused", path=sys.argv[2], token="secret-of-somebody")
"""


def written(style: str, text: str) -> str:
    done = subprocess.run([sys.executable, "-c", PROGRAM, style, text], check=True, capture_output=True, text=True)
    return done.stderr


@pytest.mark.parametrize("style", ["json", "console"])
@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\x1b[2Kb", "a\u2028b", "a\x85b", "a\x0bb"])
def test_a_value_stays_on_its_line(style: str, text: str) -> None:
    line = written(style, text)
    assert line.count("\n") == 1
    assert line.strip("\n").isprintable()
    assert len(line.splitlines()) == 1
    assert "secret-of-somebody" not in line


def test_a_line_is_json() -> None:
    line = json.loads(written("json", "a\nb"))
    assert (line["event"], line["path"], line["level"]) == ("refused", "a\\nb", "info")
