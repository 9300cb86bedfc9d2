"""Replays across cells: what one cell gave out is worth nothing in another, with its letter or with another one."""

import secrets

import pytest

from gatepass.domain import staff
from gatepass.domain.staff import Role, invitations
from gatepass.studio.web import cookies
from tests import factory
from tests.attacks.studio_client import session_token
from tests.edge.cells import Cells
from tests.server.raw_http import Response, one, request

SAME_SITE = ("Sec-Fetch-Site", "same-origin")


def visit(cells: Cells, cell: str | None, method: str, path: str, *headers: tuple[str, str]) -> Response:
    """A visit to the host of a cell, or to a host of none."""
    host = cells.edge.host(cell) if cell else "gatepass.test"
    return one(cells.edge.port, request(method, path, [SAME_SITE, *headers], host=host))


async def link_of_a(cells: Cells) -> str:
    async with cells.a.tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"{secrets.token_hex(8)}@example.org", "Ada", at=factory.now())
        return await staff.make_link(tx, person.id, cell="a", at=factory.now())


async def invitation_of_a(cells: Cells) -> str:
    async with cells.a.tenant.db.transaction() as tx:
        made = await invitations.invite(
            tx, cells.a.tenant.id, f"{secrets.token_hex(8)}@example.org", Role.OWNER, giver=Role.OWNER,
            cell="a", by=factory.BY, at=factory.now(),
        )  # fmt: skip
    return made.token


@pytest.mark.parametrize("spelling", ["a.{}", "b.{}", "{}", "%62.{}", "B.{}", "b.a.{}", "a.b.{}", "b%2E{}", "b./a.{}"])
async def test_a_link_of_another_cell_signs_nobody_in(cells: Cells, spelling: str) -> None:
    secret = (await link_of_a(cells)).removeprefix("a.")
    answer = visit(cells, "b", "POST", f"/studio/link/{spelling.format(secret)}")
    assert answer.status in (404, 405, 422)
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("spelling", ["b.{}", "{}", "%61.{}", "A.{}", "a.a.{}"])
async def test_a_link_with_another_letter_is_worth_nothing_at_home(cells: Cells, spelling: str) -> None:
    secret = (await link_of_a(cells)).removeprefix("a.")
    answer = visit(cells, "a", "POST", f"/studio/link/{spelling.format(secret)}")
    assert answer.status == (303 if spelling == "%61.{}" else 404), "an encoded letter is the same letter"


@pytest.mark.parametrize("spelling", ["a.{}", "b.{}", "{}"])
async def test_an_invitation_of_another_cell_lets_nobody_in(cells: Cells, spelling: str) -> None:
    secret = (await invitation_of_a(cells)).removeprefix("a.")
    answer = visit(cells, "b", "POST", f"/studio/welcome/{spelling.format(secret)}")
    assert answer.status in (404, 422)
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", ["/studio/live/home", "/studio/live/keys", "/studio/account", "/studio/link/a.x"])
@pytest.mark.parametrize("host", ["b", None])
async def test_a_session_of_another_cell_is_nobodys(cells: Cells, path: str, host: str | None) -> None:
    cookie = ("Cookie", f"{cookies.SESSION}={await session_token(cells.a.tenant)}")
    assert visit(cells, "a", "GET", "/studio/account", cookie).status == 200
    answer = visit(cells, host, "GET", path, cookie)
    assert answer.status in (303, 307, 404)
    assert b"Harbour Nights" not in answer.body


@pytest.mark.parametrize(
    "host", ["evil.example", "a.localhost.evil.example", "a.localhost@evil.example", "", "b.localhost"]
)
@pytest.mark.parametrize("letter", ["a", "z"])
async def test_a_link_never_leads_to_a_host_of_no_cell(cells: Cells, host: str, letter: str) -> None:
    """The redirect comes from the map, never from the request."""
    raw = request("GET", f"/studio/link/{letter}.x", [SAME_SITE], host=host)
    answer = one(cells.edge.port, raw)
    location = answer.headers.get("location", "")
    assert location in ("", f"http://a.localhost:{cells.edge.port}/studio/link/{letter}.x")
    assert (answer.status == 307) is (letter == "a")


@pytest.mark.parametrize("path", ["/studio/link/a.x%0d%0aSet-Cookie:%20y=z", "/studio/link/a.x?next=//evil.example"])
async def test_nothing_is_injected_into_the_redirect(cells: Cells, path: str) -> None:
    answer = visit(cells, None, "GET", path)
    assert answer.status == 307
    assert "set-cookie" not in answer.headers
    assert answer.headers["location"] == f"http://a.localhost:{cells.edge.port}{path}"
