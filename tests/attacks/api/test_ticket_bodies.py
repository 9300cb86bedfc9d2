"""Bodies for cards and tickets that are odd, nested or made to cost: a refusal each, and never a fault of ours."""

import json
from typing import Any

import pytest

from gatepass.domain.keys import Scope
from tests.attacks.target import Target

BAD = (400, "invalid_request")
# One character that is two in lower case.
GROWS = "\u0130"
HOLDERS: dict[str, Any] = {
    "a NUL in the name": {"name": "a\x00"},
    "a lone surrogate": {"name": "\ud800"},
    "a line feed": {"name": "a\nb"},
    "blanks": {"name": "   "},
    "nobody": {},
    "a list": ["ann@example.org"],
    "a number": {"email": 17},
    "no address": {"email": "ann"},
    "two addresses": {"email": "ann@example.org@example.org"},
    "an address with a NUL": {"email": "ann\x00@example.org"},
    "an address that grows": {"email": GROWS * 300 + "@x"},
    "an address that goes": {"email": "\u3164@\u3164", "name": ""},
    "a long name": {"name": "x" * 201},
    "a locale with a path": {"name": "Ann", "locale": "../../etc/passwd"},
    "deep": {"name": "Ann", "locale": [[[[["x"]]]]]},
}
EXTERNAL_IDS = ["", "x" * 129, "a\x00", "a\nb", "\u202e", 17, ["a"], {"$ne": None}]


def ticket(target: Target, **more: Any) -> dict[str, Any]:
    return {"event_id": str(target.tenant.event_id), "category_id": str(target.tenant.category_id), **more}


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=list(HOLDERS))
@pytest.mark.parametrize("path", ["/tickets", "/cards"])
async def test_holders(target: Target, path: str, holder: Any) -> None:
    body = ticket(target, holder=holder) if path == "/tickets" else {"holder": holder}
    async with target.api() as client:
        answer = await client.post(path, content=json.dumps(body))
    assert (answer.status_code, answer.json()["code"]) == BAD, answer.text


@pytest.mark.parametrize("external_id", EXTERNAL_IDS, ids=repr)
async def test_external_ids(target: Target, external_id: Any) -> None:
    body = ticket(target, holder={"name": "Ann"}, external_id=external_id)
    async with target.api() as client:
        answers = [await client.post("/tickets", content=json.dumps(body))]
        batch = await client.post("/tickets/batch", content=json.dumps({"tickets": [body]}))
        answers.append(await client.post("/cards", content=json.dumps({"external_id": external_id})))
    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {BAD}
    assert [result["code"] for result in batch.json()["data"]] == ["invalid_request"]


BATCHES: dict[str, str] = {
    "no list": '{"tickets":{}}',
    "nothing": '{"tickets":[]}',
    "null": '{"tickets":null}',
    "1,001 items": json.dumps({"tickets": [{}] * 1_001}),
    "deep": '{"tickets":[' + "[" * 100_000 + "]" * 100_000 + "]}",
    "cut off": '{"tickets":[{}',
    "another name": '{"items":[{}]}',
}


@pytest.mark.parametrize("body", BATCHES.values(), ids=list(BATCHES))
async def test_batches(target: Target, body: str) -> None:
    async with target.api() as client:
        answer = await client.post("/tickets/batch", content=body)
    assert (answer.status_code, answer.json()["code"]) == BAD, answer.text


@pytest.mark.parametrize("path", ["/tickets/batch", "/card-tokens", "/tickets", "/cards"])
async def test_more_than_a_body_may_have(target: Target, path: str) -> None:
    async with target.api() as client:
        answer = await client.post(path, content=b" " * (1024 * 1024 + 1))
    assert (answer.status_code, answer.json()["code"]) == (413, "request_too_large")


async def test_a_thousand_items_that_are_not_valid(target: Target) -> None:
    """Each has its result, and nothing is made."""
    items = [17, None, "x", [], {}, {"event_id": "x"}, ticket(target), ticket(target, holder={"email": GROWS + "@"})]
    async with target.api() as client:
        before = await client.get("/tickets")
        answer = await client.post("/tickets/batch", content=json.dumps({"tickets": items * 125}))
        after = await client.get("/tickets")
    assert [(result["status"], result["code"]) for result in answer.json()["data"]] == [BAD] * 1_000
    assert after.json() == before.json()


DEEP = "[" * 100_000 + "]" * 100_000
NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("path", "deep"),
    [
        ("/tickets/batch", '{"tickets":[{"holder":%s}]}'), ("/tickets/batch", '{"tickets":[],"x":%s}'),
        ("/tickets/batch", "%s"), ("/card-tokens", '{"cards":%s}'), ("/card-tokens", '{"cards":["a"],"expires_at":%s}'),
    ],
    ids=str,
)  # fmt: skip
async def test_a_batch_that_is_deep(target: Target, path: str, deep: str) -> None:
    async with target.api() as client:
        answer = await client.post(path, content=deep % DEEP, headers={"Idempotency-Key": f"deep {path} {deep}"})
    assert (answer.status_code, answer.json()["code"]) == BAD, answer.text


@pytest.mark.parametrize(
    "call",
    [
        "POST /events", f"PATCH /events/{NOBODY}", f"POST /events/{NOBODY}/cancel", f"POST /events/{NOBODY}/reopen",
        f"PATCH /cards/{NOBODY}", f"POST /events/{NOBODY}/ticket-categories", f"PATCH /ticket-categories/{NOBODY}",
        f"POST /cards/{NOBODY}/token",
        f"POST /cards/{NOBODY}/replace", f"POST /tickets/{NOBODY}/cancel", f"POST /tickets/{NOBODY}/transfer",
    ],
)  # fmt: skip
async def test_a_body_that_is_deep_or_large(target: Target, call: str) -> None:
    method, path = call.split()
    async with target.api() as client:
        deep = await client.request(method, path, content='{"x":' + "[" * 8_000)
        large = await client.request(method, path, content=b" " * (16 * 1024 + 1))
    assert (deep.status_code, deep.json()["code"]) == BAD, deep.text
    assert (large.status_code, large.json()["code"]) == (413, "request_too_large")


async def test_a_person_is_named_to_those_who_may_read_cards_alone(target: Target) -> None:
    """Every other scope, every call that could tell: neither the name nor the address is in an answer."""
    person = {"name": "Wilhelmina Quux", "email": "wilhelmina@quux.example"}
    others = set(Scope) - {Scope.ADMIN, Scope.CARDS_READ, Scope.CARDS_WRITE}
    key = await target.tenant.key(*others, rate=1_000_000)
    wish = ticket(target, holder=person, external_id="Q-1")
    async with target.server.client(key.text) as client:
        made = await client.post("/tickets", json=wish, headers={"Idempotency-Key": "quux"})
        id, card, number = (made.json()["data"][name] for name in ("id", "card_id", "card_number"))
        scan = {"event_id": str(target.tenant.event_id), "card_number": number}
        answers = [
            made,
            await client.post("/tickets", json=wish, headers={"Idempotency-Key": "quux"}),
            await client.post("/tickets", json={**wish, "holder": {**person, "name": "Another"}}),
            await client.post("/tickets/batch", json={"tickets": [wish, {**wish, "external_id": "Q-2"}]}),
            await client.post(f"/tickets/{id}/transfer", json={"holder": person}),
            await client.get(f"/tickets/{id}"),
            await client.get("/tickets", params={"card_id": card}),
            await client.post("/scan", json=scan),
            await client.post("/scan", json=scan),
            await client.get("/scans", params={"card_id": card}),
            await client.post(f"/tickets/{id}/cancel", json={"reason": "x"}),
            await client.get("/webhook-events"),
            await client.get("/events"),
            await client.get(f"/cards/{card}"),
            await client.get("/cards", params={"email": person["email"]}),
        ]
    assert [answer.status_code for answer in answers] == [
        201, 201, 409, 200, 409, 200, 200, 200, 409, 200, 200, 200, 200, 403, 403,
    ]  # fmt: skip
    for answer in answers:
        assert not [word for word in ("quux", "wilhelmina", '"holder":') if word in answer.text.lower()], answer.text
    async with target.api() as client:
        assert (await client.get(f"/cards/{card}")).json()["data"]["holder"]["name"] == person["name"]


async def test_tokens_of_cards_of_others(target: Target) -> None:
    stranger = await target.other.card()
    async with target.api() as client:
        answer = await client.post("/card-tokens", json={"cards": [str(stranger.id)] * 1_000})
    assert {(result["status"], result["code"]) for result in answer.json()["data"]} == {(404, "card_not_found")}
    assert "SVC1" not in answer.text
