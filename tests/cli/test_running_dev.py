"""How commands find a running `gatepass dev`: its file, its lock, and whose file it is."""

import json
import os
import stat
from pathlib import Path

import pytest

from gatepass.cli import running_dev
from tests.cli.command import Command

ENVIRONMENT = {"GATEPASS_DATABASE_URL": "postgresql://gatepass@127.0.0.1:1/nowhere"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(home: Path) -> list[Path]:
    return sorted((home / ".gatepass").iterdir())


def test_it_is_found_here_and_below_until_it_ends(home: Path) -> None:
    below = home / "a" / "b"
    below.mkdir(parents=True)
    assert running_dev.find(home) is None
    with running_dev.announced(ENVIRONMENT):
        assert running_dev.find(home) == running_dev.RunningDev(home, ENVIRONMENT)
        assert running_dev.find(below) == running_dev.RunningDev(home, ENVIRONMENT)
        (file,) = files(home)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert running_dev.find(home) is None
    assert files(home) == []


def test_the_file_of_one_that_was_killed_is_removed(home: Path) -> None:
    """A process that is killed leaves its file, and the lock is gone with it."""
    (home / ".gatepass").mkdir()
    stale = home / ".gatepass" / "running-1.json"
    stale.write_text(json.dumps(ENVIRONMENT))
    assert running_dev.find(home) is None
    assert not stale.exists()


def test_a_file_of_somebody_else_does_not_count(home: Path) -> None:
    """Whoever can write above our folder could otherwise send us to a database of theirs."""
    if os.getuid() != 0:
        pytest.skip("only root can give a file away")
    with running_dev.announced(ENVIRONMENT):
        (file,) = files(home)
        os.chown(file, 65534, 65534)
        assert running_dev.find(home) is None
        assert file.exists(), "and it is not removed"


@pytest.mark.parametrize("content", ["", "{", "[]", '"text"'])
def test_a_file_that_cannot_be_read_does_not_count(home: Path, content: str) -> None:
    with running_dev.announced(ENVIRONMENT):
        (file,) = files(home)
        file.write_text(content)
        assert running_dev.find(home) is None


def test_a_command_uses_it_and_says_so(gatepass: Command, home: Path) -> None:
    with running_dev.announced(ENVIRONMENT):
        told = Command(home, gatepass.env)("organization", "list")
    assert told.returncode == 1
    assert told.stderr.splitlines()[0] == f"Using the gatepass dev that runs in {home}."
    assert "127.0.0.1:1" in told.stderr


def test_a_database_that_the_environment_names_comes_first(gatepass: Command, home: Path) -> None:
    other = "postgresql://gatepass@127.0.0.1:2/elsewhere"
    with running_dev.announced(ENVIRONMENT):
        told = Command(home, {**gatepass.env, "GATEPASS_DATABASE_URL": other})("organization", "list")
    assert told.returncode == 1
    assert "Using" not in told.stderr
    assert "127.0.0.1:2" in told.stderr
