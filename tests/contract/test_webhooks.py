"""/webhooks answers and accepts what the interface description says."""

import json
from typing import Any
from uuid import uuid4

import httpx2
import msgspec
import pytest

from gatepass.api.app import ApiState
from gatepass.api.openapi.schemas import REQUESTS
from gatepass.api.request import decoded
from gatepass.base.errors import InvalidRequest
from gatepass.domain.webhooks import MessageType
from tests import factory
from tests.contract.openapi_reader import DOCUMENT, answer_schema, faults, message_schema, resolved

Json = dict[str, Any]
Inside = tuple[httpx2.AsyncClient, ApiState]

GOOD = {"url": "https://example.com/hook", "types": ["ticket.activated"]}


class Caller:
    """Makes calls, and checks each answer against its description."""

    def __init__(self, client: httpx2.AsyncClient, key: str) -> None:
        self._client = client
        self._headers = {"Authorization": f"Bearer {key}"}
        self.met: dict[str, set[int]] = {}

    async def __call__(self, method: str, path: str, url: str | None = None, **options: Any) -> Any:
        answer = await self._client.request(method, url or path, headers=self._headers, **options)
        documented = DOCUMENT["paths"][path][method.lower()]
        response = resolved(documented["responses"][str(answer.status_code)])
        self.met.setdefault(documented["operationId"], set()).add(answer.status_code)
        for name, header in response["headers"].items():
            assert name in answer.headers or not resolved(header).get("required", False)
        if "content" not in response:
            assert answer.content == b""
            return None
        assert faults(answer_schema(documented, answer.status_code), answer.json()) == []
        return answer.json()


async def test_answers_fit_what_is_documented(inside: Inside, tenant: factory.Tenant) -> None:
    call = Caller(inside[0], (await tenant.key()).text)
    made = (await call("POST", "/webhooks", json=GOOD))["data"]
    one, url = "/webhooks/{id}", f"/webhooks/{made['id']}"
    await call("POST", "/webhooks", json={})
    await call("POST", "/webhooks", content=b" " * 20_000)
    for _ in range(15):
        await call("POST", "/webhooks", json=GOOD)
    await call("POST", "/webhooks", json=GOOD)
    await call("GET", "/webhooks", params={"limit": 3})
    await call("GET", "/webhooks", params={"limit": 0})
    await call("GET", one, url)
    await call("GET", one, "/webhooks/x")
    await call("PATCH", one, url, json={"description": "x"})
    await call("PATCH", one, url, json={"url": "x"})
    await call("PATCH", one, url, content=b" " * 20_000)
    await call("PATCH", one, f"/webhooks/{uuid4()}", json={})
    ping = (await call("POST", one + "/test", url + "/test"))["data"]
    await call("POST", one + "/test", "/webhooks/x/test")
    for body in ({}, {"switch": True}, {}, {"switch": 1}):
        await call("POST", one + "/rotate-secret", url + "/rotate-secret", json=body)
    await call("POST", one + "/rotate-secret", "/webhooks/x/rotate-secret")
    await call("GET", one + "/deliveries", url + "/deliveries")
    await call("GET", one + "/deliveries", url + "/deliveries?status=x")
    await call("GET", one + "/deliveries", "/webhooks/x/deliveries")
    await call("GET", one + "/deliveries/{delivery_id}", f"{url}/deliveries/{ping['id']}")
    await call("GET", one + "/deliveries/{delivery_id}", f"{url}/deliveries/x")
    for body in ({"dry_run": True}, {}, {}, {}, {}, {}, {"since": "x"}, {"delivery_id": str(uuid4())}):
        await call("POST", one + "/replay", url + "/replay", json=body)
    await call("GET", one + "/replay", url + "/replay")
    await call("GET", one + "/replay", url + "/replay?limit=x")
    await call("GET", one + "/replay", "/webhooks/x/replay")
    await call("GET", "/webhook-events")
    await call("GET", "/webhook-events", params={"after": "x"})
    await call("PATCH", one, url, json={"status": "paused"})
    await call("POST", one + "/test", url + "/test")
    await call("DELETE", one, url)
    await call("DELETE", one, url)
    assert call.met == {
        "create_webhook": {201, 400, 409, 413},
        "list_webhooks": {200, 400},
        "retrieve_webhook": {200, 404},
        "update_webhook": {200, 400, 404, 413},
        "delete_webhook": {204, 404},
        "test_webhook": {202, 404, 409},
        "rotate_webhook_secret": {200, 400, 404, 409},
        "list_webhook_deliveries": {200, 400, 404},
        "retrieve_webhook_delivery": {200, 404},
        "replay_webhook": {200, 202, 400, 404, 409},
        "list_webhook_replays": {200, 400, 404},
        "list_webhook_events": {200, 400},
    }


async def test_what_the_feed_holds_are_the_messages_that_are_described(inside: Inside, tenant: factory.Tenant) -> None:
    client, _ = inside
    headers = {"Authorization": f"Bearer {(await tenant.key()).text}"}
    await client.get("/webhook-events", headers=headers)
    card = await tenant.card()
    await client.post("/scan", json={"event_id": str(tenant.event_id), "card_number": card.number}, headers=headers)
    made = (await client.post("/webhooks", json=GOOD, headers=headers)).json()["data"]
    await client.post(f"/webhooks/{made['id']}/test", headers=headers)
    messages = (await client.get("/webhook-events", headers=headers)).json()["data"]
    told = [message["type"] for message in messages]
    assert told == ["card.issued", "ticket.issued", "ticket.activated", "webhook.ping"]
    for message in messages:
        assert faults(message_schema(message["type"]), message) == []


def test_every_type_of_message_is_described() -> None:
    assert set(DOCUMENT["webhooks"]) == set(MessageType)


def test_a_secret_is_described_where_it_is_told_and_nowhere_else() -> None:
    told = {
        name for name, schema in DOCUMENT["components"]["schemas"].items() if "secret" in schema.get("properties", {})
    }
    assert told == {"NewWebhook", "RotatedWebhook"}


TIME = "2031-05-01T12:00:00Z"
BODIES: dict[str, list[Json]] = {
    "WebhookRequest": [
        GOOD,
        {**GOOD, "description": None, "new": 1},
        {**GOOD, "description": "d" * 500},
        {**GOOD, "types": ["ticket.activated"] * 32},
        {**GOOD, "description": "d" * 501},
        {**GOOD, "description": 1},
        {**GOOD, "types": []},
        {**GOOD, "types": ["ticket.activated"] * 33},
        {**GOOD, "types": [1]},
        {**GOOD, "types": None},
        {**GOOD, "url": None},
        {**GOOD, "url": "https://" + "a" * 1993},
        {"url": GOOD["url"]},
        {"types": GOOD["types"]},
        {},
    ],
    "WebhookChangeRequest": [
        {},
        {"new": 1},
        GOOD,
        {"description": None},
        {"status": "active"},
        {"status": "paused"},
        {"status": "gone"},
        {"status": None},
        {"url": None},
        {"types": None},
        {"types": []},
        {"description": "d" * 501},
    ],
    "SecretRotationRequest": [
        {},
        {"switch": True},
        {"switch": False},
        {"switch": None},
        {"switch": "true"},
        {"new": 1},
    ],
    "ReplayRequest": [
        {},
        {"since": TIME, "until": TIME, "types": ["scan.denied"], "statuses": ["failed"], "dry_run": True},
        {"since": None, "until": None, "types": None, "statuses": None, "delivery_id": None},
        {"delivery_id": str(uuid4())},
        {"dry_run": None},
        {"statuses": ["pending"]},
        {"statuses": []},
        {"statuses": ["failed"] * 9},
        {"types": []},
        {"since": 1},
        {"until": ["x"]},
    ],
}


@pytest.mark.parametrize(("name", "body"), [(name, body) for name, bodies in BODIES.items() for body in bodies])
def test_the_schema_takes_what_the_parser_takes(name: str, body: Json) -> None:
    try:
        decoded(json.dumps(body).encode(), msgspec.json.Decoder(REQUESTS[name]))
        taken = True
    except InvalidRequest:
        taken = False
    assert (faults({"$ref": f"#/components/schemas/{name}"}, body) == []) is taken
