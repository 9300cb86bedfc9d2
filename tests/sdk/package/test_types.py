"""Types as an integrator sees them: pyright and mypy, both strict, against the installed wheel."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sdk.installed import Installed

HERE = Path(__file__).parent
CONSUMER = (HERE / "typed_consumer.py").read_text()
MISTAKES = (HERE / "typed_mistakes.txt").read_text()


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A folder outside this repository, so that `gatepass_sdk` can only be the wheel."""
    (tmp_path / "consumer.py").write_text(CONSUMER)
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict", "pythonVersion": "3.11"}))
    return tmp_path


def checked(program: Path, tool: str, *arguments: str) -> str:
    found = subprocess.run(
        [str(Path(sys.executable).with_name(tool)), *arguments],
        cwd=program,
        check=False,
        capture_output=True,
        text=True,
    )
    assert found.returncode in (0, 1), found.stderr
    return found.stdout


def test_pyright_knows_every_type_and_finds_every_mistake(installed: Installed, program: Path) -> None:
    output = json.loads(checked(program, "pyright", "--outputjson", "--pythonpath", str(installed.python)))
    assert output["summary"]["filesAnalyzed"] == 2
    require_every_mistake(
        {(Path(one["file"]).name, one["range"]["start"]["line"] + 1) for one in output["generalDiagnostics"]}
    )


def test_mypy_knows_every_type_and_finds_every_mistake(installed: Installed, program: Path) -> None:
    at = ["--python-executable", str(installed.python), "--cache-dir", str(program / "cache")]
    output = checked(program, "mypy", "--strict", *at, "-m", "consumer", "-m", "mistakes")
    require_every_mistake(
        {(name, int(line)) for name, line in re.findall(r"^(.+\.py):(\d+): error", output, re.MULTILINE)}
    )


def test_mypy_finds_nothing_in_the_package(tmp_path: Path) -> None:
    """In this environment, which has typer for the command line."""
    output = checked(tmp_path, "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "-p", "gatepass_sdk")
    assert "Success" in output, output


def require_every_mistake(found: set[tuple[str, int]]) -> None:
    wrong = {n for n, line in enumerate(MISTAKES.splitlines(), 1) if line.endswith("# wrong")}
    assert found == {("mistakes.py", n) for n in wrong}
