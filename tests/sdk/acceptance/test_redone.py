"""The parts of scenarios that can be run through the SDK, under the same names. `scenarios.py` has the reasons."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from gatepass_sdk import SANDBOX_EVENT_ID, AsyncGatepass, ConfigurationError, Gatepass
from tests.sdk.acceptance.adapter import Api, ApiResponse

Apis = Callable[[str], Api]


def refused(answer: ApiResponse, status: int, code: str | None = None) -> None:
    assert (answer.status, answer.body["code"]) == (status, code or answer.body["code"])
    assert answer.body["error"]
    assert answer.headers["x-request-id"]


@pytest.mark.parametrize("client", [Gatepass, AsyncGatepass])
def test_a_call_without_a_key_is_401(
    client: type[Gatepass | AsyncGatepass], demo: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GATEPASS_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="No API key"):
        client(base_url=demo["base_url"])


@pytest.mark.parametrize("key", ["svc_live_" + "a" * 36, "svc_live_abc", "svc_test_", "svc_live_" + "a" * 5000])
def test_an_invalid_key_is_401(api: Apis, key: str) -> None:
    refused(api(key).get("/events"), 401, "invalid_key")
    for nonsense in ("nonsense", "svc_live_é", "svc_live_a\n"):
        with pytest.raises(ConfigurationError, match="not an API key"):
            api(nonsense)


@pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "101"}, {"cursor": "nonsense"}])
def test_bad_paging_is_400(api: Apis, query: dict[str, str]) -> None:
    refused(api("live").get("/events", **query), 400, "invalid_request")


def test_what_the_client_library_adds_is_accepted(
    api: Apis, demo: dict[str, Any], unused: Callable[[], dict[str, Any]]
) -> None:
    card, added = unused(), {"scanner_id": "scanner-7", "gate": "North 2", "occurred_at": datetime.now(UTC).isoformat()}
    answer = api("live").scan(demo["events"]["published"], card_number=card["card_number"], **added)
    assert answer.status == 200
    assert answer.body["data"]["category_name"] == card["category_name"]


@pytest.mark.parametrize("mode", ["live", "sandbox"])
@pytest.mark.parametrize(
    ("event", "card"), [("not-a-uuid", "x"), (SANDBOX_EVENT_ID, ""), (SANDBOX_EVENT_ID, "a\x00b"), ("", "x")]
)
def test_an_invalid_request_is_400(api: Apis, mode: str, event: str, card: str) -> None:
    refused(api(mode).scan(event, card_number=card), 400, "invalid_request")


def test_a_body_over_the_limit_is_413(api: Apis) -> None:
    refused(api("live").scan("a" * 20_000, card_number="x"), 413, "request_too_large")


def test_a_retry_key_has_a_length(api: Apis, demo: dict[str, Any], unused: Callable[[], dict[str, Any]]) -> None:
    event, number = demo["events"]["published"], unused()["card_number"]
    refused(api("live").scan(event, card_number=number, retry_key="x" * 256), 400, "invalid_request")
    assert api("live").scan(event, card_number=number, retry_key="").status == 200


@pytest.mark.parametrize(
    ("url", "types"),
    [
        ("ftp://example.com", ["ticket.activated"]),
        ("https://user:secret@example.com/", ["ticket.activated"]),
        ("not a url", ["ticket.activated"]),
        ("https://example.com", []),
        ("https://example.com", ["no.such"]),
        ("https://" + "a" * 3000, ["ticket.activated"]),
    ],
)
def test_a_bad_endpoint_is_400(api: Apis, url: str, types: list[str]) -> None:
    refused(api("live").call("POST", "/webhooks", {"url": url, "types": types}), 400, "invalid_request")
