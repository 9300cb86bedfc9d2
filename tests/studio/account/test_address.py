"""The address of an account: proven by a link in a letter, changed by one, and never by opening it."""

from collections.abc import AsyncGenerator

import pytest

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Role, membership
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.authenticator import Authenticator
from tests.studio.browser_session import ORIGIN, BrowserSession, browser, sign_in
from tests.studio.letters import letter_to, letters_to
from tests.studio.people import GOOD, somebody, typed, with_passkey

NEW_PASSWORD = "umbrella piano forest nine"


@pytest.fixture
async def ada(mailing_studio: Middleware, tenant: factory.Tenant) -> AsyncGenerator[BrowserSession]:
    """Signed in, under an address that nobody has proven."""
    async with await sign_in(mailing_studio, tenant) as user:
        yield user


async def prove(tenant: factory.Tenant, user: BrowserSession) -> None:
    async with tenant.db.transaction() as tx:
        await staff.mark_proven(tx, user.person.id, at=factory.now())


async def is_proven(tenant: factory.Tenant, user: BrowserSession) -> bool:
    async with tenant.db.autocommit() as tx:
        return await staff.is_proven(tx, user.person.id)


def new_address() -> str:
    return f"{new_id()}@example.org"


async def test_a_proven_account_changes_its_address_by_a_button(ada: BrowserSession) -> None:
    await prove(ada.tenant, ada)
    was, becomes = ada.person.email, new_address()
    assert becomes in (await ada.send("/studio/account/address", status=200, email=becomes)).text
    path = (await letter_to(ada.tenant.db, becomes, "address_proof")).path
    assert "Change your address" in await ada.see(path)
    assert was in await ada.see("/studio/account"), "opening the link changed nothing"
    await ada.send(path)
    assert becomes in await ada.see("/studio/account")
    told = await letter_to(ada.tenant.db, was, "address_changed")
    assert told.values["becomes"] == f"{becomes[0]}…@example.org", "the old mailbox does not learn the new address"
    await ada.send(path, status=404)
    async with ada.tenant.db.autocommit() as tx:
        assert await staff.find_person(tx, was) is None


async def test_an_unproven_account_starts_anew(ada: BrowserSession, mailing_studio: Middleware) -> None:
    """Whoever made the account may have kept a way in: nothing from before is left."""
    old_key = await with_passkey(ada.tenant, ada.person)
    await ada.send("/studio/account/address", status=200, email=ada.person.email)
    path = (await letter_to(ada.tenant.db, ada.person.email, "address_proof")).path
    assert "Choose a new passkey or password" in await ada.see(path)
    assert "Use at least 12" in (await ada.send(path, status=422, password="short")).text
    await ada.send(path, password=NEW_PASSWORD)
    assert await is_proven(ada.tenant, ada)
    assert "Proven" in await ada.see("/studio/account")
    async with browser(mailing_studio) as client:
        options = (await client.post("/studio/sign-in/passkey/options")).text
        answer = await client.post("/studio/sign-in/passkey", data={"answer": old_key.get(options)})
        assert answer.status_code == 422
        assert (await typed(client, ada.person.email, NEW_PASSWORD)).status_code == 303


async def test_an_unproven_account_starts_anew_with_a_passkey(ada: BrowserSession) -> None:
    await ada.send("/studio/account/address", status=200, email=ada.person.email)
    path = (await letter_to(ada.tenant.db, ada.person.email, "address_proof")).path
    device = Authenticator(origin=ORIGIN, rp_id="studio.test")
    options = (await ada.send(f"{path}/passkey/options", status=200)).text
    await ada.send(f"{path}/passkey", answer=device.create(options))
    assert await is_proven(ada.tenant, ada)


async def test_a_link_is_for_the_account_that_asked_for_it(ada: BrowserSession, mailing_studio: Middleware) -> None:
    """The owner of a mistyped address gets a letter, and no account."""
    await prove(ada.tenant, ada)
    becomes = new_address()
    await ada.send("/studio/account/address", status=200, email=becomes)
    path = (await letter_to(ada.tenant.db, becomes, "address_proof")).path
    async with await sign_in(mailing_studio, ada.tenant, Role.VIEWER) as other, browser(mailing_studio) as stranger:
        await other.see(path, status=404)
        await other.send(path, status=404)
        assert (await stranger.post(path)).headers["location"].startswith("/studio/sign-in")
    assert ada.person.email in await ada.see("/studio/account")


async def test_a_newer_letter_ends_the_older(ada: BrowserSession) -> None:
    await prove(ada.tenant, ada)
    first, second = new_address(), new_address()
    for email in (first, second):
        await ada.send("/studio/account/address", status=200, email=email)
    await ada.send((await letter_to(ada.tenant.db, first, "address_proof")).path, status=404)
    await ada.send((await letter_to(ada.tenant.db, second, "address_proof")).path)


async def test_a_taken_address_is_told_to_who_reads_its_letters_alone(ada: BrowserSession) -> None:
    await prove(ada.tenant, ada)
    taken = await somebody(ada.tenant)
    async with ada.tenant.db.transaction() as tx:
        await staff.mark_proven(tx, taken.person.id, at=factory.now())
    page = (await ada.send("/studio/account/address", status=200, email=taken.person.email)).text
    free = new_address()
    other = (await ada.send("/studio/account/address", status=200, email=free)).text
    request_ids = {text.rpartition("req_")[2][:40] for text in (page, other)}
    plain = {text.replace(taken.person.email, "").replace(free, "") for text in (page, other)}
    assert len({_without(text, request_ids) for text in plain}) == 1
    await ada.send("/studio/account/address", status=200, email=taken.person.email)
    path = (await letter_to(ada.tenant.db, taken.person.email, "address_proof")).path
    assert "here already" in (await ada.send(path, status=422)).text


def _without(text: str, parts: set[str]) -> str:
    for part in parts:
        text = text.replace(part, "")
    return text


async def test_who_has_not_proven_the_address_loses_it_and_nothing_else(ada: BrowserSession) -> None:
    await prove(ada.tenant, ada)
    squatter = await somebody(ada.tenant)
    await ada.send("/studio/account/address", status=200, email=squatter.person.email)
    await ada.send((await letter_to(ada.tenant.db, squatter.person.email, "address_proof")).path)
    async with ada.tenant.db.autocommit() as tx:
        found = await staff.find_person(tx, squatter.person.email)
        assert found is not None
        assert found.id == ada.person.id
        kept = await tx.value("SELECT email FROM person WHERE id = $1", squatter.person.id)
        assert kept == f"{squatter.person.id}@unproven.invalid"
        assert await membership.memberships(tx, squatter.person.id), "its memberships stay"


async def test_an_unproven_account_gets_a_letter_at_its_sign_in_and_not_at_each(
    mailing_studio: Middleware, tenant: factory.Tenant
) -> None:
    grace = await somebody(tenant)
    for _ in range(2):
        async with browser(mailing_studio) as client:
            assert (await typed(client, grace.person.email, GOOD)).status_code == 303
            assert (await client.get("/studio/account")).status_code == 200, "nobody is locked out"
    assert [one.kind for one in await letters_to(tenant.db, grace.person.email)] == ["address_proof"]


async def test_a_proven_account_gets_none(mailing_studio: Middleware, tenant: factory.Tenant) -> None:
    grace = await somebody(tenant)
    async with tenant.db.transaction() as tx:
        await staff.mark_proven(tx, grace.person.id, at=factory.now())
    async with browser(mailing_studio) as client:
        assert (await typed(client, grace.person.email, GOOD)).status_code == 303
    assert await letters_to(tenant.db, grace.person.email) == []


@pytest.mark.parametrize("email", ["", "nobody", "a b@example.org", "ä@example.org", "<b>@example.org", "x\r\n@y.org"])
async def test_what_is_no_address_gets_no_letter(ada: BrowserSession, email: str) -> None:
    await ada.send("/studio/account/address", status=422, email=email)


async def test_without_a_mail_server_there_is_nothing_to_prove(user: BrowserSession) -> None:
    assert "E-mail address" not in await user.see("/studio/account")
    await user.see("/studio/account/address", status=404)
    await user.send("/studio/account/address", status=404, email=new_address())
