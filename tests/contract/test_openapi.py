"""The interface description matches the service exactly, and the committed file is up to date."""

from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from fastapi.openapi.utils import get_openapi

from gatepass.api.app import ApiState, routes
from gatepass.api.openapi import document, examples
from gatepass.api.openapi.operations import NOTES
from gatepass.api.openapi.schemas import REQUESTS
from gatepass.api.responses import STATUS, MethodNotAllowed
from gatepass.api.routes.scans import parsed
from gatepass.base.errors import InvalidRequest, Refusal
from gatepass.base.settings import BASE_PATH, Settings
from gatepass.domain import keys, sandbox, tickets
from gatepass.domain.devices import pairing
from gatepass.domain.keys import Mode, Scope
from tests import factory
from tests.contract.openapi_reader import DOCUMENT, answer_schema, codes, faults, operations, resolved
from tests.contract.openapi_reader import examples as shown

Json = dict[str, Any]
Inside = tuple[httpx2.AsyncClient, ApiState]

COMMITTED = Path(__file__).parents[2] / "docs" / "openapi.json"
# Refusals that only the studio and the command line can meet.
NOT_PUBLIC: set[type[Refusal]] = {
    keys.KeyNotFound,
    tickets.GuestHasTicket,
}
# Refusals of `/gate/pair`, which is outside of the API: a device that pairs has no key yet.
OF_PAIRING: set[type[Refusal]] = {
    pairing.PairingNotFound,
    pairing.PairingEnded,
    pairing.InvalidSignature,
}
OPERATIONS = [(method, path) for method, path, _ in operations()]


def operation(method: str, path: str) -> Json:
    return DOCUMENT["paths"][path][method]


def test_the_committed_file_is_up_to_date() -> None:
    fresh = COMMITTED.read_text(encoding="utf-8") == document.written()
    assert fresh, "docs/openapi.json is out of date; run: python -m gatepass.api.openapi.document > docs/openapi.json"


def test_it_says_who_it_is() -> None:
    assert DOCUMENT["openapi"] == "3.1.0"
    assert DOCUMENT["info"]["title"] == "Gatepass"
    assert DOCUMENT["info"]["version"] == "1.0.0"
    assert DOCUMENT["info"]["license"]["identifier"] == "Apache-2.0"
    assert DOCUMENT["servers"] == [{"url": BASE_PATH}]


def test_every_route_is_described_and_every_description_has_its_route() -> None:
    served = get_openapi(title="", version="", routes=routes(ApiState(Settings())).routes)["paths"]
    described = {BASE_PATH + path: set(methods) for path, methods in DOCUMENT["paths"].items()}
    assert described == {path: set(methods) for path, methods in served.items()}


def test_operations_have_their_names() -> None:
    names = {found["operationId"] for _, _, found in operations()}
    assert names == {
        *("list_events", "retrieve_event", "verify_card", "list_card_keys", "create_scan"),
        *(
            "create_card",
            "list_cards",
            "retrieve_card",
            "update_card",
            "create_card_token",
            "create_card_tokens",
            "create_card_link",
        ),
        *("suspend_card", "resume_card", "revoke_card", "replace_card"),
        *("create_ticket", "create_tickets", "list_tickets", "retrieve_ticket", "cancel_ticket", "transfer_ticket"),
        *("list_webhooks", "create_webhook", "retrieve_webhook", "update_webhook", "delete_webhook"),
        *("test_webhook", "rotate_webhook_secret", "list_webhook_deliveries", "retrieve_webhook_delivery"),
        *("replay_webhook", "list_webhook_replays", "list_webhook_events"),
        *("create_event", "update_event", "delete_event", "publish_event", "cancel_event", "end_event", "reopen_event"),
        *("list_scans", "create_scan_batch", "list_incidents", "retrieve_incident"),
        *("list_devices", "retrieve_device", "update_device", "retire_device", "revoke_device", "create_heartbeat"),
        *("get_manifest", "follow_manifest"),
        *("create_ticket_category", "update_ticket_category", "delete_ticket_category"),
    }


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_operation_may_meet_what_any_operation_may(method: str, path: str) -> None:
    documented = codes(operation(method, path))
    assert documented["401"] == {"invalid_key", "device_revoked"}
    assert documented["421"] == {"wrong_cell"}
    assert documented["403"] == {"insufficient_scope", "organization_suspended"}
    assert documented["429"] == {"rate_limited"}
    assert documented["500"] == {"internal_error"}
    assert documented["503"] == {"unavailable", "overloaded"}
    assert "405" not in documented


def test_a_scan_documents_the_statuses_of_the_spec() -> None:
    documented = codes(operation("post", "/scan"))
    assert documented["400"] == {"invalid_request", "invalid_token", "already_activated", "expired", "card_revoked"}
    assert documented["404"] == {"event_not_found", "card_not_found", "ticket_not_found"}
    assert documented["409"] == {"already_activated"}
    assert documented["410"] == {"expired"}
    assert documented["413"] == {"request_too_large"}
    assert documented["422"] == {
        "event_not_active",
        "card_suspended",
        "card_revoked",
        "static_code_refused",
        "doors_closed",
        "outside_window",
        "wrong_gate",
        "ticket_cancelled",
        "idempotency_key_reused",
    }


def test_every_refusal_that_a_caller_can_meet_is_documented() -> None:
    documented = {code for _, _, found in operations() for some in codes(found).values() for code in some}
    public = {kind.code for kind in STATUS if kind not in NOT_PUBLIC | OF_PAIRING}
    assert documented == public - {MethodNotAllowed.code}
    for code in public:
        assert f"`{code}`" in DOCUMENT["info"]["description"]


@pytest.mark.parametrize(("where", "schema", "value"), [pytest.param(*found, id=found[0]) for found in shown()])
def test_every_example_fits_its_schema(where: str, schema: Json, value: object) -> None:
    assert faults(schema, value) == []


def test_every_error_has_an_example_for_each_of_its_codes() -> None:
    for _, _, found in operations():
        for status, documented in codes(found).items():
            content = resolved(found["responses"][status])["content"]["application/json"]
            assert {example["value"]["code"] for example in content["examples"].values()} == documented


def test_responses_stay_open_for_new_fields() -> None:
    assert "additionalProperties" not in document.written()


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_has_the_fields_that_are_parsed(name: str) -> None:
    schema = DOCUMENT["components"]["schemas"][name]
    assert tuple(schema["properties"]) == REQUESTS[name].__struct_fields__
    needed = [field.encode_name for field in msgspec.structs.fields(REQUESTS[name]) if field.required]
    assert schema.get("required", []) == needed


EVENT = {"event_id": str(sandbox.EVENT_ID)}
BODIES: list[Json] = [
    {**EVENT, "card_number": "TEST_VALID"},
    {**EVENT, "token": "x"},
    {**EVENT, "card_number": "TEST_VALID", "token": None},
    {**EVENT, "card_number": "TEST_VALID", "gate": None, "new": 1},
    {**EVENT, "card_number": "TEST_VALID", "gate": "g" * 64, "scanner_id": ""},
    EVENT,
    {**EVENT, "card_number": "TEST_VALID", "token": "x"},
    {**EVENT, "card_number": None, "token": None},
    {**EVENT, "card_number": ""},
    {**EVENT, "card_number": "1" * 65},
    {**EVENT, "token": "x" * 1025},
    {**EVENT, "card_number": 1},
    {**EVENT, "card_number": "TEST_VALID", "gate": "g" * 65},
    {**EVENT, "card_number": "TEST_VALID", "scanner_id": ["s"]},
    {"event_id": 1, "card_number": "TEST_VALID"},
    {"card_number": "TEST_VALID"},
]


@pytest.mark.parametrize("body", BODIES)
def test_the_schema_takes_what_the_parser_takes(body: Json) -> None:
    try:
        parsed(httpx2.Request("POST", "http://x", json=body).content)
        taken = True
    except InvalidRequest:
        taken = False
    assert (faults({"$ref": "#/components/schemas/ScanRequest"}, body) == []) is taken


@pytest.mark.parametrize("notes", [notes for notes in NOTES.values() if notes.scope], ids=lambda notes: notes.id)
async def test_the_documented_scope_is_the_one_that_is_needed(
    inside: Inside, tenant: factory.Tenant, notes: Any
) -> None:
    client, _ = inside
    method, path = next((m, p) for m, p, found in operations() if found["operationId"] == notes.id)
    enough, others = await tenant.key(notes.scope), await tenant.key(*set(Scope) - {notes.scope, Scope.ADMIN})
    url = path.replace("{id}", str(tenant.event_id)).replace("{delivery_id}", str(tenant.event_id))
    allowed = await client.request(method, url, headers={"Authorization": f"Bearer {enough.text}"})
    denied = await client.request(method, url, headers={"Authorization": f"Bearer {others.text}"})
    assert allowed.status_code in (200, 400, 404, 409)
    assert denied.status_code == 403


async def test_the_sandbox_answers_as_its_examples_say(inside: Inside, tenant: factory.Tenant) -> None:
    client, _ = inside
    client_headers = {"Authorization": f"Bearer {(await tenant.key(mode=Mode.SANDBOX)).text}"}

    async def told(url: str) -> Json:
        return (await client.get(url, headers=client_headers)).json()

    assert await told("/events") == examples.EVENTS["sandbox"]["value"]
    assert await told(f"/events/{sandbox.EVENT_ID}") == examples.ONE_EVENT["sandbox"]["value"]
    assert await told("/card/keys") == examples.PUBLIC_KEYS["sandbox"]["value"]
    refused = operation("post", "/scan")["responses"]["400"]["content"]["application/json"]["examples"]
    for card, expected in {
        "TEST_VALID": examples.SCANNED["TEST_VALID"],
        "TEST_VIP": examples.SCANNED["TEST_VIP"],
        "TEST_USED": refused["already_activated"],
        "TEST_EXPIRED": refused["expired"],
        "TEST_REVOKED": refused["card_revoked"],
    }.items():
        answer = await client.post("/scan", json={**EVENT, "card_number": card}, headers=client_headers)
        assert answer.json() == expected["value"]


async def test_answers_fit_what_is_documented(inside: Inside, tenant: factory.Tenant) -> None:
    """Status, body and headers of some live calls; schemathesis makes thousands."""
    client, _ = inside
    key, card = await tenant.key(), await tenant.card()
    scan = {"event_id": str(tenant.event_id), "token": tenant.token(card), "gate": "North 2"}
    calls: list[tuple[str, str, str, Json]] = [
        ("get", "/events", "/events?limit=1", {}),
        ("get", "/events", "/events?limit=0", {}),
        ("get", "/events/{id}", f"/events/{tenant.event_id}", {}),
        ("get", "/events/{id}", "/events/x", {}),
        ("get", "/events/{id}", "/events/x/y", {}),
        ("get", "/card/verify", f"/card/verify?token={tenant.token(card)}", {}),
        ("get", "/card/verify", "/card/verify", {}),
        ("get", "/card/keys", "/card/keys", {}),
        ("get", "/card/keys", "/card/keys", {"headers": {"Authorization": "Bearer x"}}),
        ("post", "/scan", "/scan", {"json": scan}),
        ("post", "/scan", "/scan", {"json": scan}),
        ("post", "/scan", "/scan", {"json": {}}),
        ("post", "/scan", "/scan", {"content": b"x" * 20_000}),
        ("post", "/scan", "/scan", {"json": {**scan, "event_id": str(sandbox.EVENT_ID)}}),
    ]
    met: list[int] = []
    for method, path, url, options in calls:
        headers = {"Authorization": f"Bearer {key.text}", **options.pop("headers", {})}
        answer = await client.request(method, url, headers=headers, **options)
        documented = operation(method, path)
        met.append(answer.status_code)
        assert faults(answer_schema(documented, answer.status_code), answer.json()) == []
        for name, header in resolved(documented["responses"][str(answer.status_code)])["headers"].items():
            assert name in answer.headers or not resolved(header).get("required", False)
    assert met == [200, 400, 200, 404, 404, 200, 400, 200, 401, 200, 409, 400, 413, 404]
