"""Re-authentication: secrets need it, it gives the session a new cookie, and it lasts ten minutes."""

from datetime import timedelta

import pytest

from gatepass.domain import staff
from gatepass.studio.middleware import Middleware
from gatepass.studio.web import cookies
from tests import factory
from tests.studio.browser_session import BrowserSession, browser, sign_in
from tests.studio.people import GOOD, Known, somebody, with_passkey

BACK = "/studio/live/team/invite"


async def seated(studio: Middleware, tenant: factory.Tenant, known: Known) -> BrowserSession:
    """A session that was confirmed long ago."""
    async with tenant.db.transaction() as tx:
        token = await staff.begin(tx, known.person.id, at=factory.now(), address=None, browser="tests", confirmed=False)
    client = browser(studio)
    client.cookies.set(cookies.SESSION, token, domain="studio.test")
    from gatepass.domain.staff import Role

    return BrowserSession(tenant, known.person, Role.OWNER, client)


async def invites(user: BrowserSession) -> bool:
    answer = await user.client.post(user.url("team/invite"), data={"email": "a@example.org", "role": "viewer"})
    if answer.status_code == 303:
        assert answer.headers["location"].startswith("/studio/confirm?next=")
    return answer.status_code == 200


async def test_a_password_confirms_and_changes_the_cookie(studio: Middleware, tenant: factory.Tenant) -> None:
    async with await seated(studio, tenant, await somebody(tenant)) as user:
        assert not await invites(user)
        before = user.client.cookies[cookies.SESSION]
        await user.send("/studio/confirm", status=422, password="a wrong password")
        answer = await user.send("/studio/confirm", password=GOOD, next=BACK)
        assert answer.headers["location"] == BACK
        assert user.client.cookies[cookies.SESSION] != before
        assert await invites(user)
        async with tenant.db.autocommit() as tx:
            assert await staff.find(tx, before, at=factory.now()) is None
            session = await staff.find(tx, user.client.cookies[cookies.SESSION], at=factory.now())
        assert session is not None
        assert not session.is_reauthenticated(factory.now() + timedelta(minutes=10))


async def test_what_was_sent_before_is_said_to_be_undone(studio: Middleware, tenant: factory.Tenant) -> None:
    """Before and after the confirmation; a page that was only opened says nothing."""
    async with await seated(studio, tenant, await somebody(tenant)) as user:
        form = {"email": "nobody.yet@example.org", "role": "viewer"}
        asked = await user.client.post(user.url("team/invite"), data=form)
        page = await user.follow(asked)
        assert "is not done yet" in page
        assert 'name="undone" value="1"' in page
        answer = await user.send("/studio/confirm", password=GOOD, next=user.url("team"), undone="1")
        assert "What you sent before was not done: send it again." in await user.follow(answer)
        assert "nobody.yet@" not in await user.see("team/invitations")
    async with await seated(studio, tenant, await somebody(tenant)) as user:
        opened = await user.client.get(user.url("team/invite"))
        assert "is not done yet" not in await user.follow(opened)
        answer = await user.send("/studio/confirm", password=GOOD, next=user.url("team/invite"))
        assert "was not done" not in await user.follow(answer)


async def test_what_was_said_is_shown_before_the_confirmation(studio: Middleware, tenant: factory.Tenant) -> None:
    """Saving an event leads on to a page that asks for a confirmation: it is saved all the same."""
    async with await seated(studio, tenant, await somebody(tenant)) as user:
        answer = await user.send("/studio/account/name", name="Grace H.")
        assert answer.status_code == 303
        assert 'role="status"' in await user.see("/studio/account")
        answer = await user.send("/studio/account/name", name="Grace Hopper")
        assert 'data-tone="good"' in await user.see("/studio/confirm?next=/studio/account")


async def test_with_codes_on_a_code_is_wanted_too(studio: Middleware, tenant: factory.Tenant) -> None:
    grace = await somebody(tenant, codes=True)
    async with await seated(studio, tenant, grace) as user:
        assert 'name="code"' in await user.see("/studio/confirm")
        await user.send("/studio/confirm", status=422, password=GOOD)
        await user.send("/studio/confirm", status=422, password=GOOD, code="000000")
        assert not await invites(user)
        await user.send("/studio/confirm", password=GOOD, code=grace.code())
        assert await invites(user)


async def test_a_recovery_code_will_do(studio: Middleware, tenant: factory.Tenant) -> None:
    grace = await somebody(tenant, codes=True)
    async with await seated(studio, tenant, grace) as user:
        await user.send("/studio/confirm", password=GOOD, code=grace.recovery[3])
        assert await invites(user)


async def test_a_passkey_confirms(studio: Middleware, tenant: factory.Tenant) -> None:
    grace = await somebody(tenant)
    device = await with_passkey(tenant, grace.person)
    async with await seated(studio, tenant, grace) as user:
        options = await user.send("/studio/confirm/passkey/options", status=200)
        answer = device.get(options.text)
        await user.send("/studio/confirm/passkey", answer=answer, next=BACK)
        assert await invites(user)
        await user.send("/studio/confirm/passkey", status=422, answer=answer)


async def test_anothers_passkey_does_not(studio: Middleware, tenant: factory.Tenant) -> None:
    device = await with_passkey(tenant, (await somebody(tenant)).person)
    async with await seated(studio, tenant, await somebody(tenant)) as user:
        options = await user.send("/studio/confirm/passkey/options", status=200)
        await user.send("/studio/confirm/passkey", status=422, answer=device.get(options.text))
        assert not await invites(user)


@pytest.mark.usefixtures("still_clock")
async def test_guessing_waits(studio: Middleware, tenant: factory.Tenant) -> None:
    async with await seated(studio, tenant, await somebody(tenant)) as user:
        statuses = [
            (await user.client.post("/studio/confirm", data={"password": "wrong"})).status_code for _ in range(6)
        ]
        assert statuses == [422] * 5 + [429]


async def test_who_has_nothing_to_confirm_with_is_shown_the_way(studio: Middleware, tenant: factory.Tenant) -> None:
    async with await sign_in(studio, tenant, confirmed=False) as user:
        assert "neither a passkey nor a password" in await user.see("/studio/confirm")
        await user.send("/studio/confirm", status=422, password="")


@pytest.mark.parametrize("path", ["name", "password", "passkeys", "codes/begin", "sessions/end-others"])
async def test_the_account_is_for_those_who_are_signed_in(studio: Middleware, path: str) -> None:
    async with browser(studio) as client:
        answer = await client.post(f"/studio/account/{path}")
    assert answer.headers["location"].startswith("/studio/sign-in?next=")
