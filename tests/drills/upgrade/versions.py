"""Earlier versions of Gatepass, exported from the history of the repository and run as processes of their own.

They run with the packages of this version: their own code is found first.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from tests.processes import GatepassProcess

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-c", "from gatepass.cli.main import run; run()"]


@dataclass(frozen=True)
class Version:
    """A tree of the source. `path` is the one of this checkout for the version of today."""

    name: str
    path: Path

    def run(self, environment: dict[str, str], *arguments: str) -> str:
        """The output of a command that ends."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            env=self._env(environment),
            cwd=self.path,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{self.name}: {arguments}\n{done.stdout}{done.stderr}"
        return done.stdout

    def launch(self, environment: dict[str, str], *arguments: str, port: int = 0) -> GatepassProcess:
        """Start a process, without waiting for it."""
        return GatepassProcess(
            subprocess.Popen(
                [*COMMAND, *arguments],
                env=self._env({"GATEPASS_PUBLIC_URL": f"http://127.0.0.1:{port}", **environment}),
                cwd=self.path,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            ),
            port,
        )

    def _env(self, environment: dict[str, str]) -> dict[str, str]:
        return {**os.environ, **environment, "PYTHONPATH": str(self.path)}


TODAY = Version("today", ROOT)


def exported(name: str, commit: str, folder: Path, *trees: str) -> Version:
    """The source of this commit, or these trees of it, in a folder of its own."""
    command = [_git(), "archive", commit, *(trees or ("gatepass",))]
    archive = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    path = folder / name
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(path, filter="data")
    return Version(name, path)


def first_commit_of(version: str) -> str:
    """The commit that gave the project this version."""
    found = subprocess.run(
        [_git(), "log", "--reverse", "--format=%H", f'-Sversion = "{version}"', "--", "pyproject.toml"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert found, f"no commit of version {version}: this needs the whole history (git fetch --unshallow)"
    return found[0]


def _git() -> str:
    return shutil.which("git") or "git"
