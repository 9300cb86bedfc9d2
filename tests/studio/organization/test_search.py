"""Paste any id and land on its page."""

from uuid import UUID

from gatepass.base.ids import new_id, request_text
from gatepass.domain import cards
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Role
from gatepass.domain.webhooks import written_id
from gatepass.studio.reception import Reception
from tests import make
from tests.studio.desk import Desk, sit_down


async def _lands(desk: Desk, wanted: str) -> str | None:
    answer = await desk.client.get(desk.url("find"), params={"q": wanted})
    return answer.headers.get("location") if answer.status_code == 303 else None


async def test_any_id_leads_to_its_page(desk: Desk) -> None:
    house = desk.house
    card = await house.card()
    key = await house.key(mode=Mode.SANDBOX)
    endpoint_id, _ = await house.endpoint("https://receiver.test/hook", mode=Mode.SANDBOX)
    async with house.db.reading() as tx:
        ticket_id = await tx.value(
            "SELECT id FROM ticket WHERE organization_id = $1 AND card_id = $2", house.id, card.id
        )
    assert await _lands(desk, str(house.event_id)) == f"/studio/live/events/{house.event_id}"
    assert await _lands(desk, f"  {str(house.event_id).upper()} ") == f"/studio/live/events/{house.event_id}"
    for text in (str(card.id), card.id.hex, card.number, card.number.lower().replace(" ", "-"), str(ticket_id)):
        assert await _lands(desk, text) == f"/studio/live/cards/{card.id}", text
    assert await _lands(desk, str(key.id)) == f"/studio/sandbox/keys/{key.id}"
    assert await _lands(desk, str(endpoint_id)) == f"/studio/sandbox/webhooks/{endpoint_id}"
    assert await _lands(desk, str(desk.person.id)) == f"/studio/live/team/{desk.person.id}"
    request = request_text(new_id())
    assert await _lands(desk, request) == f"/studio/live/requests/{request}"


async def test_a_delivery_is_found_by_its_id_and_by_that_of_its_message(desk: Desk) -> None:
    endpoint_id, _ = await desk.house.endpoint("https://receiver.test/hook")
    (message,) = await desk.house.tell()
    async with desk.house.db.reading() as tx:
        id: UUID = await tx.value("SELECT id FROM webhook_delivery WHERE organization_id = $1", desk.house.id)
    for text in (str(id), written_id(message)):
        assert await _lands(desk, text) == f"/studio/live/webhooks/{endpoint_id}/deliveries/{id}"


async def test_names_are_found_by_how_they_begin_and_only_by_who_may_see_them(studio: Reception, desk: Desk) -> None:
    async with desk.house.db.transaction() as tx:
        for name in ("Grace Hopper", "Grace Kelly", "100%_sure"):
            await cards.issue(tx, desk.house.id, by=make.BY, at=make.now(), holder_name=name)
    page = await desk.see("find?q=grace")
    assert "Grace Hopper" in page
    assert "Grace Kelly" in page
    assert await _lands(desk, "100%_") is not None, "signs of LIKE are letters here"
    assert "Nothing by that name" in await desk.see("find?q=_race")
    async with await sit_down(studio, desk.house, Role.VIEWER) as viewer:
        assert "Grace Hopper" not in await viewer.see("find?q=grace")


async def test_nothing_of_another_organization_is_found(desk: Desk) -> None:
    other = await make.house(desk.house.db)
    card = await other.card()
    for text in (str(other.event_id), str(card.id), card.number):
        assert "Nothing by that name" in await desk.see(f"find?q={text}"), text
