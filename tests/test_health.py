"""A process is ready on its own schema and on later ones, and not without one."""

from collections.abc import AsyncGenerator

import httpx2
import psycopg
import pytest

from gatepass.migrations import runner
from gatepass.migrations.head import head
from tests import factory
from tests.conftest import opened
from tests.postgres import Cluster


@pytest.fixture
def url(cluster: Cluster) -> str:
    return cluster.create_migrated("gatepass_health")


@pytest.fixture
async def client(url: str) -> AsyncGenerator[httpx2.AsyncClient]:
    settings = factory.settings(url)
    async with opened(settings) as (client, _):
        client.base_url = "http://gatepass.test"
        yield client


def set_schema(url: str, *, revision: str, routines: str) -> None:
    """Mark the database as being at this revision, with these routines."""
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = %s", [revision])
        connection.execute(f"COMMENT ON TABLE alembic_version IS '{routines}'".encode())


async def test_the_edge_is_told_the_cell(client: httpx2.AsyncClient, url: str) -> None:
    answer = await client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "cell": "a"})


async def test_the_edge_is_told_why_a_process_cannot_serve(client: httpx2.AsyncClient, url: str) -> None:
    set_schema(url, revision="0001", routines="earlier")
    answer = await client.get("/healthz")
    reason = "The database needs `gatepass migrate`."
    assert (answer.status_code, answer.json()) == (503, {"status": "unavailable", "cell": "a", "reason": reason})


async def ready(client: httpx2.AsyncClient) -> bool:
    return (await client.get("/readyz")).status_code == 200


async def test_it_stays_ready_while_the_database_goes_ahead(client: httpx2.AsyncClient, url: str) -> None:
    assert await ready(client)
    set_schema(url, revision="9999", routines="later")
    assert await ready(client)


async def test_an_older_version_starts_on_a_newer_schema(client: httpx2.AsyncClient, url: str) -> None:
    set_schema(url, revision="9999", routines="later")
    assert await ready(client)


async def test_it_is_not_ready_on_an_older_schema(client: httpx2.AsyncClient, url: str) -> None:
    set_schema(url, revision="0001", routines="earlier")
    assert not await ready(client)


async def test_it_waits_for_its_routines(client: httpx2.AsyncClient, url: str) -> None:
    set_schema(url, revision=head().partition("+")[0], routines="earlier")
    assert not await ready(client)
    runner.upgrade(url)
    assert await ready(client)
