"""The terminal session of the README runs as it is written; … stands for any text."""

import os
import re
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

from tests.sdk.cli.terminal import PROGRAM, WAIT_SECONDS, Terminal

README = Path(__file__).parents[3] / "sdk" / "README.md"


def test_the_session_in_the_readme_happens(sandbox: Terminal) -> None:
    (session,) = re.findall(r"```console\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    lines = session.splitlines()
    commands = "\n".join(line.removeprefix("$ ") for line in lines if line.startswith("$ "))
    happened = run_in_shell(commands, sandbox).splitlines()
    expected = [line for line in lines if not line.startswith("$ ")]
    assert len(happened) == len(expected), happened
    for line, pattern in zip(happened, expected, strict=True):
        assert fnmatchcase(line, pattern.replace("…", "*")), (line, pattern)


def run_in_shell(commands: str, terminal: Terminal) -> str:
    path = os.pathsep.join([str(Path(PROGRAM).parent), terminal.environment["PATH"]])
    environment = {**terminal.environment, "PATH": path}
    ran = subprocess.run(
        ["bash", "-c", commands], env=environment, capture_output=True, text=True, timeout=WAIT_SECONDS, check=True
    )
    return ran.stdout
