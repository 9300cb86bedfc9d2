"""A smoke test of a running service: a scan, and its webhook."""

from typing import Any

import httpx2
from standardwebhooks import Webhook

from gatepass.base.settings import BASE_PATH
from tests.receivers import Receiver

PATIENCE = 60.0


def caller(url: str, demo: dict[str, Any]) -> httpx2.AsyncClient:
    key = {"Authorization": f"Bearer {demo['keys']['live']}"}
    return httpx2.AsyncClient(base_url=url + BASE_PATH, headers=key, timeout=PATIENCE)


async def scan(api: httpx2.AsyncClient, demo: dict[str, Any], card: int) -> httpx2.Response:
    number = demo["cards"]["unused"][card]["card_number"]
    return await api.post("/scan", json={"event_id": demo["events"]["published"], "card_number": number})


async def a_scan_is_answered_and_its_webhook_received(
    api: httpx2.AsyncClient, demo: dict[str, Any], receiver: Receiver
) -> None:
    made = await api.post("/webhooks", json={"url": receiver.url(), "types": ["ticket.activated"]})
    assert made.status_code == 201, made.text
    answer = await scan(api, demo, 0)
    assert answer.status_code == 200, answer.text
    [message] = await receiver.wait(1)
    Webhook(made.json()["data"]["secret"]).verify(message.body, message.headers)
    assert message.json()["data"]["ticket_id"] == answer.json()["data"]["ticket_id"]
