"""Links that sign in, by mail: the same answer for everybody, worth a password, used by a button and once."""

from datetime import timedelta

import httpx2
import pytest

from gatepass.base.ids import new_id
from gatepass.domain.staff import account
from gatepass.domain.staff.mail import links
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.studio.browser_session import browser
from tests.studio.letters import letter_to, letters_to
from tests.studio.people import asked, somebody, with_passkey

MAIL = "/studio/sign-in/mail"


async def ask_for(client: httpx2.AsyncClient, email: str) -> httpx2.Response:
    return await client.post(MAIL, data={"email": email})


async def mailed_path(studio: Middleware, tenant: factory.Tenant, email: str) -> str:
    async with browser(studio) as client:
        assert (await ask_for(client, email)).status_code == 200
    return (await letter_to(tenant.db, email, "sign_in_link")).path


async def test_a_link_signs_in_once_and_only_by_its_button(mailing_studio: Middleware, tenant: factory.Tenant) -> None:
    grace = await somebody(tenant)
    async with browser(mailing_studio) as client:
        assert 'href="/studio/sign-in/mail"' in (await client.get("/studio/sign-in")).text
    path = await mailed_path(mailing_studio, tenant, grace.person.email)
    async with browser(mailing_studio) as scanner:
        for _ in range(3):
            assert (await scanner.get(path)).status_code == 200, "a mail scanner opens it and uses nothing up"
    async with browser(mailing_studio) as client:
        assert (await client.post(path)).headers["location"] == "/studio/live/home"
        assert (await client.get("/studio/account")).status_code == 200
    async with browser(mailing_studio) as thief:
        used = await thief.post(path)
        assert used.status_code == 404
        assert "Ask for a new one on the sign-in page" in used.text


async def test_using_one_ends_the_others(mailing_studio: Middleware, tenant: factory.Tenant) -> None:
    grace = await somebody(tenant)
    first = await mailed_path(mailing_studio, tenant, grace.person.email)
    second = await mailed_path(mailing_studio, tenant, grace.person.email)
    async with browser(mailing_studio) as client:
        assert (await client.post(first)).status_code == 303
        assert (await client.post(second)).status_code == 404


async def test_known_and_unknown_addresses_get_one_answer(mailing_studio: Middleware, tenant: factory.Tenant) -> None:
    grace = await somebody(tenant)
    off = await somebody(tenant)
    async with tenant.db.transaction() as tx:
        await account.disable(tx, off.person.id, by=factory.BY, at=factory.now())
    unknown = f"{new_id()}@example.org"
    pages: set[tuple[int, str]] = set()
    for email in (grace.person.email, off.person.email, unknown):
        async with browser(mailing_studio) as client:
            answer = await ask_for(client, email)
            pages.add((answer.status_code, answer.text.replace(email, "").replace(answer.headers["x-request-id"], "")))
    assert len(pages) == 1
    assert len(await letters_to(tenant.db, grace.person.email)) == 1
    assert await letters_to(tenant.db, off.person.email) == await letters_to(tenant.db, unknown) == []


async def test_who_has_codes_is_asked_for_one(mailing_studio: Middleware, tenant: factory.Tenant) -> None:
    grace = await somebody(tenant, codes=True)
    path = await mailed_path(mailing_studio, tenant, grace.person.email)
    async with browser(mailing_studio) as client:
        page = await client.post(path)
        assert page.status_code == 200
        assert (await client.get("/studio/account")).status_code == 303, "not yet signed in"
        answer = await client.post("/studio/sign-in/code", data={"asked": asked(page.text), "code": grace.code()})
        assert answer.status_code == 303
        assert (await client.get("/studio/account")).status_code == 200


async def test_passkeys_alone_are_worth_more_than_a_link(mailing_studio: Middleware, tenant: factory.Tenant) -> None:
    """The session reads, and must be confirmed with the passkey before it changes a secret."""
    grace = await somebody(tenant)
    await with_passkey(tenant, grace.person)
    async with tenant.db.transaction() as tx:
        await tx.run("DELETE FROM password WHERE person_id = $1", grace.person.id)
    path = await mailed_path(mailing_studio, tenant, grace.person.email)
    async with browser(mailing_studio) as client:
        assert (await client.post(path)).status_code == 303
        assert (await client.get("/studio/account")).status_code == 200
        for change in ("/studio/account/password", "/studio/account/passkeys/options", "/studio/account/address"):
            answer = await client.post(change, data={"password": "three brown llamas", "email": "x@example.org"})
            assert answer.headers.get("location", "").startswith("/studio/confirm"), change


async def test_a_link_ends_after_fifteen_minutes_and_with_a_reset(tenant: factory.Tenant) -> None:
    grace, at = await somebody(tenant), factory.now()
    async with tenant.db.transaction() as tx:
        old = await links.make_sign_in(tx, grace.person.id, cell="a", at=at - timedelta(minutes=15))
        assert await links.use_sign_in(tx, old, at=at) is None
        reset = await links.make_sign_in(tx, grace.person.id, cell="a", at=at)
        await account.reset(tx, grace.person.id, by=factory.BY, at=at)
        assert await links.use_sign_in(tx, reset, at=at) is None


@pytest.mark.parametrize("email", ["", "\0@example.org", "a" * 400 + "@example.org"])
async def test_what_is_no_address_is_said_beside_the_field(mailing_studio: Middleware, email: str) -> None:
    async with browser(mailing_studio) as client:
        assert (await ask_for(client, email)).status_code == 422


async def test_without_a_mail_server_there_is_no_such_page(stranger: httpx2.AsyncClient) -> None:
    assert "Mail me a link" not in (await stranger.get("/studio/sign-in")).text
    assert (await stranger.get(MAIL)).status_code == 404
    assert (await ask_for(stranger, "grace@example.org")).status_code == 404
