"""The phone of a card, on the card's page: since when, and a lead ends it."""

from nacl.signing import SigningKey

from gatepass.domain import cards, events
from gatepass.domain.cards import phones
from gatepass.domain.events import EventCodes
from tests import factory
from tests.studio.browser_session import BrowserSession


async def test_a_lead_ends_a_phone_with_a_reason(user: BrowserSession) -> None:
    tenant = user.tenant
    card, key = await tenant.card(), bytes(SigningKey.generate().verify_key)
    assert "Phone 1" not in (await user.see(f"cards/{card.id}"))
    async with tenant.db.transaction() as tx:
        await phones.enrol(tx, tenant.id, card.id, key, factory.VAULT, at=factory.now())
    assert "Phone 1, since" in (await user.see(f"cards/{card.id}"))
    assert "say why" in (await user.send(f"cards/{card.id}/phone/end", status=422)).text
    await user.send(f"cards/{card.id}/phone/end", reason="It was stolen.")
    page = await user.see(f"cards/{card.id}")
    assert "It was stolen." in page
    assert "phone ended" in page
    async with tenant.db.autocommit() as tx:
        assert await cards.find_phone(tx, tenant.id, card.id) is None


async def test_the_codes_of_an_event_are_chosen_in_its_form_and_stay(user: BrowserSession) -> None:
    tenant = user.tenant
    form = {
        "title": "Night", "time_zone": "UTC", "starts_date": "2030-06-15", "starts_time": "20:00",
        "ends_date": "2030-06-15", "ends_time": "23:00", "codes": "phone",
    }  # fmt: skip
    made = await user.send("events/new", **form)
    event_id = made.headers["location"].split("/events/")[1].split("/")[0]
    async with tenant.db.autocommit() as tx:
        (row,) = await tx.rows("SELECT id, codes FROM event WHERE organization_id = $1 AND title = 'Night'", tenant.id)
    assert (str(row["id"]), row["codes"]) == (event_id, EventCodes.PHONE)
    assert "Only those that phones make themselves" in (await user.see(f"events/{event_id}"))
    page = await user.see(f"events/{event_id}/edit")
    assert '<option value="phone" selected>' in page
    async with tenant.db.autocommit() as tx:
        assert (await events.find(tx, tenant.id, row["id"])).event.codes is EventCodes.PHONE
