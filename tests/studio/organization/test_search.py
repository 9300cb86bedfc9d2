"""Search: paste an id, and go to its page."""

from uuid import UUID

from gatepass.base.ids import new_id, request_text
from gatepass.domain import cards
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Role
from gatepass.domain.webhooks import written_id
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.studio.browser_session import BrowserSession, sign_in


async def _lands(user: BrowserSession, wanted: str) -> str | None:
    answer = await user.client.get(user.url("find"), params={"q": wanted})
    return answer.headers.get("location") if answer.status_code == 303 else None


async def test_any_id_leads_to_its_page(user: BrowserSession) -> None:
    tenant = user.tenant
    card = await tenant.card()
    key = await tenant.key(mode=Mode.SANDBOX)
    endpoint_id, _ = await tenant.endpoint("https://receiver.test/hook", mode=Mode.SANDBOX)
    async with tenant.db.autocommit() as tx:
        ticket_id = await tx.value(
            "SELECT id FROM ticket WHERE organization_id = $1 AND card_id = $2", tenant.id, card.id
        )
    assert await _lands(user, str(tenant.event_id)) == f"{user.root()}events/{tenant.event_id}"
    assert await _lands(user, f"  {str(tenant.event_id).upper()} ") == f"{user.root()}events/{tenant.event_id}"
    for text in (str(card.id), card.id.hex, card.number, card.number.lower().replace(" ", "-"), str(ticket_id)):
        assert await _lands(user, text) == f"{user.root()}cards/{card.id}", text
    assert await _lands(user, str(key.id)) == f"{user.root('sandbox')}keys/{key.id}"
    assert await _lands(user, str(endpoint_id)) == f"{user.root('sandbox')}webhooks/{endpoint_id}"
    assert await _lands(user, str(user.person.id)) == f"{user.root()}team/{user.person.id}"
    request = request_text(new_id())
    assert await _lands(user, request) == f"{user.root()}requests/{request}"


async def test_a_delivery_is_found_by_its_id_and_by_that_of_its_message(user: BrowserSession) -> None:
    endpoint_id, _ = await user.tenant.endpoint("https://receiver.test/hook")
    (message,) = await user.tenant.tell()
    async with user.tenant.db.autocommit() as tx:
        id: UUID = await tx.value("SELECT id FROM webhook_delivery WHERE organization_id = $1", user.tenant.id)
    for text in (str(id), written_id(message)):
        assert await _lands(user, text) == f"{user.root()}webhooks/{endpoint_id}/deliveries/{id}"


async def test_names_are_found_by_how_they_begin_and_only_by_who_may_see_them(
    studio: Middleware, user: BrowserSession
) -> None:
    async with user.tenant.db.transaction() as tx:
        for name in ("Grace Hopper", "Grace Kelly", "100%_sure"):
            await cards.issue(tx, user.tenant.id, by=factory.BY, at=factory.now(), holder_name=name)
    page = await user.see("find?q=grace")
    assert "Grace Hopper" in page
    assert "Grace Kelly" in page
    assert await _lands(user, "100%_") is not None, "signs of LIKE are letters here"
    assert "Nothing by that name" in await user.see("find?q=_race")
    async with await sign_in(studio, user.tenant, Role.VIEWER) as viewer:
        assert "Grace Hopper" not in await viewer.see("find?q=grace")


async def test_cards_of_one_name_are_told_apart(user: BrowserSession) -> None:
    async with user.tenant.db.transaction() as tx:
        twins = [
            await cards.issue(
                tx, user.tenant.id, by=factory.BY, at=factory.now(), holder_name="Ann Lee", holder_email=to
            )
            for to in ("ann@example.org", None)
        ]
    page = await user.see("find?q=ann")
    assert f"{twins[0].number} · ann@example.org" in page
    assert twins[1].number in page


async def test_nothing_of_another_organization_is_found(user: BrowserSession) -> None:
    other = await factory.tenant(user.tenant.db)
    card = await other.card()
    for text in (str(other.event_id), str(card.id), card.number):
        assert "Nothing by that name" in await user.see(f"find?q={text}"), text
