"""A PostgreSQL of its own, which syncs to disk as in production."""

from collections.abc import Generator
from multiprocessing import forkserver

import pytest

from tests.postgres import Cluster, start_cluster


@pytest.fixture(scope="session")
def syncing_cluster() -> Generator[Cluster]:
    forkserver.ensure_running()  # it imports while PostgreSQL starts
    started = start_cluster(settings={"fsync": "on"})
    yield started
    started.stop()
