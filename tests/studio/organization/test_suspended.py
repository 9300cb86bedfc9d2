"""The studio of a suspended or closed organization says so on every page, and does not make what would be refused."""

from datetime import timedelta

from gatepass.domain.lifecycle import suspension
from gatepass.domain.staff import account
from tests import factory
from tests.studio.browser_session import BrowserSession


async def test_every_page_says_so_and_why(user: BrowserSession) -> None:
    assert "suspended since" not in await user.see("home")
    async with user.tenant.db.transaction() as tx:
        await suspension.suspend(
            tx, user.tenant.id, reason="The invoice <b>of May</b> is open.", by="operator", at=factory.now()
        )
    for page in ("home", "keys", "webhooks", "team", "settings", "audit"):
        text = await user.see(page)
        assert "is suspended since" in text, page
        assert "The invoice &lt;b&gt;of May&lt;/b&gt; is open." in text, page


async def test_no_key_and_no_endpoint_is_made(user: BrowserSession) -> None:
    async with user.tenant.db.transaction() as tx:
        await suspension.suspend(tx, user.tenant.id, reason="x", by="operator", at=factory.now())
    key = {"name": "Gate", "scopes": "events:read", "expiry": "90d", "networks": ""}
    refused = await user.send("keys", status=409, **key)
    assert "This organization is suspended." in refused.text
    endpoint = {"url": "https://example.com/hook", "types": "ticket.activated", "description": ""}
    assert "suspended" in (await user.send("webhooks/new", status=409, **endpoint)).text


async def test_a_closed_one_says_when_it_is_erased(user: BrowserSession) -> None:
    async with user.tenant.db.transaction() as tx:
        await suspension.close(
            tx, user.tenant.id, reason="Over.", by="operator", at=factory.now(), keep=timedelta(days=7)
        )
    assert "Everything in it is erased after" in await user.see("home")


async def test_a_disabled_person_is_signed_out_at_once_and_comes_back(user: BrowserSession) -> None:
    await user.see("home")
    async with user.tenant.db.transaction() as tx:
        assert await account.disable(tx, user.person.id, by="operator", at=factory.now()) == 1
    gone = await user.client.get("/studio/live/home")
    assert (gone.status_code, gone.headers["location"].partition("?")[0]) == (303, "/studio/sign-in")
    async with user.tenant.db.transaction() as tx:
        assert await account.enable(tx, user.person.id, by="operator", at=factory.now())
    assert (await user.client.get("/studio/live/home")).status_code == 303, "the old session stays ended"
