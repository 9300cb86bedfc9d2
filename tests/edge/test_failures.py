"""A cell that fails: the edge says so at once, in our words, sends nothing twice, and holds a bounded number."""

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from gatepass.base.settings import BASE_PATH
from gatepass.domain.keys import Mode, make_key
from tests.edge.cells import Cells
from tests.edge.proxy import Edge, start_edge
from tests.edge.stub_cell import StubCell, hang, hang_up
from tests.postgres import free_port
from tests.processes import CERTIFICATES
from tests.size import NIGHT

B_KEY = make_key(Mode.LIVE, "b")


@contextmanager
def edge_of(folder: Path, a: int, *b: int, **changes: str) -> Generator[Edge]:
    edge = start_edge(folder, free_port(), {"a": [a], "b": b}, **changes)
    try:
        yield edge
    finally:
        edge.stop()


def client_of(edge: Edge, key: str) -> httpx2.AsyncClient:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx2.AsyncClient(base_url=edge.url + BASE_PATH, headers=headers, timeout=60, verify=CERTIFICATES)


def assert_unavailable(answer: httpx2.Response, status: int, code: str = "unavailable") -> None:
    assert answer.status_code == status
    assert set(answer.json()) == {"error", "code"}
    assert answer.json()["code"] == code
    assert answer.headers["retry-after"] == "1"
    assert answer.headers["x-svc-should-retry"] == "true"
    assert answer.headers["x-request-id"].startswith("req_")


async def test_a_dead_cell_is_503_at_once_and_the_other_serves(cells: Cells, tmp_path: Path) -> None:
    with edge_of(tmp_path, cells.a.server.port, free_port()) as edge:
        async with client_of(edge, B_KEY) as dead, client_of(edge, cells.a.key) as alive:
            began = time.monotonic()
            assert_unavailable(await dead.post("/scan", json={}), 503)
            if NIGHT:
                assert time.monotonic() - began < 5
            assert (await alive.get("/events")).status_code == 200


async def test_a_process_of_another_cell_is_never_used(cells: Cells, tmp_path: Path) -> None:
    """Named under `b` by mistake. Without the check it would refuse the keys of b by 401, which nobody retries."""
    with edge_of(tmp_path, cells.a.server.port, cells.a.server.port) as edge:
        async with client_of(edge, B_KEY) as client:
            deadline = time.monotonic() + 60
            while (answer := await client.get("/events")).status_code != 503:
                assert time.monotonic() < deadline, answer.text
                await asyncio.sleep(0.1)


async def test_a_call_that_was_received_is_never_sent_again(cells: Cells, tmp_path: Path) -> None:
    with StubCell("b", hang_up) as one, StubCell("b", hang_up) as two:
        with edge_of(tmp_path, cells.a.server.port, one.port, two.port) as edge:
            async with client_of(edge, B_KEY) as client:
                assert_unavailable(await client.post("/scan", json={}), 502)
        assert one.received + two.received == 1


async def test_a_call_that_was_refused_goes_to_the_next_process(cells: Cells, tmp_path: Path) -> None:
    """The first calls may meet the dead process before its check does."""
    with edge_of(tmp_path, cells.a.server.port, cells.b.server.port, free_port()) as edge:
        async with client_of(edge, cells.b.key) as client:
            assert {(await client.get("/events")).status_code for _ in range(10)} == {200}


async def test_a_cell_that_hangs_holds_a_bounded_number_of_calls(cells: Cells, tmp_path: Path) -> None:
    most = 20
    changes = {"be_conn gt 4000": f"be_conn gt {most}", "timeout server 10s": "timeout server 7s"}
    with StubCell("b", hang) as frozen, edge_of(tmp_path, cells.a.server.port, frozen.port, **changes) as edge:
        async with client_of(edge, B_KEY) as client, client_of(edge, cells.a.key) as other:
            calls = [asyncio.create_task(client.post("/scan", json={})) for _ in range(most * 3)]
            done, waiting = set[asyncio.Task[httpx2.Response]](), set(calls)
            while len(done) < 2 * most:
                now_done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                done |= now_done
            for call in done:
                assert_unavailable(call.result(), 503, "overloaded")
            assert (await other.get("/events")).status_code == 200
            for answer in await asyncio.gather(*waiting):
                assert_unavailable(answer, 504)


async def test_the_studio_of_a_dead_cell_says_so_in_words(cells: Cells, tmp_path: Path) -> None:
    with edge_of(tmp_path, cells.a.server.port, free_port()) as edge:
        async with httpx2.AsyncClient(base_url=edge.url, headers={"Host": edge.host("b")}) as visitor:
            answer = await visitor.get("/studio/sign-in")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "text/plain; charset=utf-8")
