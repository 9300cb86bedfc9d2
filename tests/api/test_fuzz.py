"""Any request that hypothesis makes is answered with 2xx or 4xx, never with 5xx."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gatepass.api.middleware import Middleware
from gatepass.base.database import Database
from gatepass.domain.keys import Mode
from tests import factory
from tests.api.conftest import Api

pytestmark = pytest.mark.processes

_ANY = "00000000-0000-0000-0000-00000000e7e7"
# Each example is one or two calls; the default of a hundred examples would take too long in every run.
FEW = settings(max_examples=40)
TEXT = st.text(st.characters(exclude_categories=[]), max_size=80)
QUERY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(["event_id", "card_number", "token", "scanner_id", "gate", "occurred_at", "unknown"])
TOKENS = st.from_regex(r"SVC1\.[A-Za-z0-9_-]{0,70}\.[0-9]{0,14}\.[A-Za-z0-9_-]{80,90}", fullmatch=True) | QUERY_TEXT
CURSORS = QUERY_TEXT | st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=", max_size=90)


@pytest.fixture(scope="session", params=list(Mode))
async def anyone(request: pytest.FixtureRequest, app: Middleware, db: Database) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client with a live or a sandbox key and a rate that is never reached."""
    tenant = await factory.tenant(db)
    key = await tenant.key(mode=request.param, rate=1_000_000)
    async with Api(app, "10.2.0.1").client(key.text) as client:
        yield client


def assert_ours(answer: httpx2.Response) -> None:
    assert answer.status_code < 500, answer.text
    if answer.status_code != 200:
        assert answer.json().keys() >= {"error", "code"}


@given(cursor=CURSORS, limit=st.one_of(st.none(), QUERY_TEXT, st.integers().map(str)))
@example(cursor="OTk5OTk5OTk5OTk5OTk5OTk5LjAwMDAwMDAwLTAwMDAtMDAwMC0wMDAwLTAwMDAwMDAwMDAwMA", limit=None)
@example(cursor="MS4", limit="٣")
async def test_pages(anyone: httpx2.AsyncClient, cursor: str, limit: str | None) -> None:
    params = {"cursor": cursor} if limit is None else {"cursor": cursor, "limit": limit}
    answer = await anyone.get("/events", params=params)
    assert_ours(answer)
    if answer.status_code == 400:
        assert answer.json()["param"] in {"cursor", "limit"}


@FEW
@given(token=TOKENS)
async def test_tokens(anyone: httpx2.AsyncClient, token: str) -> None:
    assert_ours(await anyone.get("/card/verify", params={"token": token}))
    assert_ours(await anyone.post("/scan", json={"event_id": _ANY, "token": token}))


@FEW
@given(body=st.dictionaries(FIELDS, VALUES, max_size=7), with_event=st.booleans())
async def test_bodies(anyone: httpx2.AsyncClient, body: dict[str, Any], with_event: bool) -> None:
    asked = {**body, "event_id": _ANY} if with_event else body
    answer = await anyone.post("/scan", content=json.dumps(asked).encode())
    assert_ours(answer)


HOOK_FIELDS = st.sampled_from(
    [
        "url",
        "types",
        "description",
        "status",
        "switch",
        "since",
        "until",
        "statuses",
        "delivery_id",
        "dry_run",
        "unknown",
    ]
)
HOOK_PATHS = st.sampled_from(["", f"/{_ANY}/rotate-secret", f"/{_ANY}/replay", f"/{_ANY}/test"])


@FEW
@given(path=HOOK_PATHS, body=st.dictionaries(HOOK_FIELDS, VALUES | TEXT.map("https://{}".format), max_size=7))
async def test_webhooks(anyone: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> None:
    raw = json.dumps(body).encode()
    assert_ours(await anyone.post("/webhooks" + path, content=raw))
    assert_ours(await anyone.patch(f"/webhooks/{_ANY}", content=raw))


@FEW
@given(cursor=CURSORS, text=QUERY_TEXT)
async def test_webhook_queries(anyone: httpx2.AsyncClient, cursor: str, text: str) -> None:
    assert_ours(await anyone.get("/webhook-events", params={"after": cursor, "limit": "3"}))
    assert_ours(await anyone.get("/webhooks", params={"cursor": cursor}))
    assert_ours(await anyone.get(f"/webhooks/{_ANY}/deliveries", params={"cursor": cursor, "status": text}))


@FEW
@given(raw=st.binary(max_size=300))
async def test_bytes(anyone: httpx2.AsyncClient, raw: bytes) -> None:
    assert_ours(await anyone.post("/scan", content=raw))


@FEW
@given(card_number=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=64), gate=TEXT)
async def test_card_numbers(anyone: httpx2.AsyncClient, card_number: str, gate: str) -> None:
    body = {"event_id": _ANY, "card_number": card_number, "gate": gate}
    assert_ours(await anyone.post("/scan", content=json.dumps(body).encode()))


@FEW
@given(key=st.binary(min_size=0, max_size=300).filter(lambda raw: not {0, 10, 13} & set(raw)))
async def test_idempotency_keys(anyone: httpx2.AsyncClient, key: bytes) -> None:
    body = {"event_id": _ANY, "card_number": "TEST_VALID"}
    assert_ours(await anyone.post("/scan", json=body, headers=[(b"Idempotency-Key", key)]))
