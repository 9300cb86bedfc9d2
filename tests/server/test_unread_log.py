"""Nobody reads the standard error of a process: it goes on with its work, and ends when it is told to."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Generator
from fcntl import F_SETPIPE_SZ, fcntl
from functools import partial
from typing import IO, Any

import pytest

from tests.factory import Tenant
from tests.faults.gates import load, scan_body, wait_for
from tests.faults.http_client import connections
from tests.postgres import Cluster, free_port
from tests.processes import GatepassProcess, page_of, status_of
from tests.warm.processes import WarmProcess, launch_worker, serve

# Bytes of the smallest pipe. Some twelve lines of the log fill it.
PIPE = 4096
FULL = b"." * (PIPE - 1) + b"\n"
REFUSALS = 300
# Seconds. It fails instead of waiting for ever.
ANSWERED_WITHIN = 300


@pytest.fixture
def pipe() -> Generator[tuple[IO[bytes], int]]:
    """A pipe that is full, as after a while in which nobody read it."""
    reading, writing = os.pipe()
    fcntl(writing, F_SETPIPE_SZ, PIPE)
    os.write(writing, FULL)
    with os.fdopen(reading, "rb") as reader:
        yield reader, writing
    os.close(writing)


@pytest.fixture
async def server(settings_env: dict[str, str], pipe: tuple[IO[bytes], int]) -> AsyncGenerator[GatepassProcess]:
    environment = {**settings_env, "GATEPASS_LOG_LEVEL": "info", "GATEPASS_METRICS_PORT": str(free_port())}
    started = await asyncio.to_thread(serve, environment, free_port(), start=partial(WarmProcess, stderr=pipe[1]))
    yield started
    if started.is_alive():
        started.kill()


def lines_lost(metrics_port: int) -> float:
    _, page = page_of(f"http://127.0.0.1:{metrics_port}/metrics")
    (line,) = [line for line in page.splitlines() if line.startswith("gatepass_log_lines_lost_total ")]
    return float(line.split()[1])


async def refused(server: GatepassProcess, tenant: Tenant) -> list[str]:
    """The ids of scans of one ticket, one after another. Each refusal is a line of the log."""
    (number,) = await load(tenant, 1)
    answers: list[Any] = []
    async with asyncio.timeout(ANSWERED_WITHIN), connections((server,), (await tenant.key()).text, 1) as (connection,):
        for n in range(REFUSALS + 1):
            connection.send(scan_body(tenant, {"card_number": number}, "gate"), f"try {n} of {number}")
            answers.append(await connection.answer())
    assert [answer.status_code for answer in answers] == [200] + [409] * REFUSALS
    return [answer.headers["x-request-id"] for answer in answers[1:]]


async def test_gates_are_answered_and_a_later_reader_finds_all_lines(
    server: GatepassProcess, tenant: Tenant, pipe: tuple[IO[bytes], int]
) -> None:
    refusals = await refused(server, tenant)
    assert status_of(f"{server.url}/livez") == 200
    assert lines_lost(server.metrics_port) == 0

    def read() -> list[str]:
        assert pipe[0].read(PIPE) == FULL
        found: list[str] = []
        while len(found) < REFUSALS:
            line = json.loads(pipe[0].readline())
            if line.get("status") == 409:
                found.append(line["request_id"])
        return found

    assert await asyncio.to_thread(read) == refusals
    assert await asyncio.to_thread(server.stop) == 0


async def test_a_server_ends_when_it_is_told_to(server: GatepassProcess, tenant: Tenant) -> None:
    await refused(server, tenant)
    assert await asyncio.to_thread(server.stop) == 0


async def test_a_worker_works_and_ends_when_it_is_told_to(
    settings_env: dict[str, str], cluster: Cluster, pipe: tuple[IO[bytes], int]
) -> None:
    """Its first line is the warning that webhooks may go anywhere."""
    url = cluster.create_migrated("gatepass_unread_log")
    environment = {
        **settings_env,
        "GATEPASS_DATABASE_URL": url,
        "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
        "GATEPASS_WORKER_METRICS_PORT": str(free_port()),
    }
    worker = launch_worker(environment, start=partial(WarmProcess, stderr=pipe[1]))
    port = int(environment["GATEPASS_WORKER_METRICS_PORT"])
    try:

        async def is_ready() -> bool:
            return await asyncio.to_thread(status_of, f"http://127.0.0.1:{port}/readyz") == 200

        await wait_for(is_ready)
        assert lines_lost(port) == 0
        assert await asyncio.to_thread(worker.stop) == 0
    finally:
        if worker.is_alive():
            worker.kill()
