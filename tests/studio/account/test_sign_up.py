"""Welcome: sign-up by link, with a password or a passkey, once; and who has an account joins with it."""

import json
from uuid import UUID

import httpx2
import pytest

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Role, invitations
from gatepass.studio import cookies
from gatepass.studio.reception import Reception, loggable
from tests import make
from tests.authenticator import Authenticator
from tests.studio.desk import ORIGIN, Desk, browser, sit_down

GOOD = "three brown llamas"


def device() -> Authenticator:
    return Authenticator(origin=ORIGIN, rp_id="studio.test")


async def invited(house: make.House, email: str | None = None, role: Role = Role.GATE_LEAD) -> str:
    """The path of a link."""
    async with house.db.transaction() as tx:
        made = await invitations.invite(
            tx, house.id, email or f"{new_id()}@example.org", role, giver=Role.OWNER, by=make.BY, at=make.now()
        )
    return f"/studio/welcome/{made.token}"


async def test_a_name_and_a_password(house: make.House, stranger: httpx2.AsyncClient) -> None:
    link = await invited(house)
    page = await stranger.get(link)
    assert page.status_code == 200
    assert "gate lead" in page.text
    answer = await stranger.post(link, data={"name": "Grace Hopper", "password": GOOD})
    assert (answer.status_code, answer.headers["location"]) == (303, "/studio/live/home")
    home = await stranger.get("/studio/live/home")
    assert "Grace Hopper" in home.text
    assert "You are here as gate lead." in home.text
    assert (await stranger.get(link)).status_code == 404, "it was used"


async def test_a_name_and_a_passkey(house: make.House, stranger: httpx2.AsyncClient) -> None:
    link, phone = await invited(house), device()
    options = await stranger.post(f"{link}/passkey/options", data={"name": "Grace"})
    answer = phone.create(options.text)
    made = await stranger.post(f"{link}/passkey", data={"name": "Grace", "answer": answer})
    assert (made.status_code, made.headers["location"]) == (303, "/studio/live/home")
    assert (await stranger.get("/studio/live/home")).status_code == 200
    async with house.db.reading() as tx:
        person = await tx.value("SELECT id FROM person WHERE id = $1", UUID(bytes=phone.user_handle))
    assert person is not None, "the passkey names the person"


async def test_a_passkey_without_a_name_is_asked_for_it(house: make.House, stranger: httpx2.AsyncClient) -> None:
    link = await invited(house)
    answer = await stranger.post(f"{link}/passkey/options", data={"name": " "})
    assert (answer.status_code, json.loads(answer.text)) == (422, {"error": "Say your name first."})
    assert (await stranger.post(f"{link}/passkey", data={"answer": "{}"})).status_code == 422


@pytest.mark.parametrize("answer", ["", "{}", "[" * 9_000])
async def test_a_passkey_that_is_none_leaves_nothing(house: make.House, stranger: httpx2.AsyncClient, answer) -> None:
    email = f"{new_id()}@example.org"
    link = await invited(house, email)
    refused = await stranger.post(f"{link}/passkey", data={"name": "Grace", "answer": answer})
    assert refused.status_code == 422
    assert "The passkey could not be made." in refused.text
    async with house.db.reading() as tx:
        assert await staff.find_person(tx, email) is None
    assert (await stranger.get(link)).status_code == 200, "and the link still works"


@pytest.mark.parametrize("password", ["short", "password1234", ""])
async def test_a_weak_password_is_refused_and_the_name_kept(
    house: make.House, stranger: httpx2.AsyncClient, password: str
) -> None:
    answer = await stranger.post(await invited(house), data={"name": "Grace Hopper", "password": password})
    assert answer.status_code == 422
    assert 'value="Grace Hopper"' in answer.text
    assert 'id="e-password"' in answer.text
    assert cookies.SESSION not in answer.cookies


async def test_who_has_an_account_signs_in_first_and_then_joins(studio: Reception, desk: Desk) -> None:
    other = await make.house(desk.house.db)
    link = await invited(other, desk.person.email)
    assert "Join as The owner" in await desk.see(link)
    answer = await desk.send(f"{link}/join")
    assert answer.headers["location"] == "/studio/live/home"
    async with desk.house.db.reading() as tx:
        session = await staff.find(tx, desk.client.cookies[cookies.SESSION], at=make.now())
    assert session is not None
    assert (session.organization_id, session.role) == (other.id, Role.GATE_LEAD)


async def test_nobody_takes_over_an_account_by_inviting_its_address(desk: Desk, stranger: httpx2.AsyncClient) -> None:
    link = await invited(await make.house(desk.house.db), desk.person.email)
    answer = await stranger.post(link, data={"name": "Mallory", "password": GOOD})
    assert answer.status_code == 422
    assert "cannot make a new account" in answer.text
    phone = device()
    options = await stranger.post(f"{link}/passkey/options", data={"name": "Mallory"})
    data = {"name": "Mallory", "answer": phone.create(options.text)}
    assert (await stranger.post(f"{link}/passkey", data=data)).status_code == 422
    joined = await stranger.post(f"{link}/join")
    assert (joined.status_code, joined.headers["location"]) == (303, link)


async def test_an_invitation_for_somebody_else_is_not_taken(studio: Reception, desk: Desk) -> None:
    link = await invited(desk.house)
    assert "is for somebody else" in await desk.see(link)
    await desk.send(f"{link}/join", status=403)


async def test_a_link_that_is_none_says_what_may_have_happened(stranger: httpx2.AsyncClient) -> None:
    for path in ("", "/join", "/passkey", "/passkey/options"):
        method = "GET" if not path else "POST"
        answer = await stranger.request(method, f"/studio/welcome/nothing{path}", data={"name": "x"})
        assert answer.status_code in (404, 303), path
    assert "It may have been used, revoked" in (await stranger.get("/studio/welcome/nothing")).text


@pytest.mark.parametrize("rest", ["", "/join", "/passkey/options"])
def test_no_log_tells_the_secret_of_a_link(rest: str) -> None:
    assert loggable(f"/studio/welcome/hush{rest}") == f"/studio/welcome/…{rest}"
    assert loggable("/studio/link/hush") == "/studio/link/…"
    assert loggable("/studio/live/team") == "/studio/live/team"


async def test_two_at_once_one_gets_in(studio: Reception, house: make.House) -> None:
    import asyncio

    link = await invited(house)

    async def sign_up() -> int:
        async with browser(studio) as client:
            return (await client.post(link, data={"name": "Grace", "password": GOOD})).status_code

    assert sorted(await asyncio.gather(sign_up(), sign_up())) in ([303, 404], [303, 422])


async def test_a_removed_member_can_be_invited_again(studio: Reception, house: make.House) -> None:
    from gatepass.domain.staff import team

    async with await sit_down(studio, house, Role.VIEWER) as bob:
        async with house.db.transaction() as tx:
            await team.remove_member(tx, house.id, bob.person.id, giver=Role.OWNER, by=make.BY, at=make.now())
        link = await invited(house, bob.person.email)
        await bob.send(f"{link}/join")
        await bob.see("home")
