import socket
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.deploy.systemd_runner import SystemdRunner
from tests.postgres import Cluster

WITHIN = 60


@pytest.fixture
def notify_socket(tmp_path: Path) -> Generator[socket.socket]:
    """The socket to which a unit of Type=notify reports that it is ready."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(WITHIN)
        yield listening


@pytest.fixture
def systemd(cluster: Cluster, notify_socket: socket.socket) -> SystemdRunner:
    return SystemdRunner(cluster, notify_socket.getsockname())
