"""A process is ready on its own schema and on later ones, and not without one, nor while its clock is wrong."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path

import httpx2
import psycopg
import pytest

from gatepass.migrations import runner
from gatepass.migrations.head import head
from tests import factory
from tests.conftest import opened
from tests.domain.maintenance.wrong_clocks import off_by, off_by_file
from tests.postgres import Cluster, free_port
from tests.processes import GatepassProcess, launch, page_of


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


@contextmanager
def served(url: str, clock: dict[str, str], *options: str) -> Generator[GatepassProcess]:
    """A process of this clock, which may never become ready."""
    environment = factory.environment(url) | {
        "GATEPASS_ENCRYPTION_KEYS": factory.KEY,
        "GATEPASS_METRICS_PORT": str(free_port()),
        **clock,
    }
    server = launch(environment, free_port(), *options)
    try:
        yield server
    finally:
        server.kill()


async def told(server: GatepassProcess, *wanted: int) -> tuple[int, str]:
    """The first of these statuses that /readyz has, once PostgreSQL was asked, and its reason."""
    async with asyncio.timeout(60):
        while True:
            assert server.is_alive(), server.lines
            try:
                status, body = await asyncio.to_thread(page_of, f"{server.url}/readyz")
            except (OSError, HTTPException):
                status, body = 0, "{}"
            reason = json.loads(body).get("reason", "")
            if status in wanted and "does not answer" not in reason:
                return status, reason
            await asyncio.sleep(0.02)


async def skew_of(server: GatepassProcess) -> float:
    _, page = await asyncio.to_thread(page_of, f"http://127.0.0.1:{server.metrics_port}/metrics")
    found = re.search(r"^gatepass_clock_skew_seconds (.+)$", page, re.MULTILINE)
    assert found, page
    return float(found[1])


@pytest.mark.processes
@pytest.mark.parametrize("interface", ["all", "api", "studio", "card-page"])
async def test_a_process_whose_clock_is_a_day_ahead_never_becomes_ready(url: str, interface: str) -> None:
    options = () if interface == "all" else ("--only", interface)
    with served(url, off_by("+1d"), *options) as server:
        status, reason = await told(server, 200, 503)
        assert status == 503
        assert re.fullmatch(r"The clock of this machine is 86[34]\d\d\.\d s ahead of PostgreSQL's\. See .+", reason)
        assert await skew_of(server) > 86_000


@pytest.mark.processes
async def test_a_process_is_ready_when_its_clock_is_right_again(url: str, tmp_path: Path) -> None:
    with served(url, off_by_file(tmp_path / "clock", "-3s")) as server:
        assert await told(server, 200, 503) == (200, "")
        assert -5 < await skew_of(server) < 0
        off_by_file(tmp_path / "clock", "-8s")
        _, reason = await told(server, 503)
        assert "behind PostgreSQL's" in reason
        off_by_file(tmp_path / "clock", "+0")
        await told(server, 200)
