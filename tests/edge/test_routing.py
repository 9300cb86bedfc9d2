"""Keys, links, sessions and pictures reach their cell; what has no cell is refused as a cell would refuse it."""

import re
import secrets
from datetime import timedelta

import httpx2
import pytest

from gatepass.base.settings import BASE_PATH
from gatepass.domain import events, staff
from gatepass.domain.events.details import Details
from gatepass.domain.keys import Mode, make_key
from gatepass.domain.staff import Role, invitations, sign_in_links
from gatepass.domain.staff.sessions import token_digest
from gatepass.studio.services.templates import root_of
from gatepass.studio.web import cookies
from tests import factory
from tests.attacks.studio_client import session_token
from tests.edge.cells import LETTERS, Cells, RunningCell
from tests.pictures import png

INVALID = {"error": "The API key is missing, invalid or revoked.", "code": "invalid_key"}


@pytest.fixture(params=LETTERS)
def cell(cells: Cells, request: pytest.FixtureRequest) -> RunningCell:
    return {"a": cells.a, "b": cells.b}[request.param]


@pytest.mark.parametrize("host", [None, *LETTERS])
async def test_a_key_reaches_its_cell_at_every_host(cells: Cells, cell: RunningCell, host: str | None) -> None:
    card = await cell.tenant.card()
    async with cells.client(cell.key, cell=host) as client:
        answer = await client.post(
            "/scan", json={"event_id": str(cell.tenant.event_id), "card_number": card.number},
            headers={"Idempotency-Key": secrets.token_hex(8)},
        )  # fmt: skip
    assert answer.status_code == 200, answer.text


async def test_a_cell_names_the_cell_of_a_foreign_key(cells: Cells, cell: RunningCell) -> None:
    other = cells.b if cell is cells.a else cells.a
    async with cell.server.client(other.key) as client:
        answer = await client.get("/events")
    assert answer.status_code == 421
    assert answer.json() == {
        "error": f"This API key belongs to cell {other.letter}, and the call has reached another cell.",
        "code": "wrong_cell",
    }


async def test_a_letter_of_no_cell_is_refused_by_the_edge(cells: Cells) -> None:
    async with cells.client(make_key(Mode.LIVE, "z")) as client:
        answer = await client.get("/events")
    assert answer.status_code == 421
    assert answer.json() == {
        "error": "This API key belongs to cell z, and there is no such cell.",
        "code": "wrong_cell",
    }


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer svc_live_a", "Basic eA==", "Bearer {}x", "Bearer  {}"])
async def test_without_a_key_the_edge_answers_as_a_cell_does(cells: Cells, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header.format(cells.a.key)}
    async with cells.client() as through, cells.a.server.client() as direct:
        edges, cells_own = (
            await through.post("/scan", headers=headers),
            await direct.post("/scan", headers=headers),
        )
    assert (edges.status_code, edges.json()) == (cells_own.status_code, cells_own.json()) == (401, INVALID)
    # HAProxy adds this one for TLS; the cells of this test have a public URL without it.
    assert set(edges.headers) - {"strict-transport-security"} == set(cells_own.headers) - {"date"}
    for name in ("content-type", "www-authenticate", "x-svc-should-retry", "x-content-type-options"):
        assert edges.headers[name] == cells_own.headers[name]
    assert len(edges.headers["x-request-id"]) == len(cells_own.headers["x-request-id"])


async def test_an_answer_of_a_cell_keeps_its_request_id(cells: Cells) -> None:
    async with cells.client(cells.a.key) as client:
        answer = await client.get("/events")
    assert len(answer.headers.get_list("x-request-id")) == 1


async def test_the_description_of_the_api_needs_no_cell(cells: Cells) -> None:
    async with cells.client() as client:
        assert (await client.get("/openapi.json")).status_code == 200


async def sign_in_link(cell: RunningCell) -> str:
    async with cell.tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"{secrets.token_hex(8)}@example.org", "Ada", at=factory.now())
        await staff.join(tx, cell.tenant.id, person.id, Role.OWNER, by=factory.BY, at=factory.now())
        return await staff.make_link(tx, person.id, cell=cell.letter, at=factory.now())


@pytest.mark.parametrize("host", [None, *LETTERS])
async def test_a_link_is_opened_at_the_host_of_its_cell(cells: Cells, cell: RunningCell, host: str | None) -> None:
    path = f"/studio/link/{await sign_in_link(cell)}"
    async with cells.browser(host) as client:
        answer = await client.get(path)
    if host == cell.letter:
        assert answer.status_code == 200
    else:
        assert (answer.status_code, answer.headers["location"]) == (307, cells.edge.url_of(cell.letter) + path)


async def test_a_link_signs_in_and_its_session_reaches_its_cell_only(cells: Cells, cell: RunningCell) -> None:
    home = f"{root_of(cell.tenant.id, 'live')}/home"
    async with cells.browser(cell.letter) as client:
        answer = await client.post(f"/studio/link/{await sign_in_link(cell)}")
        assert answer.status_code == 303
        cookie = {"Cookie": answer.headers["set-cookie"].partition(";")[0]}
        assert (await client.get(home, headers=cookie)).status_code == 200
    for host in {None, *LETTERS} - {cell.letter}:
        async with cells.browser(host) as client:
            answer = await client.get(home, headers=cookie)
            assert answer.status_code == (404 if host is None else 303)
            assert "/studio/sign-in" in answer.headers.get("location", "/studio/sign-in")


async def test_a_link_from_before_letters_works_at_its_host(cells: Cells, cell: RunningCell) -> None:
    old = secrets.token_urlsafe(32)
    async with cell.tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"{secrets.token_hex(8)}@example.org", "Ada", at=factory.now())
        await tx.run(sign_in_links.MAKE, token_digest(old), person.id, factory.now() + timedelta(minutes=5))
    async with cells.browser(cell.letter) as client:
        assert (await client.post(f"/studio/link/{old}")).status_code == 303


async def test_an_invitation_made_in_the_studio_is_accepted_through_the_edge(cells: Cells, cell: RunningCell) -> None:
    cookie = {"Cookie": f"{cookies.SESSION}={await session_token(cell.tenant)}"}
    async with cells.browser(cell.letter) as client:
        form = {"email": f"{secrets.token_hex(8)}@example.org", "role": "viewer"}
        page = await client.post(f"{root_of(cell.tenant.id, 'live')}/team/invite", data=form, headers=cookie)
        (link,) = set(
            re.findall(rf"{cells.edge.url_of(cell.letter)}/studio/welcome/({cell.letter}\.[\w-]+)", page.text)
        )
        password = f"{secrets.token_hex(8)} staple horse"
        joined = await client.post(f"/studio/welcome/{link}", data={"name": "Bob", "password": password})
        assert joined.status_code == 303, joined.text


async def test_an_invitation_is_shown_in_the_cell_that_made_it(cells: Cells, cell: RunningCell) -> None:
    async with cell.tenant.db.transaction() as tx:
        made = await invitations.invite(
            tx, cell.tenant.id, f"{secrets.token_hex(8)}@example.org", Role.VIEWER, giver=Role.OWNER,
            cell=cell.letter, by=factory.BY, at=factory.now(),
        )  # fmt: skip
    async with httpx2.AsyncClient(follow_redirects=False) as client:
        answer = await client.get(f"{cells.edge.url}/studio/welcome/{made.token}")
        assert answer.status_code == 307
        at_home = {"Host": cells.edge.host(cell.letter)}
        assert (await client.get(f"{cells.edge.url}/studio/welcome/{made.token}", headers=at_home)).status_code == 200


@pytest.mark.parametrize("host", [None, *LETTERS])
async def test_a_picture_reaches_its_cell_at_every_host(cells: Cells, cell: RunningCell, host: str | None) -> None:
    picture, tenant = png(320, 180), cell.tenant
    async with tenant.db.transaction() as tx:
        path = await events.store_cover(tx, tenant.id, picture, by=factory.BY, at=factory.now())
        old = Details.of(await events.lock(tx, tenant.id, tenant.event_id))
        await events.edit(
            tx, tenant.id, tenant.event_id, Details(old.title, old.starts_at, old.ends_at, cover_url=path),
            by=factory.BY, at=factory.now(),
        )  # fmt: skip
    async with cells.client(cell.key) as client:
        shown = (await client.get(f"/events/{tenant.event_id}")).json()["data"]["cover_url"]
    assert shown == cells.edge.url_of(cell.letter) + path.replace("/covers/", f"/covers/{cell.letter}.")
    async with cells.browser(host) as client:
        assert (await client.get(shown.partition(str(cells.edge.port))[2])).content == picture
    async with cells.browser(cell.letter) as client:
        assert (await client.get(path)).content == picture, "as it was named before letters"


async def test_a_cell_sees_the_callers_address(cells: Cells) -> None:
    key = await cells.a.tenant.key(networks="10.9.9.0/24")
    async with cells.client(key.text) as client:
        answer = await client.get("/events", headers={"X-Forwarded-For": "10.9.9.9"})
    assert answer.status_code == 401


def test_the_base_path_is_the_one_that_the_edge_knows() -> None:
    assert BASE_PATH.startswith("/api/")
