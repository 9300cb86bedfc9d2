"""`python -m tools.release`: build both packages twice, compare the bytes, describe and check them, fill dist/."""

import argparse
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

from gatepass import __version__
from tools.release import sbom
from tools.release.build import ELSEWHERE, HERE, ROOT, build, build_from_sdist, differences, epoch, uncommitted


def run() -> int:
    parser = argparse.ArgumentParser(prog="tools.release")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="the folder that is filled; it is emptied")
    parser.add_argument("--allow-dirty", action="store_true", help="build although changes are not committed")
    given = parser.parse_args()
    if uncommitted() and not given.allow_dirty:
        print("Commit first: a release is built from a commit, and these files differ from it.")
        print("\n".join(uncommitted()))
        return 1
    with tempfile.TemporaryDirectory(prefix="gatepass-release-") as folder:
        fault = fill(given.output, Path(folder))
    if fault:
        print(fault)
        return 1
    print((given.output / "SHA256SUMS").read_text(), end="")
    return 0


def fill(output: Path, work: Path) -> str | None:
    """Fill the folder. Returns what is wrong with it, or None."""
    one, other, third = (work / name for name in ("one", "other", "third"))
    build(one, work / "here", HERE)
    build(other, work / "an" / "other" / "folder", ELSEWHERE)
    for sdist in other.glob("*.tar.gz"):
        build_from_sdist(sdist, third, work / sdist.name, epoch())
    different = [*differences(one, other), *(name for name in differences(one, third) if name.endswith(".whl"))]
    if different:
        return f"Two builds differ: {', '.join(different)}."
    shutil.rmtree(output, ignore_errors=True)
    shutil.copytree(one, output)
    packages = sorted(str(path) for path in output.iterdir())
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *packages], check=False, capture_output=True, text=True
    )
    if checked.returncode:
        return checked.stdout
    (output / f"gatepass-{__version__}.cdx.json").write_text(sbom.written(ROOT, epoch()))
    sums = [f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(output.iterdir())]
    (output / "SHA256SUMS").write_text("".join(sums))
    return None


if __name__ == "__main__":
    sys.exit(run())
