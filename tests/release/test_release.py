"""A release: the same bytes from two builds, complete, without anything that does not belong into it, and it runs."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

import gatepass_sdk
from gatepass import __version__
from gatepass.domain.keys import Mode, make_key
from tools import vendored
from tools.audit import lock_files
from tools.release.build import ROOT, differences

SECRET = re.compile(rb"svc_(?:live|test)_[0-9A-Za-z]{37}|whsec_[0-9A-Za-z+/]{40}|-----BEGIN [A-Z ]*PRIVATE KEY")
# The webhook secrets of the examples in the OpenAPI document and in the studio's playground.
EXAMPLES = re.compile(rb"whsec_(?:VGhpcyBpcyBhbiBleGFtcGxlLCBub3QgYSBz|C2FVsBQIhrscChlQIMV\+b5sSYspob7oD)\S+")
# The documents that the studio shows.
DOCUMENTS = "gatepass/studio/docs/"
WHEEL = f"gatepass-{__version__}-py3-none-any.whl"
SDK_WHEEL = f"gatepass_sdk-{gatepass_sdk.__version__}-py3-none-any.whl"


def tracked(folder: str) -> set[str]:
    listed = subprocess.run(["git", "ls-files", "-z", folder], cwd=ROOT, check=True, capture_output=True, text=True)
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}


def files(archive: Path) -> Iterator[tuple[str, bytes]]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            yield from ((name, wheel.read(name)) for name in wheel.namelist())
    else:
        with tarfile.open(archive) as sdist:
            for member in sdist.getmembers():
                content = sdist.extractfile(member)
                yield member.name.partition("/")[2], content.read() if content else b""


def packages(dist: Path) -> list[Path]:
    return [path for path in dist.iterdir() if path.suffix in (".whl", ".gz")]


def test_the_folder_has_both_packages_twice_their_sums_and_the_bill_of_materials(dist: Path) -> None:
    assert {path.name for path in dist.iterdir()} == {
        WHEEL,
        f"gatepass-{__version__}.tar.gz",
        SDK_WHEEL,
        f"gatepass_sdk-{gatepass_sdk.__version__}.tar.gz",
        f"gatepass-{__version__}.cdx.json",
        "SHA256SUMS",
    }


def test_the_sums_are_right(dist: Path) -> None:
    listed = dict(line.split("  ")[::-1] for line in (dist / "SHA256SUMS").read_text().splitlines())
    found = {path.name: sha256(path.read_bytes()).hexdigest() for path in dist.iterdir() if path.name != "SHA256SUMS"}
    assert listed == found


def test_a_changed_byte_is_a_difference(dist: Path, tmp_path: Path) -> None:
    """`make release` compares its two builds with this."""
    for path in dist.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert differences(dist, tmp_path) == []
    (tmp_path / WHEEL).write_bytes((dist / WHEEL).read_bytes() + b"\0")
    (tmp_path / SDK_WHEEL).unlink()
    assert differences(dist, tmp_path) == [WHEEL, SDK_WHEEL]


@pytest.mark.parametrize(
    ("wheel", "folder", "below"), [(WHEEL, "gatepass", ""), (SDK_WHEEL, "sdk/gatepass_sdk", "sdk/")]
)
def test_a_wheel_has_every_file_of_its_package_and_no_other(dist: Path, wheel: str, folder: str, below: str) -> None:
    """So it has the templates, the SQL, the static files and the studio's documents; no tests, no leftovers."""
    names = {below + name for name, _ in files(dist / wheel) if ".dist-info/" not in name}
    documents = {name for name in names if name.startswith(DOCUMENTS)}
    assert names - documents == tracked(folder)
    assert {name.replace(DOCUMENTS, "docs/studio/") for name in documents} == (
        tracked("docs/studio") if wheel == WHEEL else set[str]()
    )
    assert len(names) > 50


def test_an_sdist_has_the_package_and_what_describes_it(dist: Path) -> None:
    names = {name.split("/")[0] for name, _ in files(dist / f"gatepass-{__version__}.tar.gz")}
    described = {"CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml", "vendored.toml", ".gitignore"}
    assert names == {"gatepass", "docs", *described}


def test_nothing_has_a_secret_or_a_path_of_this_machine(dist: Path) -> None:
    assert SECRET.search(make_key(Mode.LIVE, "a").encode())
    for archive in packages(dist):
        for name, content in files(archive):
            assert not name.endswith((".env", ".pem", ".key", ".pyc")), name
            assert SECRET.search(EXAMPLES.sub(b"", content)) is None, name
            assert str(ROOT).encode() not in content, name


def test_the_bill_of_materials_names_every_part(dist: Path) -> None:
    document = json.loads((dist / f"gatepass-{__version__}.cdx.json").read_text())
    named = {one["purl"] for one in document["components"]}
    locked = lock_files.pins((ROOT / "requirements.txt").read_text())
    assert named >= {f"pkg:pypi/{pin.name}@{pin.version}" for pin in locked}
    assert named >= {package.purl for package in vendored.packages()}
    edges = {one["ref"]: one["dependsOn"] for one in document["dependencies"]}
    assert set(edges[f"pkg:pypi/gatepass@{__version__}"]) <= named
    assert any(
        need.startswith("pkg:pypi/starlette@") for ref, needs in edges.items() for need in needs if "fastapi" in ref
    )
    without = {one["name"] for one in document["components"] if "licenses" not in one}
    assert without <= {pin.name for pin in locked if pin.marker}  # for other systems


def test_the_wheels_run_where_nothing_else_of_ours_is(dist: Path, tmp_path: Path) -> None:
    """Their requirements are those of this environment, which the lock file installed."""
    venv = tmp_path / "venv"
    subprocess.run(["uv", "venv", "-q", "--python", sys.executable, str(venv)], check=True)
    wheels = [str(dist / name) for name in (WHEEL, SDK_WHEEL)]
    install = ["uv", "pip", "install", "-q", "--offline", "--no-deps", "--python", str(venv / "bin" / "python")]
    subprocess.run([*install, *wheels], check=True)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": sysconfig.get_path("purelib"), "HOME": str(tmp_path)}

    def run(program: str, *arguments: str) -> str:
        command = [str(venv / "bin" / program), *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True).stdout

    assert run("gatepass", "--version") == f"gatepass {__version__}\n"
    assert run("gatepass-cli", "--version") == f"gatepass-cli {gatepass_sdk.__version__}\n"
    assert "CREATE TABLE ticket" in run("gatepass", "migrate", "--sql")
    where = run("python", "-c", "import gatepass, gatepass_sdk; print(gatepass.__file__, gatepass_sdk.__file__)")
    assert all(path.startswith(str(venv)) for path in where.split())
