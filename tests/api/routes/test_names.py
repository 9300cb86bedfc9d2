"""Names of guests: those of the world are kept as they are written, and what turns a line around is refused."""

import httpx2

from tests.api.conftest import assert_error
from tests.domain.cards.names import ACCEPTED, REFUSED
from tests.factory import Tenant

UNPRINTABLE = "holder.name is empty, or cannot be printed."


def tickets(tenant: Tenant, names: list[str]) -> dict[str, object]:
    event, category = str(tenant.event_id), str(tenant.category_id)
    return {"tickets": [{"event_id": event, "category_id": category, "holder": {"name": name}} for name in names]}


async def test_names_of_the_world_are_kept(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    assert len(ACCEPTED) >= 200
    answer = await client.post("/tickets/batch", json=tickets(tenant, ACCEPTED))
    assert answer.status_code == 200, answer.text
    assert [item["status"] for item in answer.json()["data"]] == [201] * len(ACCEPTED)
    cards = (await client.get("/cards", params={"limit": "100"})).json()
    shown = [card["holder"]["name"] for card in cards["data"]]
    while cards["has_more"]:
        cards = (await client.get("/cards", params={"limit": "100", "cursor": cards["next_cursor"]})).json()
        shown += [card["holder"]["name"] for card in cards["data"]]
    assert sorted(shown) == sorted(ACCEPTED)


async def test_what_is_no_name_is_refused(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    for text in REFUSED:
        answer = await client.post("/cards", json={"holder": {"name": text, "email": "ann@example.org"}})
        assert_error(answer, 400, "invalid_request", param="holder")


async def test_a_reason_may_have_joiners_too(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await tenant.card()
    for text in ("\u202eknA", "\u2067Ann", "a\nb", "\u200d"):
        answer = await client.post(f"/cards/{card.id}/suspend", json={"reason": text})
        assert_error(answer, 400, "invalid_request", param="reason")
    answer = await client.post(f"/cards/{card.id}/suspend", json={"reason": "ක්\u200dෂමා"})
    assert answer.status_code == 200
