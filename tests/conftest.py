"""Fixtures: one real PostgreSQL a session, and a fresh organization a test."""

import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager

import httpx2
import pytest
from hypothesis import settings as hypothesis_settings

from gatepass.api.app import ApiState, create_app
from gatepass.base import log
from gatepass.base.clock import Clock, system_clock
from gatepass.base.database import Database
from gatepass.base.settings import BASE_PATH, Settings
from gatepass.domain import maintenance
from gatepass.migrations import runner
from tests import factory, starts
from tests.postgres import USUAL_VERSION, Cluster, start_cluster, wanted_version
from tests.processes import GatepassProcess
from tests.server.asgi import TaskTransport
from tests.size import NIGHT
from tests.warm.processes import serve

log.configure("error", "json")
# On submission the same examples each time; at night new ones, and a failure prints how to have its example again.
hypothesis_settings.register_profile("gatepass", deadline=None, print_blob=True, database=None, derandomize=not NIGHT)
hypothesis_settings.load_profile("gatepass")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Some are for the night; and on another PostgreSQL than the usual one, only tests that use it are run again."""
    if missing := starts.unmarked(items):
        raise pytest.UsageError(f"These ask for a server and lack the marker {starts.MARKER!r}: {missing}")
    chosen = [item for item in items if is_due(item) and (wanted_version() == USUAL_VERSION or uses_postgres(item))]
    config.hook.pytest_deselected(items=[*set(items) - set(chosen)])
    items[:] = chosen


def is_due(item: pytest.Item) -> bool:
    return NIGHT or item.get_closest_marker("nightly") is None


def uses_postgres(item: pytest.Item) -> bool:
    """Whether it uses the session's server, or one that its file starts."""
    assert isinstance(item, pytest.Function)
    return "cluster" in item.fixturenames or hasattr(item.module, start_cluster.__name__)


@pytest.fixture(scope="session")
def cluster() -> Generator[Cluster]:
    """A PostgreSQL of our own; tests that kill it start another."""
    started = start_cluster()
    yield started
    started.stop()


@pytest.fixture(scope="session")
def database_url(cluster: Cluster) -> str:
    """An empty, migrated database, or the one that GATEPASS_TEST_POSTGRES names."""
    named = os.environ.get("GATEPASS_TEST_POSTGRES", "")
    if "://" not in named:
        return cluster.create_migrated("gatepass_test")
    runner.upgrade(named)
    return named


@pytest.fixture(scope="session")
async def db(database_url: str) -> AsyncGenerator[Database]:
    database = factory.database(database_url, connections=16)
    await maintenance.run_due(database, at=factory.now())
    yield database
    await database.close()


@pytest.fixture
async def tenant(db: Database) -> factory.Tenant:
    return await factory.tenant(db)


@pytest.fixture(scope="session")
def settings_env(database_url: str) -> dict[str, str]:
    """The environment of a `gatepass` process on the test database."""
    return {
        **factory.environment(database_url),
        "GATEPASS_ENCRYPTION_KEYS": factory.KEY,
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_LOG_LEVEL": "debug",
    }


@pytest.fixture(scope="session")
def server(settings_env: dict[str, str]) -> Generator[GatepassProcess]:
    """A real `gatepass serve`."""
    from tests.postgres import free_port

    process = serve(settings_env, free_port())
    yield process
    process.stop()


@asynccontextmanager
async def opened(
    settings: Settings, clock: Clock = system_clock
) -> AsyncGenerator[tuple[httpx2.AsyncClient, ApiState]]:
    """The application in this process, for tests that own its clock or look inside."""
    app = create_app(settings, clock)
    state = app.state
    state.open()
    transport = TaskTransport(app=app, client=("127.0.0.1", 1))
    async with httpx2.AsyncClient(transport=transport, base_url="http://gatepass.test" + BASE_PATH) as client:
        yield client, state
    await state.close()


@pytest.fixture(scope="session")
async def inside(database_url: str) -> AsyncGenerator[tuple[httpx2.AsyncClient, ApiState]]:
    settings = factory.settings(database_url)
    async with opened(settings) as pair:
        yield pair


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    starts.watch(item)
    try:
        return (yield)
    finally:
        starts.watch(None)
