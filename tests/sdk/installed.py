"""The SDK as an integrator has it: its wheel, in a virtual environment with nothing else."""

import fcntl
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.markdown_page import ROOT


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
        """The output of its Python, which cannot import anything of this repository."""
        with self.started(*arguments, env=env or {}) as process:
            printed, wrong = process.communicate(timeout=60)
        assert process.returncode == 0, wrong
        return printed

    @contextmanager
    def started(self, *arguments: str, env: dict[str, str]) -> Generator[subprocess.Popen[str]]:
        """A process of its Python that ends with the block."""
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
    """Build and install, unless another process has done so."""
    installed = Installed(folder)
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            # The wheel is built from the sdist, which proves that the sdist is complete.
            _uv("build", str(ROOT / "sdk"), "--out-dir", str(folder / "dist"))
            _uv("venv", "--clear", "--python", sys.executable, str(folder / "venv"))
            _uv("pip", "install", "--python", str(installed.python), str(installed.wheel))
            (folder / "done").touch()
    return installed


def _uv(*arguments: str) -> None:
    """Run uv with the cache that `make setup` has filled, or else with the index."""
    if subprocess.run(["uv", "-q", "--offline", *arguments], check=False, capture_output=True).returncode:
        subprocess.run(["uv", "-q", *arguments], check=True)
