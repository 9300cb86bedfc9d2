"""Both clients have the same surface: names, parameters, results; and the package exports what it says."""

import inspect
import re
from typing import Any

import pytest

import gatepass_sdk
from gatepass_sdk import AsyncGatepass, Gatepass
from gatepass_sdk._async import client as async_client
from gatepass_sdk._sync import client as sync_client

CALLS = {
    "events": {"list", "retrieve", "create", "update", "publish", "cancel", "end", "reopen", "delete"},
    "ticket_categories": {"create", "update", "delete"},
    "cards": {
        "verify",
        "keys",
        "create",
        "list",
        "retrieve",
        "update",
        "suspend",
        "resume",
        "revoke",
        "replace",
        "link",
    },
    "card_tokens": {"create", "batch", "create_all"},
    "tickets": {"create", "batch", "create_all", "list", "retrieve", "cancel", "transfer"},
    "scans": {"create", "batch", "list"},
    "devices": {"list", "retrieve", "update", "retire", "revoke", "heartbeat"},
    "incidents": {"list", "retrieve"},
    "manifests": {"fetch", "update", "follow"},
    "webhook_endpoints": {
        "create",
        "list",
        "retrieve",
        "update",
        "delete",
        "test",
        "rotate_secret",
        "deliveries",
        "delivery",
        "replay",
        "count_replay",
        "replays",
    },
    "webhook_events": {"list"},
    "webhooks": {"unwrap"},
}
RESOURCES = list(CALLS)
KEY, URL = "svc_test_" + "a" * 37, "https://gatepass.test/api/public/v1"


@pytest.fixture
def clients() -> tuple[Gatepass, AsyncGatepass]:
    return Gatepass(KEY, base_url=URL), AsyncGatepass(KEY, base_url=URL)


def public(thing: object) -> dict[str, Any]:
    return {name: value for name, value in inspect.getmembers(thing, callable) if not name.startswith("_")}


def signature(call: Any) -> str:
    """Parameters and result, with the names of the synchronous client."""
    found = str(inspect.signature(call, eval_str=False))
    for word, other in (("AsyncIterator", "Iterator"), ("_async", "_sync"), ("Async", "")):
        found = found.replace(word, other)
    return re.sub(r"\s+", "", found)


def test_the_resources_have_the_calls_that_are_promised(clients: tuple[Gatepass, AsyncGatepass]) -> None:
    for client in clients:
        assert {name for name in vars(client) if not name.startswith("_")} == CALLS.keys()
        for name, calls in CALLS.items():
            assert set(public(getattr(client, name))) == calls, name


@pytest.mark.parametrize("resource", RESOURCES)
def test_every_call_takes_and_gives_the_same(clients: tuple[Gatepass, AsyncGatepass], resource: str) -> None:
    plain, other = (public(getattr(client, resource)) for client in clients)
    assert plain.keys() == other.keys()
    for name, call in plain.items():
        assert signature(call) == signature(other[name]), name
        assert inspect.getdoc(call) == inspect.getdoc(other[name]), name
        assert not inspect.iscoroutinefunction(call)


def test_only_what_is_iterated_and_unwrap_are_not_awaited(clients: tuple[Gatepass, AsyncGatepass]) -> None:
    plain = {"list", "create_all", "deliveries", "replays", "follow", "unwrap"}
    for resource in RESOURCES:
        for name, call in public(getattr(clients[1], resource)).items():
            assert inspect.iscoroutinefunction(call) == (name not in plain), name


def test_the_clients_are_made_and_changed_alike() -> None:
    for name in ("__init__", "with_options", "close"):
        assert signature(getattr(Gatepass, name)).replace("httpx2.Client", "") == signature(
            getattr(AsyncGatepass, name)
        ).replace("httpx2.Client", ""), name
    assert set(public(Gatepass)) == set(public(AsyncGatepass))


def test_lists_have_the_same_surface(clients: tuple[Gatepass, AsyncGatepass]) -> None:
    plain, other = (client.events.list() for client in clients)
    assert {name: signature(call) for name, call in public(plain).items()} == {
        name: signature(call) for name, call in public(other).items()
    }


def test_everything_that_is_exported_exists_and_stands_in_order() -> None:
    assert sorted(gatepass_sdk.__all__) == sorted(set(gatepass_sdk.__all__))
    for name in gatepass_sdk.__all__:
        assert getattr(gatepass_sdk, name) is not None
    assert sync_client.Gatepass is Gatepass
    assert async_client.AsyncGatepass is AsyncGatepass


def test_a_key_never_shows(clients: tuple[Gatepass, AsyncGatepass]) -> None:
    for client in clients:
        assert KEY not in repr(client)
        assert KEY not in repr(vars(client))
        assert "sandbox" in repr(client)
