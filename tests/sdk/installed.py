"""The SDK as an integrator has it: its wheel, in a virtual environment with nothing else."""

import fcntl
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.page import ROOT


@dataclass(frozen=True)
class Installed:
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "venv" / "bin" / "python"

    @property
    def wheel(self) -> Path:
        (found,) = (self.folder / "dist").glob("*.whl")
        return found

    @property
    def sdist(self) -> Path:
        (found,) = (self.folder / "dist").glob("*.tar.gz")
        return found

    def run(self, *arguments: str, env: dict[str, str] | None = None) -> str:
        """What its Python prints; it sees nothing of this repository."""
        with self.started(*arguments, env=env or {}) as process:
            printed, wrong = process.communicate(timeout=60)
        assert process.returncode == 0, wrong
        return printed

    @contextmanager
    def started(self, *arguments: str, env: dict[str, str]) -> Generator[subprocess.Popen[str]]:
        """A process of its Python, that ends with the block."""
        with subprocess.Popen(
            [str(self.python), "-W", "error", *arguments],
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            yield process
            process.kill()


def install(folder: Path) -> Installed:
    """Build and install, or find that another process has."""
    installed = Installed(folder)
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            # The wheel is built of the sdist, so that this is whole too.
            _uv("build", str(ROOT / "sdk"), "--out-dir", str(folder / "dist"))
            _uv("venv", "--clear", "--python", sys.executable, str(folder / "venv"))
            _uv("pip", "install", "--python", str(installed.python), str(installed.wheel))
            (folder / "done").touch()
    return installed


def _uv(*arguments: str) -> None:
    """From what `make setup` has left in uv's cache, or else from the index."""
    if subprocess.run(["uv", "-q", "--offline", *arguments], check=False, capture_output=True).returncode:
        subprocess.run(["uv", "-q", *arguments], check=True)
