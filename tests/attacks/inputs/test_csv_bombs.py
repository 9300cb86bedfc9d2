"""CSV files that are made to cost: none brings out a fault of ours, and none delays another organization's gates."""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass, field

import httpx2
import pytest

from gatepass.domain.imports import LARGEST_FILE
from tests.attacks.inputs.csv_shapes import BOMBS
from tests.attacks.target import Target
from tests.postgres import free_port
from tests.processes import GatepassProcess, memory, wait_until_ready
from tests.scan_probe import ScanProbe, is_small_delay, p99
from tests.size import FULL

ROUNDS = 1 if FULL else 3
MOST_ROUNDS = ROUNDS * 5
WINDOW = 1.0
# The dearest for each byte.
DEAR = ("rows of the longest quoted cell", "rows of many quoted lines", "rows of one character")
MOST_GROWTH = 32.0


@pytest.mark.finding(3)
@pytest.mark.parametrize("shape", BOMBS)
async def test_a_file_is_taken_or_refused_with_a_reason(target: Target, shape: str) -> None:
    bomb = BOMBS[shape]
    async with target.studio() as owner:
        answer = await target.upload(owner, bomb.content())
    assert answer.status_code == (422 if bomb.told else 303), answer.text[:2000]
    assert bomb.told in answer.text


@pytest.mark.finding(3)
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n' * 5_000, 413),
        (b"--b\r\nA:\r\n\r\n" + b"\r\n--bx" * 50_000 + b"\r\n--b--\r\n", 422),
        (b"--b\r\n" + b"A" * 100_000 + b": x\r\n\r\n\r\n--b--\r\n", 422),
        (b"--b\r\n" + b"A: x\r\n" * 10_000 + b"\r\n\r\n--b--\r\n", 422),
        (b"--b\r\nContent-Disposition: form-data; name=" + b'"' * 4_000 + b"\r\n\r\n\r\n--b--\r\n", 422),
        (b"\r\n" * 100_000, 422),
        (b"--b--\r\n" + b"x" * 100_000, 422),
        (b'--b\r\nContent-Disposition: form-data; name="pasted"\r\n\r\n' + b"x" * 2_000_000 + b"\r\n--b--\r\n", 413),
    ],
    ids=["parts", "near boundaries", "long header", "headers", "quotes", "before", "behind", "long field"],
)
async def test_a_form_that_is_made_to_cost(target: Target, body: bytes, status: int) -> None:
    path, kind = target.page(f"events/{target.tenant.event_id}/imports"), "multipart/form-data; boundary=b"
    async with target.studio() as owner:
        answer = await owner.post(path, content=body, headers={"Content-Type": kind})
    assert answer.status_code == status, answer.text[:2000]


@pytest.mark.finding(3)
@pytest.mark.parametrize(
    "kind",
    [
        "multipart/form-data; boundary=" + "b" * 300,
        "multipart/form-data; boundary=",
        "multipart/form-data",
        'multipart/form-data; boundary="' + "\\" * 1_000,
        "multipart/form-data" + "; a=b" * 5_000,
        "multipart/mixed; boundary=b",
        "multipart/form-dataX",
    ],
    ids=lambda kind: f"{kind[:34]}…{len(kind)}",
)
async def test_a_boundary_that_is_none(target: Target, kind: str) -> None:
    path = target.page(f"events/{target.tenant.event_id}/imports")
    async with target.studio() as owner:
        answer = await owner.post(path, content=b"--b\r\n\r\n\r\n--b--", headers={"Content-Type": kind})
    assert answer.status_code == 422, answer.text[:2000]


# ---- the gates of the others -----------------------------------------------------------------------------------


@pytest.mark.alone
@pytest.mark.nightly
@pytest.mark.finding(3)
@pytest.mark.parametrize("shape", DEAR)
async def test_no_file_delays_the_scans_of_others(target: Target, shape: str) -> None:
    content = BOMBS[shape].content(LARGEST_FILE - 2**20 if FULL else LARGEST_FILE // 50)
    before = memory(target.server)
    delay = await measured(target, target.server, content)
    grown = memory(target.server) - before
    print(f"\n{shape}, {len(content) / 1e6:.0f} MB: {delay}, memory grew by {grown:.0f} MB")
    assert delay.is_small()
    assert grown < MOST_GROWTH


@dataclass
class Delay:
    """p99 of the scans of another organization, in milliseconds: alone, and while a file is uploaded; one a round."""

    alone: list[float] = field(default_factory=list[float])
    during: list[float] = field(default_factory=list[float])

    def add(self, probe: ScanProbe, windows: list[tuple[float, float, float]]) -> None:
        self.alone += [p99(probe.within(began, between)) for began, between, _ in windows]
        self.during += [p99(probe.within(between, ended)) for _, between, ended in windows]

    def is_small(self) -> bool:
        return is_small_delay(self.alone, self.during)

    def __str__(self) -> str:
        alone, during = statistics.median(self.alone), statistics.median(self.during)
        return f"p99 of scans {alone:.1f} ms alone, {during:.1f} ms meanwhile, median of {len(self.alone)}"


async def measured(target: Target, server: GatepassProcess, content: bytes) -> Delay:
    """A few rounds. If they say that the file delays others, more are added: a few may be noise, and all count."""
    delay = Delay()
    while not delay.alone or (not delay.is_small() and len(delay.alone) < MOST_ROUNDS):
        await add_rounds(ROUNDS, delay, target, server, content)
    return delay


async def add_rounds(rounds: int, delay: Delay, target: Target, server: GatepassProcess, content: bytes) -> None:
    """In each round a while alone, then the file again and again for as long; at full size, to its end."""
    windows: list[tuple[float, float, float]] = []
    with target.probe(server) as probe:
        for _ in range(rounds):
            began = time.monotonic()
            await asyncio.sleep(WINDOW)
            between = time.monotonic()
            await _upload_for_a_while(target, server, content)
            windows.append((began, between, time.monotonic()))
    delay.add(probe, windows)


async def _upload_for_a_while(target: Target, server: GatepassProcess, content: bytes) -> None:
    async with target.studio() as owner:
        owner.base_url = httpx2.URL(server.url)
        try:
            async with asyncio.timeout(None if FULL else WINDOW):
                while True:
                    answer = await target.upload(owner, content)
                    assert answer.status_code in (303, 422), answer.text[:2000]
                    if FULL:
                        return
        except TimeoutError:
            pass


@pytest.fixture
def mutant(settings_env: dict[str, str]) -> Generator[GatepassProcess]:
    """The server with the reader that it had before."""
    port = free_port()
    command = [sys.executable, "-m", "tests.attacks.mutants.quadratic_csv_reader", "serve", "--port", str(port)]
    environment = {**os.environ, **settings_env, "GATEPASS_PUBLIC_URL": f"http://127.0.0.1:{port}"}
    started = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    process = GatepassProcess(started, port)
    wait_until_ready(process)
    yield process
    process.kill()


@pytest.mark.alone
@pytest.mark.nightly
@pytest.mark.finding(3)
async def test_the_reader_of_before_is_found_out(target: Target, mutant: GatepassProcess) -> None:
    delay = Delay()
    # It is still busy with the file when a second round would begin.
    await add_rounds(1, delay, target, mutant, BOMBS["rows of the longest quoted cell"].content(10_100))
    print(f"\nthe reader of before: {delay}")
    assert not delay.is_small()
