"""Files of others in this repository: `vendored.toml` records where each is from, and this compares.

    python -m tools.vendored          every file is recorded, with its checksum
    python -m tools.vendored --fetch  and is what the package on npm holds
    python -m tools.vendored --write  take the files from the packages; first change the version in vendored.toml

A file directly in a folder `static` is ours. One in a folder below, or of another kind, is somebody else's.
"""

import gzip
import json
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
RECORD: Final = "vendored.toml"
# Licences that allow what we do: to pass these files on, beside code under Apache-2.0.
LICENCES: Final = {
    "0BSD", "Apache-2.0", "Bitstream-Vera", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "OFL-1.1",
}  # fmt: skip
OUR_KINDS: Final = {".py", ".sql", ".html", ".md", ".mako", ".po", ".ts"}
# Their texts are templates of ours, in plain text.
LETTERS: Final = "gatepass/domain/mail/letters"
# Scripts and styles of ours, from which the files in its folder `static` are built.
SOURCE: Final = "gatepass/gate/source"
# Nobody writes such a line by hand: the file was built from something.
LONGEST_LINE: Final = 500


@dataclass(frozen=True)
class Package:
    """`files` has the name here, the name in the package, and the checksum of what is here."""

    name: str
    package: str
    version: str
    licence: str
    folder: str
    integrity: str
    files: dict[str, list[str]]
    drop_first_line: bool = False

    @property
    def purl(self) -> str:
        return f"pkg:npm/{self.package.replace('@', '%40')}@{self.version}"


def packages(root: Path = ROOT) -> list[Package]:
    return [Package(name=name, **fields) for name, fields in _record(root)["package"].items()]


def _record(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / RECORD).read_text())


def faults(root: Path = ROOT) -> list[str]:
    """A sentence for each file that is not what the record says, or that is not in it."""
    return [*_wrong_records(root), *_unrecorded(root)]


def _wrong_records(root: Path) -> Iterator[str]:
    for package in packages(root):
        if not LICENCES.issuperset(package.licence.split(" AND ")):
            yield f"{package.name} has the licence {package.licence}, which is not allowed here"
        if "LICENSE" not in {Path(name).name for name in package.files}:
            yield f"{package.name} has no LICENSE among its files"
        for name, (_, checksum) in package.files.items():
            path = root / package.folder / name
            if not path.is_file():
                yield f"{package.folder}/{name} is recorded and is not there"
            elif sha256(path.read_bytes()).hexdigest() != checksum:
                yield f"{package.folder}/{name} is not the file that {package.package} {package.version} has"


def _unrecorded(root: Path) -> Iterator[str]:
    recorded = {root / package.folder / name for package in packages(root) for name in package.files}
    built = {root / name for name in _record(root)["built"]}
    for path in sorted((root / "gatepass").rglob("*")):
        if not path.is_file() or "__pycache__" in path.parts or path in recorded | built:
            continue
        name = path.relative_to(root)
        if path.parent.name == "static":
            if max(map(len, path.read_bytes().splitlines()), default=0) > LONGEST_LINE:
                yield f"{name} was built from something, and {RECORD} does not say from what"
        elif (path.suffix not in OUR_KINDS or "static" in path.parts) and not _is_text_of_ours(name):
            yield f"{name} is not in {RECORD}"


def _is_text_of_ours(name: Path) -> bool:
    return str(name.parent) == LETTERS or name.is_relative_to(SOURCE)


def fetch(package: Package, root: Path, *, write: bool) -> Iterator[str]:
    """Compare with the package on npm, or take its files and record their checksums."""
    with tempfile.TemporaryDirectory() as folder:
        asked = ["npm", "pack", "--json", "--silent", f"{package.package}@{package.version}"]
        (packed,) = json.loads(subprocess.run(asked, cwd=folder, check=True, capture_output=True).stdout)
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
            archive.extractall(folder, filter="data")
        record = (root / RECORD).read_text().replace(package.integrity, packed["integrity"])
        if packed["integrity"] != package.integrity and not write:
            yield f"{package.package}@{package.version} has another checksum on npm"
        for name, (source, checksum) in package.files.items():
            path = root / package.folder / name
            if not source:  # a licence that the package lacks, or a file that was made of its files
                continue
            content = (Path(folder) / "package" / source).read_bytes()
            content = content.partition(b"\n")[2] if package.drop_first_line and source.endswith(".svg") else content
            is_same = content == _unpacked(path)
            if write and not is_same:
                path.write_bytes(gzip.compress(content, 9, mtime=0) if path.suffix == ".gz" else content)
            if write:
                record = record.replace(checksum, sha256(path.read_bytes()).hexdigest())
            elif not is_same:
                yield f"{package.folder}/{name} is not {source} of {package.package}@{package.version}"
    if write:
        (root / RECORD).write_text(record)


def _unpacked(path: Path) -> bytes:
    content = path.read_bytes() if path.exists() else b""
    return gzip.decompress(content) if content and path.suffix == ".gz" else content


def run(*options: str) -> int:
    found = faults() if "--write" not in options else []
    if options:
        found += [fault for package in packages() for fault in fetch(package, ROOT, write="--write" in options)]
    print("\n".join(found) or "Every vendored file is recorded, and is what the record says.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
