"""The real `gatepass` command, as a person runs it: in a folder of its own, with no settings but those given."""

import os
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.processes import PROGRAM
from tests.warm.processes import WarmProcess

WITHIN = 60.0


@dataclass(frozen=True)
class Command:
    folder: Path
    env: dict[str, str] = field(default_factory=dict[str, str])
    is_cold: bool = False

    @property
    def cold(self) -> "Command":
        """Started as it is installed. One test of each command does so, because it takes longer."""
        return replace(self, is_cold=True)

    def having(self, **more: str) -> "Command":
        return replace(self, env={**self.env, **more})

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        with self._start(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                out, err = process.communicate(timeout=WITHIN)
            finally:
                process.kill()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    @contextmanager
    def started(self, *arguments: str, stderr: int = subprocess.DEVNULL) -> Generator[subprocess.Popen[str]]:
        """A running process, killed at the end. With `stderr=STDOUT` its log can be read too."""
        with self._start(arguments, stdout=subprocess.PIPE, stderr=stderr) as process:
            try:
                yield process
            finally:
                process.kill()

    def _start(self, arguments: Sequence[str], *, stdout: int, stderr: int) -> subprocess.Popen[str]:
        command, environment = [PROGRAM, *arguments], self._environment()
        if self.is_cold:
            return subprocess.Popen(command, cwd=self.folder, env=environment, stdout=stdout, stderr=stderr, text=True)
        return WarmProcess(command, environment, folder=self.folder, stdout=stdout, stderr=stderr)

    def _environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GATEPASS_")}
        return {**inherited, "COLUMNS": "200", **self.env}


def line_with(process: subprocess.Popen[str], text: str) -> str:
    """Read the output of the process until a line contains this text."""
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return line
    raise AssertionError(f"the process ended without saying {text!r}")
