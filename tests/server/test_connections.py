"""The number of connections fits the number of files that the process may open."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
from gatepass.base.settings import Settings
from gatepass.server.connections import Connections
soft, hard, most = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
connections = Connections.of(Settings(max_connections=most))
connections.raise_file_limit()
print(connections.most, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.parametrize(
    ("soft", "hard", "wanted", "expected"),
    [
        (1024, 10_000, 4096, "4096 4352"),  # raised
        (8192, 10_000, 4096, "4096 8192"),  # enough already
        (1024, 2048, 4096, "1792 2048"),  # as many as it may
        (64, 300, 4096, "150 300"),
    ],
)
def test_the_limit_on_files_is_raised_or_there_are_fewer_connections(
    soft: int, hard: int, wanted: int, expected: str
) -> None:
    command = [sys.executable, "-c", PROGRAM, str(soft), str(hard), str(wanted)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert printed.splitlines()[-1] == expected
