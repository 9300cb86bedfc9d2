"""Wheels and sdists of both packages, from the tracked files alone, so that the same commit gives the same bytes."""

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PROJECTS: Final = (".", "sdk")


@dataclass(frozen=True)
class Surroundings:
    """What differs between two machines and must not be seen in what they build."""

    umask: int
    zone: str
    hash_seed: str
    newest_first: bool


HERE: Final = Surroundings(umask=0o022, zone="UTC", hash_seed="0", newest_first=False)
ELSEWHERE: Final = Surroundings(umask=0o077, zone="Asia/Kolkata", hash_seed="4711", newest_first=True)


def epoch(root: Path = ROOT) -> int:
    """The time of the last commit, in seconds: it stands in every archive instead of the time of the build."""
    return int(_git(root, "log", "-1", "--format=%ct"))


def uncommitted(root: Path = ROOT) -> list[str]:
    return _git(root, "status", "--porcelain").splitlines()


def build(output: Path, work: Path, surroundings: Surroundings, root: Path = ROOT) -> None:
    """Copy the tracked files into `work`, as another machine would have them, and build into `output`."""
    before = os.umask(surroundings.umask)
    try:
        names = [name for name in _git(root, "ls-files", "-z").split("\0") if name and (root / name).is_file()]
        for name in sorted(names, reverse=surroundings.newest_first):
            target = work / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, target)
        for project in PROJECTS:
            run_hatchling(work / project, output, surroundings, epoch(root))
    finally:
        os.umask(before)


def run_hatchling(folder: Path, output: Path, surroundings: Surroundings, at: int, *targets: str) -> None:
    """Hatchling is locked in deploy/requirements-build.txt and installed from there: nothing is downloaded."""
    chosen = [word for target in targets or ("sdist", "wheel") for word in ("-t", target)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *chosen, "-d", str(output)],
        cwd=folder,
        check=True,
        capture_output=True,
        env={
            "PATH": os.environ["PATH"],
            "SOURCE_DATE_EPOCH": str(at),
            "PYTHONHASHSEED": surroundings.hash_seed,
            "TZ": surroundings.zone,
        },
    )


def build_from_sdist(sdist: Path, output: Path, work: Path, at: int) -> None:
    """The wheel as a distribution would build it."""
    with tarfile.open(sdist) as archive:
        archive.extractall(work, filter="data")
    run_hatchling(work / sdist.name.removesuffix(".tar.gz"), output, HERE, at, "wheel")


def differences(one: Path, other: Path) -> list[str]:
    """The names of files that are not the same in both folders."""
    names = {path.name for folder in (one, other) for path in folder.iterdir()}
    return sorted(name for name in names if _content(one / name) != _content(other / name))


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _git(root: Path, *words: str) -> str:
    program = shutil.which("git") or "git"
    return subprocess.run([program, *words], cwd=root, check=True, capture_output=True, text=True).stdout
