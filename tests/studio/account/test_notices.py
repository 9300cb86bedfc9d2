"""Notices: new credentials, and sign-ins from elsewhere; a banner until they are seen, and a way to say "not me"."""

import httpx2
import pytest

from gatepass.domain import staff
from gatepass.domain.staff import notices
from gatepass.studio.middleware import Middleware
from gatepass.studio.services.templates import root_of
from gatepass.studio.web import cookies
from tests import factory
from tests.server.asgi import TaskTransport
from tests.studio.browser_session import BrowserSession, browser, sign_in
from tests.studio.people import GOOD, somebody, typed

ACCOUNT = "/studio/account"
BANNER = "about your account"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18 Mobile/15E148 Safari/604"


async def kinds(tenant: factory.Tenant, person: staff.Person) -> list[str]:
    async with tenant.db.autocommit() as tx:
        return [one.kind for one in await notices.notices_of(tx, person.id)]


async def signed_in_from(
    studio: Middleware, email: str, *, agent: str = FIREFOX, address: str = "192.0.2.7"
) -> httpx2.AsyncClient:
    transport = TaskTransport(app=studio, client=(address, 1))
    headers = {"Sec-Fetch-Site": "same-origin", "User-Agent": agent}
    client = httpx2.AsyncClient(transport=transport, base_url="https://studio.test", headers=headers)
    assert (await typed(client, email)).status_code == 303
    return client


async def test_a_new_password_is_told_on_every_page_until_it_is_seen(user: BrowserSession) -> None:
    assert BANNER not in await user.see("home")
    await user.send(f"{ACCOUNT}/password", password=GOOD)
    for page in ("home", "keys", "settings"):
        assert f"1 notice {BANNER}" in await user.see(page)
    page = await user.see(ACCOUNT)
    assert "Your password was set" in page
    assert "127.0.0.1" in page
    await user.send(f"{ACCOUNT}/notices/seen")
    assert BANNER not in await user.see("home")
    assert "Your password was set" in await user.see(ACCOUNT), "it stays in the list"


async def test_codes_on_and_off_and_recovery_codes_are_told(studio: Middleware, tenant: factory.Tenant) -> None:
    grace = await somebody(tenant, codes=True)
    assert await kinds(tenant, grace.person) == [], "who has never signed in knows what they do"
    async with tenant.db.transaction() as tx:
        token = await staff.begin(tx, grace.person.id, at=factory.now(), address=None, browser="tests")
    async with browser(studio) as client:
        client.cookies.set(cookies.SESSION, token, domain="studio.test")
        await client.post(f"{ACCOUNT}/recovery")
        await client.post(f"{ACCOUNT}/codes/off")
    assert await kinds(tenant, grace.person) == ["one_time_codes_off", "recovery_codes_made"]


async def test_a_recovery_code_that_is_used_is_told(studio: Middleware, tenant: factory.Tenant) -> None:
    grace = await somebody(tenant, codes=True)
    for code in grace.recovery[:2]:
        async with browser(studio) as client:
            page = await typed(client, grace.person.email)
            asked = page.text.partition('name="asked" value="')[2].partition('"')[0]
            await client.post("/studio/sign-in/code", data={"asked": asked, "code": code})
    assert await kinds(tenant, grace.person) == ["recovery_code_used"], "the first sign-in of all is not told"


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ({}, False),
        ({"agent": FIREFOX.replace("140", "141")}, False),
        ({"address": "192.0.2.99"}, False),
        ({"agent": SAFARI}, True),
        ({"address": "198.51.100.7"}, True),
        ({"address": "2001:db8::7"}, True),
        ({"address": "::ffff:192.0.2.9"}, False),
    ],
    ids=["the same", "an update", "the same network", "another browser", "another network", "IPv6", "IPv4-mapped"],
)
async def test_a_sign_in_from_elsewhere(
    studio: Middleware, tenant: factory.Tenant, second: dict[str, str], *, told: bool
) -> None:
    grace = await somebody(tenant)
    first = await signed_in_from(studio, grace.person.email)
    again = await signed_in_from(studio, grace.person.email, **second)
    assert await kinds(tenant, grace.person) == ([notices.SIGNED_IN_ELSEWHERE] if told else [])
    assert (f"1 notice {BANNER}" in (await first.get(f"{root_of(tenant.id, 'live')}/home")).text) is told
    await first.aclose()
    await again.aclose()


async def test_it_was_not_me_ends_every_other_session(studio: Middleware, tenant: factory.Tenant) -> None:
    grace = await somebody(tenant)
    mine = await signed_in_from(studio, grace.person.email)
    theirs = await signed_in_from(studio, grace.person.email, agent=SAFARI, address="203.0.113.9")
    page = (await mine.get(ACCOUNT)).text
    assert "Safari on iPhone" in page
    assert "203.0.113.9" in page
    answer = await mine.post(f"{ACCOUNT}/notices/not-me")
    assert "set a new password" in (await mine.get(answer.headers["location"])).text
    assert (await theirs.get("/studio/account")).status_code == 303
    assert BANNER not in (await mine.get(f"{root_of(tenant.id, 'live')}/home")).text
    async with tenant.db.autocommit() as tx:
        found = await tx.value(
            "SELECT count(*) FROM audit_log WHERE organization_id = $1 AND action = 'activity_disowned'", tenant.id
        )
    assert found == 1
    await mine.aclose()
    await theirs.aclose()


async def test_nobody_sees_or_marks_the_notices_of_another(studio: Middleware, user: BrowserSession) -> None:
    await user.send(f"{ACCOUNT}/password", password=GOOD)
    async with await sign_in(studio, user.tenant) as other:
        assert BANNER not in await other.see("home")
        await other.send(f"{ACCOUNT}/notices/seen")
    assert f"1 notice {BANNER}" in await user.see("home")
