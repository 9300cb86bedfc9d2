"""Card pages behind the edge: each is opened at the host of its cell, and the edge does not log which."""

import asyncio

import pytest

from tests.attacks.proxy import log_until
from tests.card_page.links import path_of
from tests.edge.cells import LETTERS, Cells, RunningCell


@pytest.fixture(params=LETTERS)
def cell(cells: Cells, request: pytest.FixtureRequest) -> RunningCell:
    return {"a": cells.a, "b": cells.b}[request.param]


@pytest.mark.parametrize("host", [None, *LETTERS])
async def test_a_card_is_opened_at_the_host_of_its_cell(cells: Cells, cell: RunningCell, host: str | None) -> None:
    card = await cell.tenant.card()
    path = await path_of(cell.tenant, card)
    assert path.startswith(f"/c/{cell.letter}.")
    async with cells.browser(host) as client:
        answer = await client.get(path + "/state")
    if host == cell.letter:
        assert (answer.status_code, answer.json()["card"]["number"]) == (200, card.number)
    else:
        assert answer.status_code == 307
        assert answer.headers["location"] == f"{cells.edge.url_of(cell.letter)}{path}/state"


async def test_a_post_reaches_the_cell_of_its_card(cells: Cells, cell: RunningCell) -> None:
    path = await path_of(cell.tenant, await cell.tenant.card())
    for host in (None, *LETTERS):
        async with cells.browser(host) as client:
            answer = await client.post(path + "/state", headers={"Sec-Fetch-Site": "same-origin"})
            assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize("path", ["/c/z.unknown", "/c/unknown", "/c/static/0/x.css", "/c/worker.js/x"])
@pytest.mark.parametrize("host", [None, *LETTERS])
async def test_what_has_no_cell_is_not_found(cells: Cells, path: str, host: str | None) -> None:
    async with cells.browser(host) as client:
        assert (await client.get(path)).status_code == 404


async def test_the_edge_does_not_log_the_secret(cells: Cells, cell: RunningCell) -> None:
    path = await path_of(cell.tenant, await cell.tenant.card())
    for host in (None, *LETTERS):
        async with cells.browser(host) as client:
            for rest in ("", "/state", "/nothing"):
                await client.get(path + rest)
                await client.post(path + rest)
    mark = f"/docs/{cell.letter}/{path[-8:]}"
    async with cells.browser(cell.letter) as client:
        await client.get(mark)
    written = await asyncio.to_thread(log_until, cells.edge.log, mark)
    assert f" cards:{cell.letter}.localhost/one " in written
    assert path.removeprefix("/c/") not in written
