"""The account: name, password, passkeys, one-time codes and sessions."""

import json
from base64 import b32decode

import pytest

from gatepass.base.ids import new_id
from gatepass.domain import audit_log, staff
from gatepass.domain.staff import one_time_code, passkey
from gatepass.domain.staff.browser_name import browser_name
from gatepass.studio.middleware import Middleware
from gatepass.studio.web import cookies
from tests import factory
from tests.authenticator import Authenticator
from tests.studio.account.test_reauthenticate import seated
from tests.studio.browser_session import ORIGIN, BrowserSession, browser, sign_in
from tests.studio.people import GOOD, somebody, typed, with_passkey

ACCOUNT = "/studio/account"


async def actions(user: BrowserSession) -> list[str]:
    async with user.tenant.db.autocommit() as tx:
        return [change.action for change in await audit_log.of_subject(tx, user.tenant.id, user.person.id)]


async def test_a_new_name(user: BrowserSession) -> None:
    assert "Your name is changed." in await user.follow(await user.send(f"{ACCOUNT}/name", name="Ada <b>Lovelace"))
    page = await user.see(ACCOUNT)
    assert "Ada &lt;b&gt;Lovelace" in page
    refused = await user.send(f"{ACCOUNT}/name", status=422, name="x" * 201)
    assert "longer than 200 characters" in refused.text
    assert "renamed" in await actions(user)


async def test_a_password_ends_every_other_session(
    studio: Middleware, tenant: factory.Tenant, user: BrowserSession
) -> None:
    async with tenant.db.transaction() as tx:
        other = await staff.begin(tx, user.person.id, at=factory.now(), address=None, browser="another")
    answer = await user.send(f"{ACCOUNT}/password", password=GOOD)
    assert "Everywhere else you are signed out." in await user.follow(answer)
    async with tenant.db.autocommit() as tx:
        assert await staff.find(tx, other, at=factory.now()) is None
    async with browser(studio) as client:
        assert (await typed(client, user.person.email)).status_code == 303
    assert {"password_set", "sessions_ended"} <= set(await actions(user))


@pytest.mark.parametrize("weak", ["short", "gatepass2026", ""])
async def test_a_weak_password_is_refused_beside_its_field(user: BrowserSession, weak: str) -> None:
    answer = await user.send(f"{ACCOUNT}/password", status=422, password=weak)
    assert 'id="e-password"' in answer.text


async def test_changing_what_one_signs_in_with_wants_a_confirmed_session(
    studio: Middleware, tenant: factory.Tenant
) -> None:
    async with await seated(studio, tenant, await somebody(tenant)) as user:
        for path in ("password", "passkeys", "passkeys/options", f"passkeys/{new_id()}/remove", "codes/begin",
                     "codes", "codes/off", "recovery"):  # fmt: skip
            answer = await user.send(f"{ACCOUNT}/{path}", password="another good password")
            assert answer.headers["location"].startswith("/studio/confirm?next="), path


async def test_the_first_password_of_somebody_who_came_by_link_needs_none(
    studio: Middleware, tenant: factory.Tenant
) -> None:
    async with await sign_in(studio, tenant, confirmed=False) as user:
        assert "You came by a one-time link." in await user.see(ACCOUNT)
        answer = await user.send(f"{ACCOUNT}/password", password=GOOD)
        assert answer.headers["location"] == ACCOUNT
        answer = await user.send(f"{ACCOUNT}/password", password="another good password")
        assert answer.headers["location"].startswith("/studio/confirm?next="), "the second one does"


async def test_passkeys_are_added_named_and_removed(user: BrowserSession) -> None:
    device = Authenticator(origin=ORIGIN, rp_id="studio.test")
    options = await user.send(f"{ACCOUNT}/passkeys/options", status=200)
    assert json.loads(options.text)["user"]["name"] == user.person.email
    await user.send(f"{ACCOUNT}/passkeys", answer=device.create(options.text), name="Work <i>laptop")
    assert "Work &lt;i&gt;laptop" in await user.see(ACCOUNT)
    async with user.tenant.db.autocommit() as tx:
        (kept,) = await passkey.passkeys_of(tx, user.person.id)
    refused = await user.send(f"{ACCOUNT}/passkeys/{kept.id}/remove", status=409)
    assert "all that you can sign in with" in refused.text
    await user.send(f"{ACCOUNT}/passkeys/{kept.id}/rename", name="Old")
    await user.send(f"{ACCOUNT}/password", password=GOOD)
    await user.send(f"{ACCOUNT}/passkeys/{kept.id}/remove")
    await user.send(f"{ACCOUNT}/passkeys/{kept.id}/remove", status=404)
    assert {"passkey_added", "passkey_renamed", "passkey_removed"} <= set(await actions(user))


async def test_a_passkey_that_answers_nothing_is_not_kept(user: BrowserSession) -> None:
    for answer in ("", "{}", Authenticator().create('{"challenge": "AAAA", "user": {"id": "AAAA"}}')):
        refused = await user.send(f"{ACCOUNT}/passkeys", status=422, answer=answer)
        assert "The passkey could not be made." in refused.text


async def test_nobody_names_or_removes_anothers_passkey(
    studio: Middleware, tenant: factory.Tenant, user: BrowserSession
) -> None:
    grace = await somebody(tenant)
    await with_passkey(tenant, grace.person)
    async with tenant.db.autocommit() as tx:
        (kept,) = await passkey.passkeys_of(tx, grace.person.id)
    await user.send(f"{ACCOUNT}/password", password=GOOD)
    await user.send(f"{ACCOUNT}/passkeys/{kept.id}/rename", status=404, name="mine")
    await user.send(f"{ACCOUNT}/passkeys/{kept.id}/remove", status=404)


async def test_codes_are_turned_on_renewed_and_off(user: BrowserSession) -> None:
    await user.send(f"{ACCOUNT}/password", password=GOOD)
    assert (await user.client.get(f"{ACCOUNT}/codes")).headers["location"] == ACCOUNT, "nothing was begun"
    page = await user.follow(await user.send(f"{ACCOUNT}/codes/begin"))
    assert "data:image/svg+xml;base64," in page
    seed = page.partition('<span class="mono">')[2].partition("<")[0]
    wrong = await user.send(f"{ACCOUNT}/codes", status=422, code="000000")
    assert seed in wrong.text, "the same picture again"
    code = one_time_code.code_of(b32decode(seed), one_time_code.step_of(factory.now()))
    shown = await user.send(f"{ACCOUNT}/codes", status=200, code=code)
    assert "They are shown this once." in shown.text
    assert "10 recovery codes" in await user.see(ACCOUNT)
    renewed = await user.send(f"{ACCOUNT}/recovery", status=200)
    assert renewed.text.partition("<pre")[2].partition("</pre")[0] not in shown.text
    await user.send(f"{ACCOUNT}/codes/begin", status=409)
    await user.send(f"{ACCOUNT}/codes/off")
    assert "One-time codes are off." in await user.see(ACCOUNT)
    assert {"one_time_codes_on", "recovery_codes_made", "one_time_codes_off"} <= set(await actions(user))


async def test_sessions_are_listed_and_ended(user: BrowserSession) -> None:
    agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1 Version/19.0 Safari/604.1"
    async with user.tenant.db.transaction() as tx:
        tokens = [
            await staff.begin(tx, user.person.id, at=factory.now(), address=None, browser=agent) for _ in range(3)
        ]
        other = await staff.find(tx, tokens[0], at=factory.now())
    assert other is not None
    page = await user.see(ACCOUNT)
    assert page.count("Safari on iPhone") == 3
    await user.send(f"{ACCOUNT}/sessions/{other.id}/end")
    await user.send(f"{ACCOUNT}/sessions/{other.id}/end", status=404)
    assert (await user.see(ACCOUNT)).count("Safari on iPhone") == 2
    await user.send(f"{ACCOUNT}/sessions/end-others")
    assert "Safari on iPhone" not in await user.see(ACCOUNT)
    assert cookies.SESSION in user.client.cookies


async def test_nobody_ends_anothers_session(studio: Middleware, tenant: factory.Tenant, user: BrowserSession) -> None:
    async with await sign_in(studio, tenant) as bob:
        async with tenant.db.autocommit() as tx:
            session = await staff.find(tx, bob.client.cookies[cookies.SESSION], at=factory.now())
        assert session is not None
        await user.send(f"{ACCOUNT}/sessions/{session.id}/end", status=404)
        await bob.see("home")


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Windows"),
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36", "Chrome on Linux"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 15_0) AppleWebKit/537.36 Chrome/140 Edg/140.0", "Edge on Mac"),
        ("", "Unknown browser"),
        (None, "Unknown browser"),
    ],
)
def test_a_browser_in_words(agent: str | None, name: str) -> None:
    assert browser_name(agent) == name
