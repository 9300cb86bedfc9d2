"""Attempts to slip foreign code into the pages: a vendored file that was changed, added or swapped is found."""

import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import httpx2
import pytest

from tests.processes import GatepassProcess
from tools import vendored
from tools.vendored import ROOT, Package

pytestmark = pytest.mark.finding(19)

STUDIO = Path("gatepass/studio/static")
PACKAGES = vendored.packages()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The vendored files and their record, to be changed."""
    shutil.copytree(ROOT / STUDIO, tmp_path / STUDIO)
    for folder in {package.folder for package in PACKAGES}:
        shutil.copytree(ROOT / folder, tmp_path / folder, dirs_exist_ok=True)
    shutil.copy(ROOT / vendored.RECORD, tmp_path)
    assert vendored.faults(tmp_path) == []
    return tmp_path


def test_every_file_is_recorded_and_is_what_the_record_says() -> None:
    assert vendored.faults() == []
    assert {package.name for package in PACKAGES} >= {"scalar", "htmx", "inter", "lucide"}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda one: one.name)
def test_a_changed_byte_is_found(copy: Path, package: Package) -> None:
    for name in package.files:
        path = copy / package.folder / name
        good = path.read_bytes()
        path.write_bytes(good[:-2] + bytes([good[-2] ^ 1]) + good[-1:])
        assert vendored.faults(copy) == [
            f"{package.folder}/{name} is not the file that {package.package} {package.version} has"
        ]
        path.write_bytes(good)


def add_to_package(root: Path) -> None:
    (root / STUDIO / "htmx" / "hx-extension.js").write_text("alert(1)\n")


def add_folder(root: Path) -> None:
    (root / STUDIO / "analytics").mkdir()
    (root / STUDIO / "analytics" / "beacon.js").write_text("fetch('/')\n")


def add_minified(root: Path) -> None:
    (root / STUDIO / "jquery.js").write_text("(()=>{" + "let a=1;" * 200 + "})()")


def add_binary(root: Path) -> None:
    (root / "gatepass" / "api" / "decoder.wasm").write_bytes(b"\0asm")


def remove(root: Path) -> None:
    (root / STUDIO / "htmx" / "htmx.js").unlink()


def remove_licence(root: Path) -> None:
    (root / STUDIO / "fonts" / "LICENSE").unlink()


def swap(root: Path) -> None:
    icons = root / STUDIO / "icons"
    shutil.copy(icons / "x.svg", icons / "check.svg")


def relicense(root: Path) -> None:
    record = root / vendored.RECORD
    record.write_text(record.read_text().replace('licence = "0BSD"', 'licence = "AGPL-3.0-only"'))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (add_to_package, "htmx/hx-extension.js is not in vendored.toml"),
        (add_folder, "analytics/beacon.js is not in vendored.toml"),
        (add_minified, "jquery.js was built from something"),
        (add_binary, "decoder.wasm is not in vendored.toml"),
        (remove, "htmx.js is recorded and is not there"),
        (remove_licence, "fonts/LICENSE is recorded and is not there"),
        (swap, "check.svg is not the file that lucide-static"),
        (relicense, "AGPL-3.0-only, which is not allowed here"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_file_that_is_not_recorded_is_found(copy: Path, change: Callable[[Path], None], said: str) -> None:
    change(copy)
    (fault,) = vendored.faults(copy)
    assert said in fault


def test_the_service_sends_the_recorded_bytes(server: GatepassProcess) -> None:
    sent = 0
    for package in PACKAGES:
        for name, (_, checksum) in package.files.items():
            if package.folder.startswith(str(STUDIO)) and name != "LICENSE":
                path = f"{package.folder.removeprefix(str(STUDIO))}/{name}"
                answer = httpx2.get(f"{server.url}/studio/static{path}")
                assert sha256(answer.content).hexdigest() == checksum
                sent += 1
    assert sent > 40
