"""The README's terminal session happens as it is written; … stands for whatever differs."""

import os
import re
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

from tests.sdk.cli.terminal import PATIENCE, PROGRAM, Terminal

README = Path(__file__).parents[3] / "sdk" / "README.md"


def test_the_session_in_the_readme_happens(sandbox: Terminal) -> None:
    (session,) = re.findall(r"```console\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    told = session.splitlines()
    commands = "\n".join(line.removeprefix("$ ") for line in told if line.startswith("$ "))
    happened = run_in_shell(commands, sandbox).splitlines()
    expected = [line for line in told if not line.startswith("$ ")]
    assert len(happened) == len(expected), happened
    for line, pattern in zip(happened, expected, strict=True):
        assert fnmatchcase(line, pattern.replace("…", "*")), (line, pattern)


def run_in_shell(commands: str, terminal: Terminal) -> str:
    path = os.pathsep.join([str(Path(PROGRAM).parent), terminal.environment["PATH"]])
    environment = {**terminal.environment, "PATH": path}
    ran = subprocess.run(
        ["bash", "-c", commands], env=environment, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    return ran.stdout
