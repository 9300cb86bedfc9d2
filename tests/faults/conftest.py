"""Two real processes on the same test database; they share nothing else."""

from collections.abc import Generator

import pytest

from tests.postgres import free_port
from tests.processes import GatepassProcess, wait_until_ready
from tests.warm.processes import launch

Pair = tuple[GatepassProcess, GatepassProcess]


def launch_pair(environment: dict[str, str]) -> Pair:
    # Ten gates at each process must all reach PostgreSQL at once.
    environment = {**environment, "GATEPASS_DATABASE_CONNECTIONS": "12"}
    pair = launch(environment, free_port()), launch(environment, free_port())
    try:
        for server in pair:
            wait_until_ready(server)
    except BaseException:
        for server in pair:
            server.kill()
        raise
    return pair


@pytest.fixture(scope="session")
def pair(settings_env: dict[str, str]) -> Generator[Pair]:
    started = launch_pair(settings_env)
    yield started
    for server in started:
        server.stop()
