"""A process notifies systemd when it is ready: `Type=notify` in deploy/systemd needs it."""

import socket
from collections.abc import Generator
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.cli.command import Command, line_with
from tests.postgres import free_port

WITHIN = 60


@pytest.fixture(params=["a path", "an abstract name"])
def systemd(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[tuple[socket.socket, str]]:
    """The socket that systemd would listen on, and how it names it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        if request.param == "a path":
            listening.bind(str(tmp_path / "notify"))
            named = str(tmp_path / "notify")
        else:
            listening.bind("")  # the kernel chooses a name
            named = "@" + listening.getsockname()[1:].decode()
        listening.settimeout(WITHIN)
        yield listening, named


def test_serve_is_ready_when_it_answers(on_database: Command, systemd: tuple[socket.socket, str]) -> None:
    listening, named = systemd
    port = free_port()
    with on_database.having(NOTIFY_SOCKET=named).started("serve", "--port", str(port)):
        assert listening.recv(100) == b"READY=1"
        with urlopen(f"http://127.0.0.1:{port}/livez") as answer:
            assert answer.status == 200


def test_worker_is_ready_when_it_works(on_database: Command, systemd: tuple[socket.socket, str]) -> None:
    listening, named = systemd
    with on_database.having(NOTIFY_SOCKET=named).started("worker") as process:
        assert listening.recv(100) == b"READY=1"
        line_with(process, "delivers webhooks")
