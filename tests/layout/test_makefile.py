"""The Makefile: `make help` lists every target, and a target that lacks a program names its Debian package."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.layout.tree import ROOT

pytestmark = pytest.mark.processes

TEXT = (ROOT / "Makefile").read_text()
PHONY = [name for line in re.findall(r"^\.PHONY: (.+)$", TEXT, re.MULTILINE) for name in line.split()]
TARGETS = re.findall(r"^([\w./-]+):(?!=)", TEXT, re.MULTILINE)
# These are files, not names of work to do.
FILES = {"sdk-js/node_modules", "tools/node_modules"}
WITHIN = 60


def make(target: str, **env: str) -> subprocess.CompletedProcess[str]:
    """As a person calls it, also where the tests themselves were started by make."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    program = shutil.which("make")
    assert program
    return subprocess.run(
        [program, target],
        cwd=ROOT,
        env=inherited | {"LC_ALL": "C"} | env,
        check=False,
        capture_output=True,
        text=True,
        timeout=WITHIN,
    )


def test_a_clean_clone_has_what_each_target_uses() -> None:
    """A target that opens pages (they are checked with axe) or calls a program of npm brings its packages first."""
    rules = re.findall(r"^([\w-]+):(.*)\n((?:\t.*\n)+)", TEXT, re.MULTILINE)
    using = {name: needs for name, needs, recipe in rules if re.search("tools/node_modules|tests/browser", recipe)}
    assert {"browser", "styles"} <= using.keys()
    assert [name for name, needs in using.items() if "tools/node_modules" not in needs.split("##")[0]] == []


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder of programs that holds bash alone."""
    for name in ("bash", "env"):
        (tmp_path / name).symlink_to(shutil.which(name) or "")
    return tmp_path


def test_every_target_is_phony_or_a_file() -> None:
    assert sorted(PHONY) == sorted(name for name in TARGETS if name not in FILES and not name.startswith("."))
    assert len(PHONY) == len(set(PHONY)) > 30


def test_every_target_has_a_line_of_help() -> None:
    explained = re.findall(r"^([\w-]+):.*\S  ## \S|^([\w-]+):  ## \S", TEXT, re.MULTILINE)
    assert {first or second for first, second in explained} == set(PHONY)


def test_help_lists_every_target_in_columns() -> None:
    lines = make("help").stdout.splitlines()
    listed = [re.fullmatch(r"  make (\S+)(  +)(\S.*)", line) for line in lines]
    assert [found and found[1] for found in listed] == [name for name in TARGETS if name in PHONY]
    assert len({found.start(3) for found in listed if found}) == 1


@pytest.mark.parametrize(
    ("target", "packages"),
    [
        ("test", "openssl poppler-utils redis-server"),
        ("bench", "wrk"),
        ("bench-peer", "wrk redis-server"),
        ("docs-check", "chromium-headless-shell fonts-dejavu-core curl git jq"),
    ],
)
def test_a_missing_program_is_one_line_with_its_package(bare: Path, target: str, packages: str) -> None:
    made = make(target, PATH=str(bare), HEADLESS_SHELL=str(bare / "chromium-headless-shell"))
    assert made.returncode == 2
    assert made.stdout == f"make {target} needs packages that are missing; on Debian: apt install {packages}\n"
    assert made.stderr.splitlines() == [f"make: *** [Makefile:{line_of(target)}: {target}] Error 1"]


def line_of(target: str) -> int:
    """The first line of its recipe."""
    return TEXT.splitlines().index(next(line for line in TEXT.splitlines() if line.startswith(f"{target}:"))) + 2


@pytest.mark.parametrize("target", ["acceptance-18", "sdk-check"])
def test_a_missing_folder_of_acceptance_checks_is_one_line(tmp_path: Path, target: str) -> None:
    folder = tmp_path / "elsewhere"
    made = make(target, ACCEPTANCE=str(folder))
    assert made.returncode == 2
    assert made.stdout == (
        f"make {target} needs the acceptance checks, and there is no {folder}: set ACCEPTANCE to their folder\n"
    )


def test_the_bench_lists_its_targets() -> None:
    listed = re.findall(r"^    make (bench\S*)", (ROOT / "bench" / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(name for name in PHONY if name.startswith("bench"))
