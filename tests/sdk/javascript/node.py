"""Node, and the SDK for JavaScript as a user has it: its tarball, installed in a project with nothing else."""

import fcntl
import json
import os
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.markdown_page import ROOT

SDK = ROOT / "sdk-js"
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Project:
    """A project outside of this repository."""

    folder: Path

    @property
    def tarball(self) -> Path:
        (found,) = self.folder.glob("*.tgz")
        return found

    @property
    def package(self) -> Path:
        return self.folder / "node_modules" / "@gatepass" / "sdk"

    def run(self, file: str, text: str, env: Mapping[str, str] | None = None) -> str:
        """What this file prints in this project, without an error or a warning."""
        with self.started(file, text, env or {}) as process:
            printed, wrong = process.communicate(timeout=60)
        assert (process.returncode, wrong) == (0, ""), wrong
        return printed

    @contextmanager
    def started(self, file: str, text: str, env: Mapping[str, str]) -> Generator[subprocess.Popen[str]]:
        """A process of this file that ends with the block."""
        (self.folder / file).write_text(text)
        with subprocess.Popen(
            ["node", file],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            yield process
            process.kill()


def install(folder: Path) -> Project:
    """Build, pack and install, unless another process has done so."""
    project = Project(folder)
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            npm("pack", "--pack-destination", str(folder), cwd=SDK)
            (folder / "package.json").write_text(json.dumps({"private": True, "type": "module"}))
            # It has no dependency, so that no registry is asked.
            npm("install", "--offline", "--no-audit", "--no-fund", project.tarball.name, cwd=folder)
            (folder / "done").touch()
    return project


def npm(*arguments: str, cwd: Path) -> str:
    done = subprocess.run(["npm", *arguments], cwd=cwd, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tool(name: str, *arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """A development dependency of the SDK: `tsc` or `esbuild`."""
    program = SDK / "node_modules" / ".bin" / name
    return subprocess.run([str(program), *arguments], cwd=cwd, check=False, capture_output=True, text=True)


def bundled(source: str, folder: Path) -> Path:
    """A program of this folder with all that it imports, for Node."""
    program = folder / source.replace(".mts", ".mjs")
    options = ["--bundle", "--format=esm", "--target=es2022", "--platform=node", "--log-level=warning"]
    done = tool("esbuild", source, *options, f"--outfile={program}", cwd=HERE)
    assert done.returncode == 0, done.stderr
    return program


def ran(program: Path, given: Any, *, within: float = 600) -> Any:
    """What this program prints for this input, both as JSON."""
    text = json.dumps(given)
    done = subprocess.run(
        ["node", str(program)], input=text, check=False, capture_output=True, text=True, timeout=within
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)
