"""A PostgreSQL of the bench's own, durable as in production, and the API processes that use it."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from gatepass.base.encryption import new_key
from gatepass.migrations import runner
from tests.postgres import Cluster, free_port, start_cluster
from tests.processes import GatepassProcess, serve

# No checkpoint runs, so that no slice pays for the writes of another. A million tickets fit into the buffers.
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "shared_buffers": "2GB",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "checkpoint_timeout": "1h",
    "max_wal_size": "40GB",
}


@contextmanager
def cluster_with(version: int, **settings: str) -> Generator[Cluster]:
    cluster = start_cluster(version, SETTINGS | settings)
    try:
        yield cluster
    finally:
        cluster.stop()


@contextmanager
def migrated_database(version: int) -> Generator[tuple[Cluster, str]]:
    with cluster_with(version) as cluster:
        url = cluster.create_database("bench")
        runner.upgrade(url)
        yield cluster, url


@contextmanager
def api(url: str, processes: int, **settings: str) -> Generator[list[GatepassProcess]]:
    env = {
        "GATEPASS_DATABASE_URL": url,
        "GATEPASS_ENCRYPTION_KEYS": new_key(),
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_LOG_LEVEL": "warning",
        **settings,
    }
    with ExitStack() as stack:
        started = [serve(env, free_port()) for _ in range(processes)]
        for process in started:
            stack.callback(process.stop)
        yield started
