"""Attempts to bring in a bad dependency: without a hash, from elsewhere, with a known hole, under a bad licence."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.supply_chain.osv_database import OsvDatabase, database
from tools.audit import licences, lock_files, npm_lock
from tools.audit.__main__ import ROOT, UNREACHED

pytestmark = pytest.mark.finding(20)

HASH = "--hash=sha256:" + "0" * 64
OLD_JINJA = f"jinja2==2.10 {HASH}\n"
WITHIN = 120


def audit(requirements: Path, *options: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "tools.audit", "--requirements", str(requirements), *options],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=WITHIN,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def written(folder: Path, text: str) -> Path:
    file = folder / "requirements.txt"
    file.write_text(text)
    return file


def test_our_own_lock_files_pass() -> None:
    pins = [pin for name in lock_files.LOCKED for pin in lock_files.pins((ROOT / name).read_text())]
    assert list(lock_files.faults(ROOT)) == []
    assert list(licences.faults(pins)) == []
    for folder in (ROOT / "tools", ROOT / "sdk-js"):
        manifest, lock = ((folder / name).read_text() for name in ("package.json", "package-lock.json"))
        assert list(npm_lock.faults(manifest, lock)) == []
    assert len(pins) > 150


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("jinja2", "jinja2 is not pinned to one version"),
        (f"jinja2 {HASH}", "jinja2 is not pinned to one version"),
        (f"jinja2>=3.1 {HASH}", "jinja2 is not pinned to one version"),
        (f"jinja2~=3.1.6 {HASH}", "jinja2 is not pinned to one version"),
        (f"jinja2==3.* {HASH}", "jinja2 is not pinned to one version"),
        (f"jinja2==3.1.6,!=3.1.5 {HASH}", "jinja2 is not pinned to one version"),
        (f"jinja2===3.1.6 {HASH}", "jinja2 is not pinned to one version"),
        ("jinja2==3.1.6", "jinja2 has no hash"),
        ("jinja2==3.1.6  # --hash=sha256:" + "0" * 64, "jinja2 has no hash"),
        ("jinja2==3.1.6 --hash=md5:" + "0" * 32, "jinja2 has a hash that is not sha256"),
        ("jinja2==3.1.6 --hash=sha256:0", "jinja2 has a hash that is not sha256"),
        (f"jinja2 @ https://evil.test/jinja2-3.1.6.whl {HASH}", "jinja2 comes from a URL, not from an index"),
        ("jinja2 @ git+https://evil.test/jinja2", "jinja2 comes from a URL, not from an index"),
        ("git+https://evil.test/jinja2", "git+https://evil.test/jinja2 is not a package of an index"),
        ("./jinja2-3.1.6.whl", "./jinja2-3.1.6.whl is not a package of an index"),
        ("-e ../jinja2", "-e is an option, and a lock file has none"),
        ("-r other.txt", "-r is an option, and a lock file has none"),
        ("--index-url https://evil.test/simple", "--index-url is an option, and a lock file has none"),
        ("--extra-index-url=https://evil.test/simple", "--extra-index-url=https://evil.test/simple is an option"),
        ("--find-links https://evil.test", "--find-links is an option, and a lock file has none"),
        ("--trusted-host evil.test", "--trusted-host is an option, and a lock file has none"),
        (f"jinja2==3.1.6 {HASH}\nJinja2==3.1.5 {HASH}", "jinja2 is there twice"),
    ],
)
def test_a_requirement_that_cannot_be_checked_is_refused(line: str, said: str) -> None:
    (fault,) = lock_files.faults_of(f"markupsafe==3.0.3 {HASH}\n{line}\n")
    assert fault.startswith(said)


def test_the_audit_refuses_it_without_asking_anybody(tmp_path: Path) -> None:
    with database(hangs=True) as osv:
        assert ask(tmp_path, "jinja2>=2.10\n", osv) == (1, "jinja2 is not pinned to one version\n")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The lock files and pyproject.toml, to be changed."""
    for name in ("pyproject.toml", *lock_files.LOCKED):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("requirements.txt", "jinja2==3", "jinja2==4", "jinja2 has another version in each lock file"),
        ("requirements.txt", "jinja2==3", "jinja2==2", "jinja2 is locked at 2"),
        ("requirements.txt", "jinja2==3", "jinja3==3", "jinja2 is in pyproject.toml and is not locked"),
        ("deploy/requirements-build.txt", "hatchling==1", "hatchling==0", "hatchling has another version"),
        ("pyproject.toml", '"jinja2>=3.1"', '"jinja2>=99"', "pyproject.toml asks for >=99"),
        ("pyproject.toml", '"jinja2>=3.1"', '"jinja2 @ https://evil.test/j.whl"', "comes from a URL in pyproject"),
        ("pyproject.toml", '"segno>=1.6"', '"left-pad"', "left-pad is in pyproject.toml and is not locked"),
    ],
)
def test_a_lock_file_that_was_changed_by_hand_is_found(copy: Path, file: str, old: str, new: str, said: str) -> None:
    text = (copy / file).read_text()
    assert old in text
    (copy / file).write_text(text.replace(old, new, 1))
    assert any(said in fault for fault in lock_files.faults(copy))


@pytest.mark.parametrize("licence", ["GPL-3.0-only", "AGPL-3.0", "MIT AND SSPL-1.0", "Commercial", "unknown", ""])
def test_a_licence_that_binds_us_is_refused(licence: str) -> None:
    assert not licences.is_allowed(licence)
    assert licences.is_allowed(f"({licence} OR MIT)")


def npm(**changed: Any) -> tuple[str, str]:
    package = {"version": "1.0.0", "integrity": "sha512-abc", "license": "MIT", **changed}
    lock = {"packages": {"": {}, "node_modules/left-pad": package}}
    return json.dumps({"devDependencies": {"left-pad": "1.0.0"}}), json.dumps(lock)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"integrity": ""}, "left-pad has no sha512 checksum"),
        ({"integrity": "sha1-abc"}, "left-pad has no sha512 checksum"),
        ({"resolved": "git+ssh://git@evil.test/left-pad.git"}, "left-pad does not come from the registry"),
        ({"resolved": "https://evil.test/left-pad.tgz"}, "left-pad does not come from the registry"),
        ({"resolved": "https://registry.evil.test/l.tgz"}, "left-pad does not come from the registry"),
        ({"link": True}, "left-pad does not come from the registry"),
        ({"license": "GPL-3.0"}, "left-pad has the licence 'GPL-3.0', which is not allowed"),
        ({"version": "1.0.1"}, "left-pad 1.0.0 is in package.json and is not locked"),
    ],
)
def test_a_bad_package_of_npm_is_found(changed: dict[str, Any], said: str) -> None:
    assert list(npm_lock.faults(*npm())) == []
    assert list(npm_lock.faults(*npm(**changed))) == [said]


def ask(folder: Path, text: str, osv: OsvDatabase) -> tuple[int, str]:
    return audit(written(folder, text), "--osv-url", osv.url, "--seconds", "2")


def test_a_pin_with_a_known_hole_is_reported(tmp_path: Path) -> None:
    with database(("jinja2", "2.10")) as osv:
        code, printed = ask(tmp_path, OLD_JINJA, osv)
    assert code == 1
    assert "jinja2 2.10 has PYSEC-2019-217; fixed in 3.1.6" in printed


def test_a_pin_without_one_passes(tmp_path: Path) -> None:
    with database(("jinja2", "2.10")) as osv:
        code, printed = ask(tmp_path, f"jinja2==3.1.6 {HASH}\n", osv)
    assert (code, printed.splitlines()[-1]) == (0, "The database of Python's vulnerabilities knows of none here.")


def test_a_database_that_knows_nothing_is_not_believed(tmp_path: Path) -> None:
    """As a mirror is that serves packages alone. It does not say that all is well."""
    with database() as osv:
        code, printed = ask(tmp_path, OLD_JINJA, osv)
    assert (code, printed.splitlines()[-1]) == (0, UNREACHED.format(what="Python's vulnerabilities"))


def test_a_database_that_fails_halfway_is_no_good_result(tmp_path: Path) -> None:
    with database(("jinja2", "2.10"), answers=1) as osv:
        code, printed = ask(tmp_path, OLD_JINJA, osv)
    assert (code, printed.splitlines()[-1]) == (1, "pip-audit did not end its work")


@pytest.mark.parametrize("kind", ["closed", "hangs"])
def test_a_database_that_cannot_be_reached_is_one_line_within_bounded_time(tmp_path: Path, kind: str) -> None:
    with database(hangs=kind == "hangs") as osv:
        if kind == "closed":
            osv.server_close()
        code, printed = ask(tmp_path, OLD_JINJA, osv)
    assert (code, printed.splitlines()[-1]) == (0, UNREACHED.format(what="Python's vulnerabilities"))


def test_the_real_database_reports_it_or_cannot_be_reached(tmp_path: Path) -> None:
    code, printed = audit(written(tmp_path, OLD_JINJA))
    if code == 0:
        assert printed.splitlines()[-1] == UNREACHED.format(what="Python's vulnerabilities")
    else:
        assert "jinja2 2.10 has " in printed


WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text()


def zizmor(folder: Path, workflow: str) -> tuple[int, str]:
    file = folder / ".github" / "workflows" / "ci.yml"
    file.parent.mkdir(parents=True)
    file.write_text(workflow)
    program = str(Path(sys.executable).with_name("zizmor"))
    done = subprocess.run(
        [program, "--offline", "--quiet", "--persona", "pedantic", "--no-config", str(file)],
        check=False,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        (r"actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8", "actions/checkout@main", "unpinned-uses"),
        ("permissions: {}", "permissions: write-all", "excessive-permissions"),
        ("persist-credentials: false", "clean: true", "artipacked"),
        ("  pull_request:\n", "  pull_request_target:\n", "dangerous-triggers"),
        ("run: .ci/run", 'run: echo "${{ github.event.pull_request.title }}"', "template-injection"),
    ],
)
def test_a_workflow_that_lets_strangers_in_is_refused(tmp_path: Path, old: str, new: str, rule: str) -> None:
    assert old in WORKFLOW
    code, printed = zizmor(tmp_path, WORKFLOW.replace(old, new))
    assert code != 0
    assert rule in printed


def test_our_workflow_passes(tmp_path: Path) -> None:
    assert zizmor(tmp_path, WORKFLOW)[0] == 0
