"""The real `gatepass` command, as a person runs it: in a folder of its own, with no settings but those given."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

PROGRAM = str(Path(sys.executable).with_name("gatepass"))
WITHIN = 60.0


@dataclass(frozen=True)
class Command:
    folder: Path
    env: dict[str, str] = field(default_factory=dict[str, str])

    def having(self, **more: str) -> "Command":
        return replace(self, env={**self.env, **more})

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [PROGRAM, *arguments],
            cwd=self.folder,
            env=self._environment(),
            check=False,
            capture_output=True,
            text=True,
            timeout=WITHIN,
        )

    @contextmanager
    def started(self, *arguments: str, stderr: int = subprocess.DEVNULL) -> Generator[subprocess.Popen[str]]:
        """A running process, killed at the end. With `stderr=STDOUT` its log can be read too."""
        process = subprocess.Popen(
            [PROGRAM, *arguments],
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        with process:
            try:
                yield process
            finally:
                process.kill()

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
