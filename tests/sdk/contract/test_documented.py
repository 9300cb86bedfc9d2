"""The README's examples of the fake run as they are pasted."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[3] / "sdk" / "README.md"


def section() -> str:
    return README.read_text().partition("## Test without a network")[2].partition("\n## ")[0]


def test_the_example_prints_what_it_says() -> None:
    (shown,) = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", section(), re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(shown[0], {})  # noqa: S102  our own README
    assert printed.getvalue() == shown[1]


def test_the_fixture_works_in_a_suite_of_its_own(tmp_path: Path) -> None:
    (suite,) = (block for block in re.findall(r"```python\n(.*?)```", section(), re.DOTALL) if "pytest" in block)
    (tmp_path / "test_gate.py").write_text(suite)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"]
    bare = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ran = subprocess.run([*command, str(tmp_path)], cwd=tmp_path, env=bare, capture_output=True, text=True, check=False)
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr
