import subprocess
import sys

import pytest

from gatepass import __version__
from gatepass.base.encryption import Vault
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
    assert gatepass("--version").stdout == f"gatepass {__version__}\n"


def test_a_secret_is_a_line_for_the_environment_and_seals(gatepass: Command) -> None:
    name, _, key = gatepass("secret").stdout.strip().partition("=")
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
