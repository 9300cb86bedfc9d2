"""The Dockerfile, read and run without Docker: its build stage as plain commands, in a folder instead of /."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy/Dockerfile"
IGNORED = ROOT / ".dockerignore"
WITHIN = 300


@dataclass
class Image:
    """The last stage. Its files are under `folder`, as if that were the root."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict[str, str])
    entrypoint: list[str] = field(default_factory=list[str])
    command: list[str] = field(default_factory=list[str])
    health: list[str] = field(default_factory=list[str])
    stop_signal: Signals = Signals.SIGTERM
    user: str = ""


def instructions(path: Path = DOCKERFILE) -> list[tuple[str, str]]:
    """Each instruction with its text; continued lines are joined, comments are left out."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.lstrip().startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ")
    return [(word, text.strip()) for word, _, text in (line.partition(" ") for line in whole.splitlines())]


def build(folder: Path) -> Image:
    """Run the build stage, then read the last one."""
    found = instructions()
    second = [n for n, (word, _) in enumerate(found) if word == "FROM"][1]
    work = folder
    for word, text in found[1:second]:
        match word:
            case "WORKDIR":
                work = folder / text.lstrip("/")
                work.mkdir(parents=True)
            case "COPY":
                _copy(text, work)
            case "RUN":
                _run(text, folder, work)
            case _:
                raise AssertionError(f"no support for {word} here")
    return _last_stage(found[second + 1 :], Image(folder))


def read(folder: Path) -> Image:
    """The last stage alone, for tests that need no files."""
    found = instructions()
    second = [n for n, (word, _) in enumerate(found) if word == "FROM"][1]
    return _last_stage(found[second + 1 :], Image(folder))


def _last_stage(found: list[tuple[str, str]], image: Image) -> Image:
    for word, text in found:
        match word:
            case "COPY":
                source, place = re.sub(r"^--from=build ", "", text).split()
                assert source == place, "a virtual environment runs only under the path under which it was built"
            case "ENV":
                image.env |= dict(pair.split("=", 1) for pair in shlex.split(text))
            case "ENTRYPOINT":
                image.entrypoint = json.loads(text)
            case "CMD":
                image.command = json.loads(text)
            case "HEALTHCHECK":
                image.health = json.loads(text.partition("CMD ")[2])
            case "STOPSIGNAL":
                image.stop_signal = Signals[text]
            case "USER":
                image.user = text
            case "LABEL" | "EXPOSE":
                pass
            case _:
                raise AssertionError(f"no support for {word} here")
    path = image.env["PATH"].replace("$PATH", os.environ["PATH"])
    image.env["PATH"] = f"{image.folder}{path}"
    return image


def _run(command: str, folder: Path, work: Path) -> None:
    """Use the base Python of this virtual environment, without our packages, as that of the base image."""
    python = Path(sys.base_prefix) / "bin"
    path = f"{python}:{os.environ['PATH']}"
    here = re.sub(r"(?<!\S)/opt/", f"{folder}/opt/", command)
    ran = subprocess.run(
        ["/bin/sh", "-c", here],
        cwd=work,
        env={**os.environ, "PATH": path},
        check=False,
        capture_output=True,
        text=True,
        timeout=WITHIN,
    )
    assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"


def _copy(text: str, work: Path) -> None:
    *sources, place = text.split()
    for source in sources:
        sent = [path for path in _files(ROOT / source) if not is_ignored(path)]
        assert sent, f"no file of {source} is sent to the builder"
        for path in sent:
            inside = path.name if (ROOT / source).is_file() else path.relative_to(ROOT / source)
            there = work / place / inside
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, there)


def _files(path: Path) -> Iterator[Path]:
    return (one for one in path.rglob("*") if one.is_file()) if path.is_dir() else iter([path])


def is_ignored(path: Path) -> bool:
    """As Docker reads .dockerignore: the last pattern that matches the path, or a folder above it, decides."""
    relative = path.relative_to(ROOT)
    names = [str(relative), *(str(parent) for parent in relative.parents[:-1])]
    ignored = False
    for line in IGNORED.read_text().splitlines():
        if line and not line.startswith("#"):
            pattern = re.escape(line.removeprefix("!")).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*")
            if any(re.fullmatch(pattern, name) for name in names):
                ignored = not line.startswith("!")
    return ignored
