"""Both SDKs have the same calls, and each sends the same request."""

import json
import re
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import pytest

from gatepass_sdk import Gatepass, GatepassError
from tests.sdk.javascript.node import bundled, ran
from tests.sdk.package.test_surface import CALLS

KEY: Final = "svc_test_" + "a" * 37
AT: Final = "2026-05-01T18:00:00+00:00"
LATER: Final = "2026-05-01T23:00:00.250000+02:00"
HOLDER: Final = {"name": "Ada", "email": "ada+é@example.com"}
TICKET: Final = {"event_id": "e", "category_id": "c", "holder": HOLDER, "external_id": "order-1"}
ENTRY: Final = {"sequence": 1, "occurred_at": AT, "signature": "s"}
PAGE: Final = {"limit": 7, "cursor": "a b/c"}
# The resource, the call, what stands before the options, and the options.
PLANNED: Final[list[tuple[str, str, list[Any], dict[str, Any]]]] = [
    ("events", "list", [], {}),
    ("events", "list", [], {"status": "draft", **PAGE}),
    ("events", "retrieve", ["an id/with é?#"], {}),
    ("events", "create", [], {"title": "Nacht", "starts_at": AT, "ends_at": LATER}),
    (
        "events",
        "create",
        [],
        {
            "title": "Nacht",
            "starts_at": AT,
            "ends_at": LATER,
            "time_zone": "Europe/Paris",
            "description": "",
            "venue": "Hall",
            "city": None,
            "country": "FR",
            "cover_url": "https://example.com/a.png",
            "codes": "phone",
            "doors_open_at": AT,
            "offline": "stop",
            "idempotency_key": "k",
        },
    ),
    ("events", "update", ["e"], {"title": "Tag", "venue": None, "doors_open_at": None, "if_match": '"v1"'}),
    ("events", "update", ["e"], {"starts_at": AT, "offline": "manifest"}),
    ("events", "publish", ["e"], {}),
    ("events", "publish", ["e"], {"idempotency_key": "k"}),
    ("events", "cancel", ["e"], {"reason": "Storm"}),
    ("events", "end", ["e"], {"idempotency_key": "k"}),
    ("events", "reopen", ["e"], {"reason": "It goes on", "idempotency_key": "k"}),
    ("events", "delete", ["e"], {}),
    ("events", "delete", ["e"], {"if_match": '"v1"'}),
    (
        "ticket_categories",
        "create",
        ["e"],
        {
            "name": "VIP",
            "price": 25.5,
            "currency": "EUR",
            "quantity_total": 3,
            "gates": ["North", "Süd"],
            "tier": "vip",
        },
    ),
    (
        "ticket_categories",
        "create",
        ["e"],
        {"name": "A", "price": 0, "currency": "JPY", "quantity_total": 1, "valid_from": AT, "valid_until": LATER},
    ),
    ("ticket_categories", "update", ["c"], {"price": 20, "gates": None, "valid_from": AT, "valid_until": None}),
    ("ticket_categories", "update", ["c"], {"name": "B", "if_match": '"v1"'}),
    ("ticket_categories", "delete", ["c"], {}),
    ("cards", "verify", ["SVC1.a+b/c=.0.0"], {}),
    ("cards", "keys", [], {}),
    ("cards", "create", [], {}),
    ("cards", "create", [], {"holder": HOLDER, "number": "SVC 1", "external_id": "m", "idempotency_key": "k"}),
    ("cards", "list", [], {}),
    ("cards", "list", [], {"number": "SVC 1", "email": "a+b@example.com", "external_id": "m", **PAGE}),
    ("cards", "retrieve", ["c"], {}),
    ("cards", "update", ["c"], {"holder": {"locale": "fr"}, "if_match": '"v1"'}),
    ("cards", "update", ["c"], {"holder": None}),
    ("cards", "suspend", ["c"], {"reason": "lost"}),
    ("cards", "resume", ["c"], {"reason": "found"}),
    ("cards", "revoke", ["c"], {"reason": "stolen", "idempotency_key": "k"}),
    ("cards", "replace", ["c"], {"reason": "lost"}),
    ("cards", "link", ["c"], {}),
    ("cards", "link", ["c"], {"replace": True, "idempotency_key": "k"}),
    ("card_tokens", "create", ["c"], {}),
    ("card_tokens", "create", ["c"], {"expires_at": AT, "idempotency_key": "k"}),
    ("card_tokens", "batch", [["a", "b"]], {"expires_at": AT}),
    ("card_tokens", "create_all", [["a", "b"]], {"expires_at": AT}),
    ("tickets", "create", [], TICKET),
    ("tickets", "create", [], {"event_id": "e", "category_id": "c", "card_number": "SVC 1", "idempotency_key": "k"}),
    ("tickets", "batch", [[TICKET, TICKET]], {"idempotency_key": "k"}),
    ("tickets", "create_all", [[TICKET]], {}),
    ("tickets", "list", [], {}),
    ("tickets", "list", [], {"event_id": "e", "card_id": "c", "state": "issued", "updated_after": AT, **PAGE}),
    ("tickets", "retrieve", ["t"], {}),
    ("tickets", "cancel", ["t"], {"reason": "refund"}),
    ("tickets", "transfer", ["t"], {"card_id": "c"}),
    ("tickets", "transfer", ["t"], {"holder": HOLDER, "idempotency_key": "k"}),
    ("scans", "create", ["e"], {"card_number": "SVC 1"}),
    (
        "scans",
        "create",
        ["e"],
        {"token": "SVC1.x", "scanner_id": "7", "gate": "Süd 2", "occurred_at": AT, "idempotency_key": "k"},
    ),
    ("scans", "batch", [[ENTRY]], {}),
    ("scans", "list", [], {"event_id": "e", "ticket_id": "t", "card_id": "c", **PAGE}),
    ("scans", "list", [], {"after": "a b"}),
    ("devices", "list", [], {"event_id": "e", "status": "paired", **PAGE}),
    ("devices", "retrieve", ["d"], {}),
    ("devices", "update", ["d"], {"name": "Left", "event_id": "e", "gate": "North"}),
    ("devices", "retire", ["d"], {}),
    ("devices", "revoke", ["d"], {}),
    ("devices", "heartbeat", [], {"at": AT, "queued": 0}),
    ("devices", "heartbeat", [], {"at": AT, "queued": 3, "app": "door/1"}),
    ("incidents", "list", [], {}),
    ("incidents", "list", [], {"event_id": "e", "kind": "duplicate", "open": False, **PAGE}),
    ("incidents", "list", [], {"open": True}),
    ("incidents", "retrieve", ["i"], {}),
    ("webhook_endpoints", "create", [], {"url": "https://example.com", "types": ["ticket.activated"]}),
    ("webhook_endpoints", "list", [], PAGE),
    ("webhook_endpoints", "retrieve", ["w"], {}),
    ("webhook_endpoints", "update", ["w"], {"status": "paused", "types": ["event.ended"]}),
    ("webhook_endpoints", "delete", ["w"], {}),
    ("webhook_endpoints", "test", ["w"], {}),
    ("webhook_endpoints", "rotate_secret", ["w"], {}),
    ("webhook_endpoints", "rotate_secret", ["w"], {"switch": True}),
    ("webhook_endpoints", "deliveries", ["w"], {"status": "failed", "type": "event.ended", **PAGE}),
    ("webhook_endpoints", "delivery", ["w", "d/1"], {}),
    ("webhook_endpoints", "replay", ["w"], {"since": AT, "until": LATER, "types": ["a"], "statuses": ["failed"]}),
    ("webhook_endpoints", "replay", ["w"], {"delivery_id": "d"}),
    ("webhook_endpoints", "count_replay", ["w"], {"since": AT}),
    ("webhook_endpoints", "replays", ["w"], PAGE),
    ("webhook_events", "list", [], {"after": "a b", "limit": 3}),
]
# The arguments of Python that are datetimes.
TIMES: Final = re.compile(r"at|since|until|updated_after|valid_(from|until)|.+_at")
COMPARED: Final = ("authorization", "accept", "content-type", "if-match", "if-none-match")


def camel(name: str) -> str:
    return re.sub(r"_(.)", lambda found: found[1].upper(), name)


@contextmanager
def recording() -> Generator[tuple[str, list[Any]]]:
    """A server that refuses every request, and the requests that it had."""
    found: list[Any] = []

    class Recorder(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            at = urlsplit(self.path)
            key = self.headers.get("idempotency-key")
            found.append(
                {
                    "method": self.command,
                    "path": at.path,
                    "query": sorted(parse_qsl(at.query, keep_blank_values=True)),
                    "headers": {name: self.headers.get(name) for name in COMPARED},
                    "key": "made" if key and len(key) == 36 else key,
                    "body": json.loads(body) if body else None,
                }
            )
            answer = b'{"error": "No.", "code": "invalid_request"}'
            self.send_response(400)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    for method in ("GET", "POST", "PATCH", "DELETE"):
        setattr(Recorder, f"do_{method}", Recorder.answer)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/api/public/v1", found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sent_by_python() -> list[Any]:
    with recording() as (base_url, found), Gatepass(KEY, base_url=base_url, max_retries=0) as client:
        for resource, method, given, options in PLANNED:
            named = {name: moment(name, value) for name, value in options.items()}
            with pytest.raises(GatepassError):
                _begun(getattr(getattr(client, resource), method)(*given, **named))
        return found


def _begun(called: Any) -> None:
    """A list is asked for when it is read."""
    next(iter(called))


def moment(name: str, value: Any) -> Any:
    return datetime.fromisoformat(value) if value is not None and TIMES.fullmatch(name) else value


def sent_by_node(folder: Path) -> tuple[list[Any], dict[str, list[str]]]:
    calls = [
        {"resource": camel(resource), "method": camel(method), "given": [*given, options] if options else given}
        for resource, method, given, options in PLANNED
    ]
    with recording() as (base_url, found):
        names = ran(bundled("call_run.mts", folder), {"base_url": base_url, "api_key": KEY, "calls": calls})
        return found, names


def test_both_have_the_same_calls_and_send_the_same_requests(tmp_path: Path) -> None:
    expected, (found, names) = sent_by_python(), sent_by_node(tmp_path)
    for planned, one, other in zip(PLANNED, expected, found, strict=True):
        assert other == one, planned
    assert {name: set(calls) for name, calls in names.items()} == {
        camel(resource): {camel(call) for call in calls} for resource, calls in CALLS.items()
    }
    assert {(resource, method) for resource, method, *_ in PLANNED} == {
        (resource, call)
        for resource, calls in CALLS.items()
        for call in calls
        if resource not in ("manifests", "webhooks")
    }
