import socket
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.deploy.machine import Machine
from tests.postgres import Cluster

WITHIN = 60


@pytest.fixture
def systemd(tmp_path: Path) -> Generator[socket.socket]:
    """Where a unit of Type=notify says that it is ready."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(WITHIN)
        yield listening


@pytest.fixture
def machine(cluster: Cluster, systemd: socket.socket) -> Machine:
    return Machine(cluster, systemd.getsockname())
