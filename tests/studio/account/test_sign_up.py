"""Sign-up by link, with a password or a passkey, once. A person with an account joins with it."""

import json
from uuid import UUID

import httpx2
import pytest

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Role, invitations, team
from gatepass.studio.middleware import Middleware, loggable
from gatepass.studio.web import cookies
from tests import factory
from tests.authenticator import Authenticator
from tests.studio.browser_session import ORIGIN, BrowserSession, browser, sign_in

GOOD = "three brown llamas"


def device() -> Authenticator:
    return Authenticator(origin=ORIGIN, rp_id="studio.test")


async def invited(tenant: factory.Tenant, email: str | None = None, role: Role = Role.GATE_LEAD) -> str:
    """The path of an invitation link."""
    async with tenant.db.transaction() as tx:
        made = await invitations.invite(
            tx,
            tenant.id,
            email or f"{new_id()}@example.org",
            role,
            giver=Role.OWNER,
            cell="a",
            by=factory.BY,
            at=factory.now(),
        )
    return f"/studio/welcome/{made.token}"


async def test_a_name_and_a_password(tenant: factory.Tenant, stranger: httpx2.AsyncClient) -> None:
    link = await invited(tenant)
    page = await stranger.get(link)
    assert page.status_code == 200
    assert "gate lead" in page.text
    answer = await stranger.post(link, data={"name": "Grace Hopper", "password": GOOD})
    assert (answer.status_code, answer.headers["location"]) == (303, "/studio/live/home")
    home = await stranger.get("/studio/account")
    assert "Grace Hopper" in home.text
    assert "You are here as gate lead." in home.text
    assert (await stranger.get(link)).status_code == 404, "it was used"


async def test_a_name_and_a_passkey(tenant: factory.Tenant, stranger: httpx2.AsyncClient) -> None:
    link, phone = await invited(tenant), device()
    options = await stranger.post(f"{link}/passkey/options", data={"name": "Grace"})
    answer = phone.create(options.text)
    made = await stranger.post(f"{link}/passkey", data={"name": "Grace", "answer": answer})
    assert (made.status_code, made.headers["location"]) == (303, "/studio/live/home")
    assert (await stranger.get("/studio/account")).status_code == 200
    async with tenant.db.autocommit() as tx:
        person = await tx.value("SELECT id FROM person WHERE id = $1", UUID(bytes=phone.user_handle))
    assert person is not None, "the passkey names the person"


async def test_a_passkey_without_a_name_is_asked_for_it(tenant: factory.Tenant, stranger: httpx2.AsyncClient) -> None:
    link = await invited(tenant)
    answer = await stranger.post(f"{link}/passkey/options", data={"name": " "})
    assert (answer.status_code, json.loads(answer.text)) == (422, {"error": "Say your name first."})
    assert (await stranger.post(f"{link}/passkey", data={"answer": "{}"})).status_code == 422


@pytest.mark.parametrize("answer", ["", "{}", "[" * 9_000])
async def test_a_passkey_that_is_none_leaves_nothing(
    tenant: factory.Tenant, stranger: httpx2.AsyncClient, answer
) -> None:
    email = f"{new_id()}@example.org"
    link = await invited(tenant, email)
    refused = await stranger.post(f"{link}/passkey", data={"name": "Grace", "answer": answer})
    assert refused.status_code == 422
    assert "The passkey could not be made." in refused.text
    async with tenant.db.autocommit() as tx:
        assert await staff.find_person(tx, email) is None
    assert (await stranger.get(link)).status_code == 200, "and the link still works"


@pytest.mark.parametrize("password", ["short", "password1234", ""])
async def test_a_weak_password_is_refused_and_the_name_kept(
    tenant: factory.Tenant, stranger: httpx2.AsyncClient, password: str
) -> None:
    answer = await stranger.post(await invited(tenant), data={"name": "Grace Hopper", "password": password})
    assert answer.status_code == 422
    assert 'value="Grace Hopper"' in answer.text
    assert 'id="e-password"' in answer.text
    assert cookies.SESSION not in answer.cookies


async def test_whose_address_is_proven_signs_in_first_and_then_joins(studio: Middleware, user: BrowserSession) -> None:
    other = await factory.tenant(user.tenant.db)
    async with user.tenant.db.transaction() as tx:
        await staff.mark_proven(tx, user.person.id, at=factory.now())
    link = await invited(other, user.person.email)
    assert "Join as The owner" in await user.see(link)
    answer = await user.send(f"{link}/join")
    assert answer.headers["location"] == "/studio/live/home"
    async with user.tenant.db.autocommit() as tx:
        session = await staff.find(tx, user.client.cookies[cookies.SESSION], at=factory.now())
    assert session is not None
    assert (session.organization_id, session.role) == (other.id, Role.GATE_LEAD)


async def test_nobody_takes_over_an_account_by_inviting_its_address(
    user: BrowserSession, stranger: httpx2.AsyncClient
) -> None:
    link = await invited(await factory.tenant(user.tenant.db), user.person.email)
    answer = await stranger.post(link, data={"name": "Mallory", "password": GOOD})
    assert answer.status_code == 422
    assert "There is an account with this address" in answer.text
    phone = device()
    options = await stranger.post(f"{link}/passkey/options", data={"name": "Mallory"})
    data = {"name": "Mallory", "answer": phone.create(options.text)}
    assert (await stranger.post(f"{link}/passkey", data=data)).status_code == 422
    joined = await stranger.post(f"{link}/join")
    assert (joined.status_code, joined.headers["location"]) == (303, link)


async def test_an_invitation_for_somebody_else_is_not_taken(studio: Middleware, user: BrowserSession) -> None:
    link = await invited(user.tenant)
    assert "is for somebody else" in await user.see(link)
    await user.send(f"{link}/join", status=403)


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


async def test_two_at_once_one_gets_in(studio: Middleware, tenant: factory.Tenant) -> None:
    import asyncio

    link = await invited(tenant)

    async def sign_up() -> int:
        async with browser(studio) as client:
            return (await client.post(link, data={"name": "Grace", "password": GOOD})).status_code

    assert sorted(await asyncio.gather(sign_up(), sign_up())) in ([303, 404], [303, 422])


async def test_a_removed_member_can_be_invited_again(studio: Middleware, tenant: factory.Tenant) -> None:
    async with await sign_in(studio, tenant, Role.VIEWER) as bob, browser(studio) as again:
        async with tenant.db.transaction() as tx:
            await team.remove_member(tx, tenant.id, bob.person.id, giver=Role.OWNER, by=factory.BY, at=factory.now())
        link = await invited(tenant, bob.person.email)
        assert (await again.post(link, data={"name": "Bob", "password": GOOD})).status_code == 303
        assert (await again.get("/studio/account")).status_code == 200
