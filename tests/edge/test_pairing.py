"""Pairing behind the edge: a code and a request reach the cell whose letter they begin with, and no log has them."""

import asyncio
from collections.abc import Callable

import pytest

from tests.attacks.pairing.handset import Handset, Lead
from tests.attacks.proxy import log_until
from tests.edge.cells import LETTERS, Cells, RunningCell


@pytest.fixture(params=LETTERS)
def cell(cells: Cells, request: pytest.FixtureRequest) -> RunningCell:
    return {"a": cells.a, "b": cells.b}[request.param]


@pytest.mark.parametrize("host", [None, *LETTERS])
@pytest.mark.parametrize("spelled", [str.upper, str.lower])
async def test_a_device_is_paired_through_the_edge(
    cells: Cells, cell: RunningCell, host: str | None, spelled: Callable[[str], str]
) -> None:
    lead = Lead(cell.tenant)
    code = await lead.code(cell=cell.letter)
    async with cells.browser(host) as client:
        device = Handset(client)
        request = await device.request(spelled(code.text))
        assert request.startswith(f"{cell.letter}.")
        await lead.confirm(code, request)
        fetched = (await device.fetch(request)).json()["data"]
    assert fetched["key"].startswith(f"svc_live_{cell.letter}")
    async with cells.client(fetched["key"]) as client:
        assert (await client.get(f"/events/{cell.tenant.event_id}")).status_code == 200


async def test_a_code_of_no_cell_is_not_found(cells: Cells) -> None:
    for host in (None, *LETTERS):
        async with cells.browser(host) as client:
            assert (await Handset(client).ask("Z123456789")).status_code == 404


async def test_the_scanner_is_at_the_host_of_a_cell(cells: Cells) -> None:
    for letter in LETTERS:
        async with cells.browser(letter) as client:
            page, worker = await client.get("/gate"), await client.get("/gate/sw.js")
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert worker.headers["service-worker-allowed"] == "/gate"


async def test_the_edge_does_not_log_the_code(cells: Cells, cell: RunningCell) -> None:
    code = await Lead(cell.tenant).code(cell=cell.letter)
    async with cells.browser(cell.letter) as client:
        request = await Handset(client).request(code.text)
        await client.get(f"/gate/pair/{code.text}")
        await client.post(f"/gate/pair/{request}/key", content=b"")
        mark = f"/docs/{cell.letter}/{request[-8:]}"
        await client.get(mark)
    written = await asyncio.to_thread(log_until, cells.edge.log, mark)
    assert f" api:{cell.letter}.localhost/one " in written
    assert code.text not in written
    assert request not in written
