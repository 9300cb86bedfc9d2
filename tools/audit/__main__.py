"""`python -m tools.audit`: the lock files by themselves, then what the databases of vulnerabilities know of them.

It ends with 1 if anything is wrong. Where no database can be reached it says so, and ends with 0 if the rest is good.
"""

import argparse
import sys
from pathlib import Path
from typing import Final

from tools.audit import advisories, licences, lock_files, npm_lock

ROOT: Final = Path(__file__).parents[2]
NPM_FOLDERS: Final = ("tools", "sdk-js")
UNREACHED: Final = (
    "The database of {what} cannot be reached from here: the lock files were checked, known vulnerabilities were not."
)


def run() -> int:
    parser = argparse.ArgumentParser(prog="tools.audit")
    parser.add_argument("--requirements", type=Path, help="audit this file alone, instead of the lock files")
    parser.add_argument("--osv-url", help="ask this database instead of PyPI's and OSV's")
    parser.add_argument("--seconds", type=int, default=10, help="how long the database may take to answer")
    given = parser.parse_args()
    files = [given.requirements] if given.requirements else [ROOT / name for name in lock_files.LOCKED]
    found = _offline(given.requirements)
    if found:
        # A requirement that is not pinned cannot be looked up.
        print("\n".join(found))
        return 1
    print("The lock files are pinned, hashed, consistent, and under licences that are allowed.")
    found = _report("Python's vulnerabilities", advisories.of_python(files, given.osv_url, given.seconds))
    if given.requirements is None:
        for folder in NPM_FOLDERS:
            found += _report(f"npm's vulnerabilities, for {folder}", advisories.of_npm(ROOT / folder, given.seconds))
    return 1 if found else 0


def _offline(only: Path | None) -> list[str]:
    if only is not None:
        return list(lock_files.faults_of(only.read_text()))
    pins = [pin for name in lock_files.LOCKED for pin in lock_files.pins((ROOT / name).read_text())]
    return [*lock_files.faults(ROOT), *licences.faults(pins), *(fault for name in NPM_FOLDERS for fault in _npm(name))]


def _npm(folder: str) -> list[str]:
    manifest, lock = ((ROOT / folder / name).read_text() for name in ("package.json", "package-lock.json"))
    return [f"{folder}: {fault}" for fault in npm_lock.faults(manifest, lock)]


def _report(what: str, found: list[str] | None) -> list[str]:
    if found is None:
        print(UNREACHED.format(what=what))
    else:
        print("\n".join(found) or f"The database of {what} knows of none here.")
    return found or []


if __name__ == "__main__":
    sys.exit(run())
