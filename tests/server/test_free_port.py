"""A port that a test has chosen stays free until its server starts."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests import postgres

OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")
CHOOSE = "from tests import postgres; postgres.PORTS = range({}, {}); postgres.free_port(); print('chosen'); input()"


def test_no_outgoing_connection_takes_it() -> None:
    first, last = map(int, OUTGOING.read_text().split())
    assert set(postgres.PORTS).isdisjoint(range(first, last + 1))


def test_no_other_process_chooses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    first = next(port for port in postgres.PORTS if _is_free(port) and _is_free(port + 1))
    monkeypatch.setattr(postgres, "PORTS", range(first, first + 2))
    with subprocess.Popen(
        [sys.executable, "-c", CHOOSE.format(first, first + 1)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout
        assert other.stdout.readline()
        assert postgres.free_port() == first + 1
        other.communicate(b"\n", timeout=60)
    assert postgres.free_port() == first


def _is_free(port: int) -> bool:
    """No server is there, and no test has chosen it."""
    with socket.socket() as server, socket.socket(type=socket.SOCK_DGRAM) as claim:
        try:
            server.bind(("127.0.0.1", port))
            claim.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
