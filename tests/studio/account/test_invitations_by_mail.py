"""Invitations by mail: the link goes to the invited address alone, so the account that it makes is proven."""

from collections.abc import AsyncGenerator

import pytest

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Person, Role, invitations, membership
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.studio.browser_session import BrowserSession, browser, sign_in
from tests.studio.letters import letter_to, letters_to
from tests.studio.people import GOOD, somebody, typed

SIGN_UP = {"name": "The real one", "password": "umbrella piano forest nine"}


@pytest.fixture
async def owner(mailing_studio: Middleware, tenant: factory.Tenant) -> AsyncGenerator[BrowserSession]:
    async with await sign_in(mailing_studio, tenant) as user:
        yield user


def new_address() -> str:
    return f"{new_id()}@example.org"


async def invited(owner: BrowserSession, email: str, role: str = "viewer") -> str:
    """The path of the mailed link."""
    page = (await owner.send("team/invite", status=200, email=email, role=role)).text
    assert "/welcome/" not in page, "the inviting person is not shown it"
    return (await letter_to(owner.tenant.db, email, "invitation")).path


async def handed_over(tenant: factory.Tenant, email: str) -> str:
    """The path of a link that was made before there was a mail server."""
    async with tenant.db.transaction() as tx:
        made = await invitations.invite(
            tx, tenant.id, email, Role.VIEWER, giver=Role.OWNER, cell="a", by=factory.BY, at=factory.now()
        )
    return f"/studio/welcome/{made.token}"


async def found(tenant: factory.Tenant, email: str) -> Person | None:
    async with tenant.db.autocommit() as tx:
        return await staff.find_person(tx, email)


async def test_a_mailed_link_makes_a_proven_account(owner: BrowserSession, mailing_studio: Middleware) -> None:
    email = new_address()
    path = await invited(owner, email)
    assert "Sent by mail" in await owner.see("team/invitations")
    async with browser(mailing_studio) as client:
        assert (await client.get(path)).status_code == 200
        assert await found(owner.tenant, email) is None, "nothing exists until the button"
        assert (await client.post(path, data=SIGN_UP)).status_code == 303
        assert "Proven" in (await client.get("/studio/account")).text
        assert (await client.post(path, data=SIGN_UP)).status_code == 404, "it worked once"


async def test_a_link_that_was_handed_over_makes_no_account(mailing_studio: Middleware, tenant: factory.Tenant) -> None:
    """Whoever has it can have the invitation sent to its address, and that ends the link."""
    email = new_address()
    path = await handed_over(tenant, email)
    async with browser(mailing_studio) as mallory:
        assert "it does not show that the address is yours" in (await mallory.get(path)).text
        for rest, form in (("", SIGN_UP), ("/passkey", SIGN_UP), ("/passkey/options", SIGN_UP)):
            answer = await mallory.post(path + rest, data=form)
            assert answer.headers.get("location") == path, rest
        assert await found(tenant, email) is None
        assert "on its way" in (await mallory.post(f"{path}/mail")).text
        assert (await mallory.get(path)).status_code == 404
    mailed = (await letter_to(tenant.db, email, "invitation")).path
    async with browser(mailing_studio) as client:
        assert (await client.post(mailed, data=SIGN_UP)).status_code == 303
    person = await found(tenant, email)
    assert person is not None
    async with tenant.db.autocommit() as tx:
        assert await staff.is_proven(tx, person.id)


async def test_an_account_that_nobody_has_proven_keeps_nobody_out(
    owner: BrowserSession, mailing_studio: Middleware
) -> None:
    """It is in Mallory's organization, with a password of his. It loses the address, and gets nothing."""
    mallorys = await factory.tenant(owner.tenant.db)
    squatter = await somebody(mallorys)
    path = await invited(owner, squatter.person.email, "admin")
    async with browser(mailing_studio) as real:
        assert (await real.post(path, data=SIGN_UP)).status_code == 303
        assert (await real.get("/studio/account")).status_code == 200
    person = await found(owner.tenant, squatter.person.email)
    assert person is not None
    assert person.id != squatter.person.id
    async with owner.tenant.db.autocommit() as tx:
        places = await membership.memberships(tx, person.id)
        theirs = await membership.memberships(tx, squatter.person.id)
    assert [place.organization_id for place in places] == [owner.tenant.id], "nothing of Mallory's"
    assert [place.organization_id for place in theirs] == [mallorys.id], "and nothing of theirs"
    async with browser(mailing_studio) as mallory:
        assert (await typed(mallory, squatter.person.email, GOOD)).status_code == 422
        assert (await typed(mallory, f"{squatter.person.id}@unproven.invalid", GOOD)).status_code == 303
        assert (await mallory.get("/studio/account")).status_code == 200, "his own organization is still his"


async def test_a_proven_account_is_never_replaced(owner: BrowserSession, mailing_studio: Middleware) -> None:
    other = await factory.tenant(owner.tenant.db)
    grace = await somebody(other)
    async with other.db.transaction() as tx:
        await staff.mark_proven(tx, grace.person.id, at=factory.now())
    path = await invited(owner, grace.person.email)
    async with browser(mailing_studio) as client:
        assert (await client.post(path, data=SIGN_UP)).status_code == 422
        assert (await typed(client, grace.person.email, GOOD)).status_code == 303
        assert (await client.post(f"{path}/join")).headers["location"] == "/studio/live/home"


async def test_a_proven_account_joins_by_a_link_that_was_handed_over(
    mailing_studio: Middleware, tenant: factory.Tenant
) -> None:
    other = await factory.tenant(tenant.db)
    grace = await somebody(other)
    async with other.db.transaction() as tx:
        await staff.mark_proven(tx, grace.person.id, at=factory.now())
    path = await handed_over(tenant, grace.person.email)
    async with browser(mailing_studio) as client:
        assert (await typed(client, grace.person.email, GOOD)).status_code == 303
        assert "Join as" in (await client.get(path)).text
        assert (await client.post(f"{path}/join")).headers["location"] == "/studio/live/home"


async def test_an_unproven_account_does_not(mailing_studio: Middleware, tenant: factory.Tenant) -> None:
    grace = await somebody(await factory.tenant(tenant.db))
    path = await handed_over(tenant, grace.person.email)
    async with browser(mailing_studio) as client:
        assert (await typed(client, grace.person.email, GOOD)).status_code == 303
        answer = await client.post(f"{path}/join", data={"password": SIGN_UP["password"]})
        assert answer.headers.get("location") == path
    async with tenant.db.autocommit() as tx:
        places = await membership.memberships(tx, grace.person.id)
    assert tenant.id not in {place.organization_id for place in places}


async def test_one_address_gets_few_letters(owner: BrowserSession) -> None:
    email = new_address()
    for _ in range(3):
        await invited(owner, email)
    refused = await owner.send("team/invite", status=422, email=email.upper(), role="viewer")
    assert "There were several letters already" in refused.text
    assert len(await letters_to(owner.tenant.db, email)) == 3


async def test_an_address_that_no_letter_reaches_is_refused(owner: BrowserSession) -> None:
    refused = await owner.send("team/invite", status=422, email="<b>@example.org", role="viewer")
    assert "No letter can be sent" in refused.text
    async with owner.tenant.db.autocommit() as tx:
        count = await tx.value("SELECT count(*) FROM invitation WHERE organization_id = $1", owner.tenant.id)
    assert count == 0


async def test_a_name_that_looks_like_a_link_stays_out_of_the_letter(
    owner: BrowserSession, mailing_studio: Middleware
) -> None:
    await owner.send("/studio/account/name", name="Win at evil.example")
    email = new_address()
    await invited(owner, email)
    assert (await letter_to(owner.tenant.db, email, "invitation")).values["inviter"] == "Somebody"
