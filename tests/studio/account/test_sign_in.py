"""Signing in and out: by password, code, recovery code, passkey and one-time link; sessions; choosing an organization.

No response says which e-mail addresses are known.
"""

import secrets
from datetime import timedelta

import httpx2
import pytest

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Role, account, sign_in_links
from gatepass.domain.staff.sessions import token_digest
from gatepass.studio.middleware import Middleware
from gatepass.studio.web import cookies
from gatepass.studio.web.auth import HOME, own_page
from tests import factory
from tests.studio.browser_session import BrowserSession, browser
from tests.studio.people import GOOD, asked, somebody, typed, with_passkey

WRONG = "The e-mail address or the password is not right."


async def test_a_password_signs_in_and_goes_on_to_the_page(
    tenant: factory.Tenant, stranger: httpx2.AsyncClient
) -> None:
    grace = await somebody(tenant)
    page = await stranger.get("/studio/sign-in", params={"next": "/studio/live/team?after=x"})
    assert 'value="/studio/live/team?after=x"' in page.text
    answer = await typed(stranger, grace.person.email.upper(), next="/studio/live/team?after=x")
    assert (answer.status_code, answer.headers["location"]) == (303, "/studio/live/team?after=x")
    assert (await stranger.get("/studio/account")).status_code == 200
    again = await stranger.get("/studio/sign-in")
    assert again.headers["location"] == "/studio/live/home", "who is signed in need not"


async def test_no_answer_says_who_exists(tenant: factory.Tenant, studio: Middleware) -> None:
    grace = await somebody(tenant)
    pages: list[tuple[int, str]] = []
    for email in (grace.person.email, f"{new_id()}@example.org"):
        async with browser(studio) as client:
            answer = await typed(client, email, "a wrong password")
            text = answer.text.replace(email, "").replace(answer.headers["x-request-id"], "")
            pages.append((answer.status_code, text))
            assert answer.headers.get("set-cookie") is None
    assert pages[0] == pages[1]
    assert WRONG in pages[0][1]


async def test_the_address_is_kept_and_the_password_is_not(stranger: httpx2.AsyncClient) -> None:
    answer = await typed(stranger, "grace@example.org", "my very own secret")
    assert 'value="grace@example.org"' in answer.text
    assert "my very own secret" not in answer.text


@pytest.mark.parametrize("fields", [{}, {"email": "a@b.c"}, {"password": GOOD}, {"email": "\0@b.c", "password": GOOD}])
async def test_what_is_missing_is_said_beside_its_field(stranger: httpx2.AsyncClient, fields: dict[str, str]) -> None:
    answer = await stranger.post("/studio/sign-in", data=fields)
    assert answer.status_code == 422
    assert 'class="wrong"' in answer.text


@pytest.mark.usefixtures("still_clock")
async def test_too_many_tries_wait_and_a_passkey_does_not(tenant: factory.Tenant, stranger: httpx2.AsyncClient) -> None:
    grace = await somebody(tenant)
    device = await with_passkey(tenant, grace.person)
    statuses = [(await typed(stranger, grace.person.email, "a wrong password")).status_code for _ in range(5)]
    assert statuses == [422] * 5
    refused = await typed(stranger, grace.person.email)
    assert refused.status_code == 429, "the right password has to wait too"
    assert int(refused.headers["retry-after"]) >= 1
    assert "too many failed tries" in refused.text
    options = await stranger.post("/studio/sign-in/passkey/options")
    answer = await stranger.post("/studio/sign-in/passkey", data={"answer": device.get(options.text)})
    assert answer.status_code == 303


async def test_with_codes_on_a_password_is_not_enough(tenant: factory.Tenant, stranger: httpx2.AsyncClient) -> None:
    grace = await somebody(tenant, codes=True)
    page = await typed(stranger, grace.person.email, next="/studio/live/team")
    assert (page.status_code, cookies.SESSION in stranger.cookies) == (200, False)
    fields = {"asked": asked(page.text), "next": "/studio/live/team"}
    wrong = await stranger.post("/studio/sign-in/code", data={**fields, "code": "000000"})
    assert (wrong.status_code, asked(wrong.text)) == (422, fields["asked"])
    right = await stranger.post("/studio/sign-in/code", data={**fields, "code": grace.code()})
    assert (right.status_code, right.headers["location"]) == (303, "/studio/live/team")
    assert (await stranger.get("/studio/account")).status_code == 200


async def test_the_question_for_a_code_is_answered_once(tenant: factory.Tenant, studio: Middleware) -> None:
    grace = await somebody(tenant, codes=True)
    async with browser(studio) as client, browser(studio) as thief:
        question = asked((await typed(client, grace.person.email)).text)
        done = await client.post("/studio/sign-in/code", data={"asked": question, "code": grace.recovery[0]})
        assert done.status_code == 303
        again = await thief.post("/studio/sign-in/code", data={"asked": question, "code": grace.recovery[1]})
        assert again.headers["location"].startswith("/studio/sign-in?next=")
        assert cookies.SESSION not in thief.cookies
        second = asked((await typed(thief, grace.person.email)).text)
        replayed = await thief.post("/studio/sign-in/code", data={"asked": second, "code": grace.recovery[0]})
        assert replayed.status_code == 422, "a recovery code works once"


@pytest.mark.usefixtures("still_clock")
async def test_codes_cannot_be_guessed_at(tenant: factory.Tenant, stranger: httpx2.AsyncClient) -> None:
    grace = await somebody(tenant, codes=True)
    fields = {"asked": asked((await typed(stranger, grace.person.email)).text), "code": "000000"}
    statuses = [(await stranger.post("/studio/sign-in/code", data=fields)).status_code for _ in range(7)]
    assert statuses == [422] * 5 + [429] * 2
    fields["code"] = grace.code()
    assert (await stranger.post("/studio/sign-in/code", data=fields)).status_code == 429


@pytest.mark.parametrize("question", ["", "x", "AAAA", "%%%", "😀"])
async def test_a_question_that_nobody_asked(stranger: httpx2.AsyncClient, question: str) -> None:
    answer = await stranger.post("/studio/sign-in/code", data={"asked": question, "code": "123456"})
    assert answer.status_code == 303
    assert "That took too long." in (await stranger.get(answer.headers["location"])).text


async def test_a_passkey_signs_in_without_a_code(tenant: factory.Tenant, stranger: httpx2.AsyncClient) -> None:
    grace = await somebody(tenant, codes=True)
    device = await with_passkey(tenant, grace.person)
    options = await stranger.post("/studio/sign-in/passkey/options")
    answer = device.get(options.text)
    done = await stranger.post("/studio/sign-in/passkey", data={"answer": answer, "next": "/studio/account"})
    assert (done.status_code, done.headers["location"]) == (303, "/studio/account")
    stranger.cookies.clear()
    replayed = await stranger.post("/studio/sign-in/passkey", data={"answer": answer})
    assert replayed.status_code == 422
    assert "not recognized" in replayed.text


async def test_an_old_hash_is_made_anew(tenant: factory.Tenant, stranger: httpx2.AsyncClient) -> None:
    from argon2 import PasswordHasher

    from gatepass.domain.staff import password

    grace = await somebody(tenant)
    async with tenant.db.transaction() as tx:
        old = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(GOOD)
        await password.keep(tx, grace.person.id, old, at=factory.now())
    assert (await typed(stranger, grace.person.email)).status_code == 303
    async with tenant.db.autocommit() as tx:
        kept = await password.known_of(tx, grace.person.id)
    assert kept is not None
    assert "m=47104,t=2,p=1" in (kept.hash or "")


async def test_every_sign_in_is_a_new_session_and_ends_the_one_before(
    tenant: factory.Tenant, user: BrowserSession
) -> None:
    before = user.client.cookies[cookies.SESSION]
    grace = await somebody(tenant)
    await typed(user.client, grace.person.email)
    after = user.client.cookies[cookies.SESSION]
    assert after != before
    async with tenant.db.autocommit() as tx:
        assert await staff.find(tx, before, at=factory.now()) is None


async def test_signing_out_ends_the_session(user: BrowserSession) -> None:
    token = user.client.cookies[cookies.SESSION]
    answer = await user.send("/studio/sign-out")
    assert answer.headers["location"] == "/studio/sign-in"
    assert cookies.SESSION not in user.client.cookies
    assert "You are signed out." in await user.see("/studio/sign-in")
    async with user.tenant.db.autocommit() as tx:
        assert await staff.find(tx, token, at=factory.now()) is None
    assert (await user.client.post("/studio/sign-out")).status_code == 303, "twice is no harm"


@pytest.mark.parametrize(
    "wanted",
    [
        "", "https://evil.test", "//evil.test", "/\\evil.test", "/studio/..//evil.test\n", "javascript:alert(1)",
        "/studiox", "/studio/\x00", "/studio/a b", "/studio/<script>", "/api/public/v1", "/studio/" + "a" * 2_000,
    ],
)  # fmt: skip
def test_one_goes_on_to_our_own_pages_only(wanted: str) -> None:
    assert own_page(wanted) == HOME


def test_our_own_pages_with_their_filters() -> None:
    assert own_page("/studio/live/keys?status=active&q=a%20b") == "/studio/live/keys?status=active&q=a%20b"


async def test_a_huge_form_is_refused(stranger: httpx2.AsyncClient) -> None:
    assert (await typed(stranger, "a@b.c", "x" * 100_000)).status_code == 413


async def test_who_is_not_signed_in_goes_to_sign_in_and_back(stranger: httpx2.AsyncClient) -> None:
    answer = await stranger.get("/studio/live/home")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/studio/sign-in?next=/studio/live/home"


async def test_a_link_signs_in_once(studio: Middleware, user: BrowserSession, stranger: httpx2.AsyncClient) -> None:
    async with user.tenant.db.transaction() as tx:
        token = await staff.make_link(tx, user.person.id, cell="a", at=factory.now())
    assert (await stranger.get(f"/studio/link/{token}")).status_code == 200, "looking does not use it up"
    answer = await stranger.post(f"/studio/link/{token}")
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(cookies.SESSION + "=")
    assert "Secure" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert (await stranger.get("/studio/account")).status_code == 200
    async with browser(studio) as other:
        assert (await other.post(f"/studio/link/{token}")).status_code == 404


async def test_a_used_link_says_how_a_new_one_is_made(stranger: httpx2.AsyncClient) -> None:
    assert "gatepass person link" in (await stranger.post("/studio/link/used")).text


async def test_a_link_from_before_letters_signs_in(user: BrowserSession, stranger: httpx2.AsyncClient) -> None:
    old = secrets.token_urlsafe(32)
    async with user.tenant.db.transaction() as tx:
        await tx.run(sign_in_links.MAKE, token_digest(old), user.person.id, factory.now() + timedelta(minutes=1))
    assert (await stranger.post(f"/studio/link/{old}")).status_code == 303


async def test_a_link_is_too_old_after_a_quarter_of_an_hour(user: BrowserSession, stranger: httpx2.AsyncClient) -> None:
    async with user.tenant.db.transaction() as tx:
        token = await staff.make_link(tx, user.person.id, cell="a", at=factory.now() - timedelta(minutes=16))
    assert (await stranger.post(f"/studio/link/{token}")).status_code == 404


async def test_a_session_ends_when_it_is_idle_old_or_ended(user: BrowserSession) -> None:
    token = user.client.cookies[cookies.SESSION]
    async with user.tenant.db.transaction() as tx:
        session = await staff.find(tx, token, at=factory.now())
        assert session is not None
        assert await staff.find(tx, token, at=factory.now() + timedelta(hours=25)) is None
        assert await staff.find(tx, token, at=factory.now() + timedelta(days=15)) is None
        await staff.end(tx, session.id, at=factory.now())
        assert await staff.find(tx, token, at=factory.now()) is None


async def test_one_goes_to_another_organization_only_if_one_works_there(
    studio: Middleware, user: BrowserSession
) -> None:
    other = await factory.tenant(user.tenant.db)
    page = "/studio/organizations"
    answer = await user.client.post(page, data={"organization_id": str(other.id)})
    assert answer.status_code == 404
    async with user.tenant.db.transaction() as tx:
        await staff.join(tx, other.id, user.person.id, Role.VIEWER, by=factory.BY, at=factory.now())
    answer = await user.client.post(page, data={"organization_id": str(other.id)})
    assert answer.status_code == 303
    async with user.tenant.db.autocommit() as tx:
        session = await staff.find(tx, user.client.cookies[cookies.SESSION], at=factory.now())
    assert session is not None
    assert (session.organization_id, session.role) == (other.id, Role.VIEWER)


async def test_who_belongs_nowhere_is_told_so(studio: Middleware, user: BrowserSession) -> None:
    async with user.tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"alone-{user.person.id}@example.org", "Alone", at=factory.now())
        token = await staff.begin(tx, person.id, at=factory.now(), address=None, browser="")
    async with browser(studio) as client:
        client.cookies.set(cookies.SESSION, token)
        assert (await client.get("/studio/account")).headers["location"] == "/studio/organizations"
        assert "belong to no organization" in (await client.get("/studio/organizations")).text


async def test_a_disabled_account_is_refused_after_every_right_credential(
    tenant: factory.Tenant, stranger: httpx2.AsyncClient
) -> None:
    """Only whoever has the credential learns it. A wrong password is told as ever."""
    grace = await somebody(tenant)
    async with tenant.db.transaction() as tx:
        await account.disable(tx, grace.person.id, by="operator", at=factory.now())
        link = await staff.make_link(tx, grace.person.id, cell="a", at=factory.now())
    refused = await typed(stranger, grace.person.email)
    assert (refused.status_code, "This account is disabled." in refused.text) == (403, True)
    by_link = await stranger.post(f"/studio/link/{link}")
    assert (by_link.status_code, "This account is disabled." in by_link.text) == (403, True)
    assert (await stranger.get("/studio/account")).status_code == 303
    async with tenant.db.transaction() as tx:
        await account.enable(tx, grace.person.id, by="operator", at=factory.now())
    assert (await typed(stranger, grace.person.email)).status_code == 303
    async with tenant.db.transaction() as tx:
        await account.disable(tx, grace.person.id, by="operator", at=factory.now())
    assert WRONG in (await typed(stranger, grace.person.email, "a wrong password")).text
