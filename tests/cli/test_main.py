import re
import subprocess
import sys
from pathlib import Path

import pytest

from gatepass import __version__
from gatepass.base.encryption import Vault
from gatepass.cli.main import PANELS
from tests.cli.command import Command

COMMANDS = (
    "dev",
    "demo",
    "doctor",
    "serve",
    "worker",
    "migrate",
    "maintenance",
    "secret",
    "reencrypt",
    "organization",
    "person",
    "key",
)


def test_help_names_every_command(gatepass: Command) -> None:
    told = gatepass("--help")
    assert told.returncode == 0
    assert [name for name in COMMANDS if name not in told.stdout] == []


@pytest.mark.parametrize("arguments", [(), ("dev",), ("organization", "close"), ("key", "rate"), ("person", "list")])
def test_a_flag_has_no_type_in_the_help(gatepass: Command, arguments: tuple[str, ...]) -> None:
    told = gatepass(*arguments, "--help")
    assert told.returncode == 0
    assert "--help" in told.stdout
    assert "<bool>" not in told.stdout


def test_no_command_is_answered_with_help(gatepass: Command) -> None:
    told = gatepass()
    assert told.returncode == 2
    assert "dev" in told.stdout + told.stderr


def test_the_version(gatepass: Command) -> None:
    assert gatepass.cold("--version").stdout == f"gatepass {__version__}\n"


def test_a_secret_is_a_line_for_the_environment_and_seals(gatepass: Command) -> None:
    name, _, key = gatepass.cold("secret").stdout.strip().partition("=")
    assert name == "GATEPASS_ENCRYPTION_KEYS"
    vault = Vault([key])
    assert vault.open(vault.seal(b"hush", "here"), "here") == b"hush"


def test_every_secret_is_new(gatepass: Command) -> None:
    assert gatepass("secret").stdout != gatepass("secret").stdout


def test_a_command_imports_no_other() -> None:
    program = "import sys; from gatepass.cli.main import make_app; make_app('key'); print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    commands = {name for name in told.split() if name.startswith("gatepass.cli.commands.")}
    assert commands == {"gatepass.cli.commands.key"}


def test_each_command_is_started_once_as_it_is_installed() -> None:
    """All others are forked from a process that has imported the program, which proves nothing of its entry point."""
    files = Path(__file__).parent.rglob("test_*.py")
    started = {name for file in files for name in re.findall(r'\.cold(?:\.started)?\("(\w+)"', file.read_text())}
    assert started == {name for panel in PANELS.values() for name in panel}
