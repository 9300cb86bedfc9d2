import httpx2

from gatepass.api.app import Gatehouse
from tests import make


async def test_a_scan_activates_once(inside: tuple[httpx2.AsyncClient, Gatehouse], house: make.House) -> None:
    client, _ = inside
    key, card = await house.key(), await house.card()
    headers = {"Authorization": f"Bearer {key.text}"}
    body = {"event_id": str(house.event_id), "card_number": card.number}
    assert (await client.post("/scan", json=body, headers=headers)).status_code == 200
    again = await client.post("/scan", json=body, headers=headers)
    assert again.status_code == 409
    assert again.json()["code"] == "already_activated"
