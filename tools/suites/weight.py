"""Lines, tests and assertions by folder, at one commit and at another: `python -m tools.suites weight BEFORE [AFTER]`.

A Python assertion is an `assert`, or a call of `raises`, `warns` or Playwright's `expect`; one of TypeScript is a
call of `assert` or `expect`. A test with parameters is counted once, as it is written.
"""

import ast
import io
import re
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from tools.suites import revision

# Folders that people write by hand; those of `tests` are told one by one.
FOLDERS = ("gatepass", "sdk", "sdk-js", "tests", "tools", "bench")
WRITTEN = {".py", ".ts", ".js", ".sql", ".html", ".css", ".toml", ".sh"}
ASSERTING = {"raises", "warns", "expect"}
TS_TEST = re.compile(r"^\s*(?:test|it)(?:\.\w+)*\(", re.MULTILINE)
TS_ASSERTION = re.compile(r"\b(?:assert(?:\.\w+)*|expect)\(")


@dataclass(frozen=True)
class Weight:
    lines: int = 0
    tests: int = 0
    assertions: int = 0

    def __add__(self, other: "Weight") -> "Weight":
        return Weight(self.lines + other.lines, self.tests + other.tests, self.assertions + other.assertions)


def of_python(text: str) -> Weight:
    tests = assertions = 0
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test_"):
                tests += 1
            case ast.Assert():
                assertions += 1
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in ASSERTING:
                assertions += 1
            case _:
                pass
    return Weight(text.count("\n"), tests, assertions)


def of_script(text: str) -> Weight:
    return Weight(text.count("\n"), len(TS_TEST.findall(text)), len(TS_ASSERTION.findall(text)))


def folder_of(path: PurePosixPath) -> str | None:
    """The folder that a file counts for, or none if nobody wrote it by hand."""
    top, *inner = path.parts
    if path.suffix not in WRITTEN or top not in FOLDERS or "vendor" in inner:
        return None
    return f"{top}/{inner[0]}" if top == "tests" and len(inner) > 1 else top


def at(commit: str) -> dict[str, Weight]:
    weights: dict[str, Weight] = {}
    for path, text in _files(commit):
        if (folder := folder_of(path)) is None:
            continue
        measured = of_python(text) if path.suffix == ".py" else of_script(text)
        is_test = path.parts[0] == "tests" or "test" in path.parts
        counted = measured if is_test else Weight(measured.lines)
        weights[folder] = weights.get(folder, Weight()) + counted
    return weights


def _files(commit: str) -> Iterator[tuple[PurePosixPath, str]]:
    packed = subprocess.run(["git", "archive", commit], cwd=revision.ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            if member.isfile() and (opened := archive.extractfile(member)):
                yield PurePosixPath(member.name), opened.read().decode(errors="replace")


def table(before: str, after: str) -> str:
    """Each figure at the later commit, with what it grew by."""
    old, new = at(before), at(after)
    head = f"{'folder':<20}{'lines':>11}{'':>8}{'tests':>8}{'':>8}{'assertions':>12}"
    rows = [_row(folder, old.get(folder, Weight()), new.get(folder, Weight())) for folder in sorted(old | new)]
    return "\n".join([head, *rows, _row("all", sum(old.values(), Weight()), sum(new.values(), Weight()))])


def _row(folder: str, was: Weight, now: Weight) -> str:
    cells = [(now.lines, was.lines, 11), (now.tests, was.tests, 8), (now.assertions, was.assertions, 12)]
    return f"{folder:<20}" + "".join(f"{new:>{width},}{new - old:>+8,}" for new, old, width in cells)
