import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.command import Command, line_with
from tests.postgres import free_port

PROGRAM = str(Path(sys.executable).with_name("gatepass-health"))


def health(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], check=False, capture_output=True, text=True, timeout=60)


@pytest.fixture
def url(on_empty_database: Command) -> Generator[str]:
    """A process whose database is there and has no schema: alive, not ready."""
    with on_empty_database.started("serve", "--port", "0") as process:
        yield line_with(process, "listens on").split()[-1]


def test_it_tells_a_process_that_lives_from_one_that_is_ready(url: str) -> None:
    alive, ready = health(f"{url}/livez"), health(f"{url}/readyz")
    assert (alive.returncode, alive.stdout) == (0, '200 {"status":"ok"}\n')
    assert ready.returncode == 1
    assert ready.stdout.startswith("503")
    assert "gatepass migrate" in ready.stdout


def test_nobody_there_is_not_well() -> None:
    told = health(f"http://127.0.0.1:{free_port()}/livez")
    assert told.returncode == 1
    assert told.stdout.startswith("No answer: ")


@pytest.mark.parametrize("arguments", [(), ("127.0.0.1:8000",), ("https://127.0.0.1/",), ("http://a/", "http://b/")])
def test_wrong_usage_is_told(arguments: tuple[str, ...]) -> None:
    told = health(*arguments)
    assert told.returncode == 2
    assert told.stderr.startswith("Usage: ")


def test_it_imports_nothing_that_is_slow() -> None:
    heavy = "{'typer', 'pydantic', 'asyncio', 'urllib.request'}"
    probe = f"import sys, gatepass.cli.commands.health; assert not {heavy} & sys.modules.keys(), sys.modules.keys()"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0
