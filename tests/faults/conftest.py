"""Two real processes on the one test database; they share nothing else."""

from collections.abc import Generator

import pytest

from tests.postgres import free_port
from tests.serving import Serving, launch, wait_until_ready

Pair = tuple[Serving, Serving]


def launch_pair(environment: dict[str, str]) -> Pair:
    # Ten gates at each process must all reach PostgreSQL at once.
    environment = {**environment, "GATEPASS_DATABASE_CONNECTIONS": "12"}
    pair = launch(environment, free_port()), launch(environment, free_port())
    try:
        for serving in pair:
            wait_until_ready(serving)
    except BaseException:
        for serving in pair:
            serving.kill()
        raise
    return pair


@pytest.fixture(scope="session")
def pair(settings_env: dict[str, str]) -> Generator[Pair]:
    started = launch_pair(settings_env)
    yield started
    for serving in started:
        serving.stop()
