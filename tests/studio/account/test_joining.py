"""Joining with an account that nobody has proven: confirmed, with a new credential, and with nothing from before."""

import httpx2
import pytest

from gatepass.domain import staff
from gatepass.domain.staff import Role, password
from gatepass.studio.middleware import Middleware
from gatepass.studio.web import cookies
from tests import factory
from tests.authenticator import Authenticator
from tests.studio.account.test_sign_up import device, invited
from tests.studio.browser_session import BrowserSession, browser, sign_in
from tests.studio.people import HASH, typed, with_passkey

NEW = "seven green umbrellas"


async def of_another(user: BrowserSession) -> tuple[factory.Tenant, str]:
    """Another organization, and the path of its invitation for this person."""
    other = await factory.tenant(user.tenant.db)
    return other, await invited(other, user.person.email)


async def plant(user: BrowserSession) -> Authenticator:
    """A password and a passkey that somebody else may know."""
    async with user.tenant.db.transaction() as tx:
        await password.keep(tx, user.person.id, HASH, at=factory.now())
    return await with_passkey(user.tenant, user.person)


async def passkey_works(client: httpx2.AsyncClient, phone: Authenticator) -> bool:
    options = await client.post("/studio/sign-in/passkey/options")
    answer = await client.post("/studio/sign-in/passkey", data={"answer": phone.get(options.text)})
    return answer.status_code == 303


async def test_a_new_password_replaces_everything(
    studio: Middleware, user: BrowserSession, stranger: httpx2.AsyncClient
) -> None:
    planted, before = await plant(user), user.client.cookies[cookies.SESSION]
    other, link = await of_another(user)
    page = await user.see(link)
    assert "Every older password, passkey and code of it is removed" in page
    answer = await user.send(f"{link}/join", password=NEW)
    assert answer.headers["location"] == "/studio/live/home"
    async with user.tenant.db.autocommit() as tx:
        session = await staff.find(tx, user.client.cookies[cookies.SESSION], at=factory.now())
        assert await staff.find(tx, before, at=factory.now()) is None, "the cookie is a new one"
        assert not await staff.is_proven(tx, user.person.id)
    assert session is not None
    assert (session.organization_id, session.role) == (other.id, Role.GATE_LEAD)
    assert not await passkey_works(stranger, planted)
    assert (await typed(stranger, user.person.email)).status_code == 422
    assert (await typed(stranger, user.person.email, NEW)).status_code == 303


async def test_a_new_passkey_replaces_everything(user: BrowserSession, stranger: httpx2.AsyncClient) -> None:
    planted = await plant(user)
    _, link = await of_another(user)
    phone = device()
    options = await user.send(f"{link}/join/passkey/options", status=200)
    assert '"excludeCredentials": []' in options.text, "the device may have one that is removed now"
    answer = await user.send(f"{link}/join/passkey", answer=phone.create(options.text))
    assert answer.headers["location"] == "/studio/live/home"
    assert not await passkey_works(stranger, planted)
    assert (await typed(stranger, user.person.email)).status_code == 422
    assert await passkey_works(stranger, phone)


@pytest.mark.parametrize("fields", [{}, {"password": "short"}, {"password": "password1234"}])
async def test_without_a_good_credential_nothing_changes(
    user: BrowserSession, stranger: httpx2.AsyncClient, fields: dict[str, str]
) -> None:
    planted = await plant(user)
    other, link = await of_another(user)
    await user.send(f"{link}/join", status=422, **fields)
    await user.send(f"{link}/join/passkey", status=422, answer="{}")
    async with user.tenant.db.autocommit() as tx:
        assert other.id not in {one.organization_id for one in await staff.memberships(tx, user.person.id)}
    assert await passkey_works(stranger, planted)


async def test_a_session_without_confirmation_is_not_enough(studio: Middleware, tenant: factory.Tenant) -> None:
    """A thief of a session could invite the person, and set a password of his own by that invitation."""
    async with await sign_in(studio, tenant, confirmed=False) as user:
        await plant(user)
        _, link = await of_another(user)
        for path in (f"{link}/join", f"{link}/join/passkey/options", f"{link}/join/passkey"):
            answer = await user.send(path, password=NEW, answer="{}")
            assert answer.headers["location"] == f"/studio/confirm?next={link}&undone=1"
        assert (await user.client.get(link)).headers["location"] == f"/studio/confirm?next={link}"


async def test_an_invitation_for_somebody_else_resets_nothing(user: BrowserSession) -> None:
    planted, link = await plant(user), await invited(user.tenant)
    for path in (f"{link}/join", f"{link}/join/passkey/options", f"{link}/join/passkey"):
        await user.send(path, status=403, password=NEW, answer="{}")
    assert await passkey_works(user.client, planted)


async def test_who_is_removed_while_they_join_stays_out(studio: Middleware, user: BrowserSession) -> None:
    from gatepass.domain.staff import account

    _, link = await of_another(user)
    async with user.tenant.db.transaction() as tx:
        await account.reset(tx, user.person.id, by="operator", at=factory.now())
    answer = await user.client.post(f"{link}/join", data={"password": NEW})
    assert answer.headers["location"] == link, "the session has ended"
    async with browser(studio) as again:
        assert (await typed(again, user.person.email, NEW)).status_code == 422
