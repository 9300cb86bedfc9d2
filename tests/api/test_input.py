"""Hostile input: every answer is a documented one, never 500."""

import json
from typing import Any
from urllib.parse import quote
from uuid import UUID

import httpx2
import pytest

from tests.api.conftest import assert_error, scan_body
from tests.api.test_responses import NOT_A_CARD
from tests.factory import Tenant

FIELDS = ("event_id", "card_number", "token", "scanner_id", "gate", "occurred_at")
DEEP = 7_500

NOT_JSON: dict[str, bytes] = {
    "nothing": b"",
    "spaces": b"  \n\t ",
    "half": b'{"event_id": "',
    "deep array": b"[" * 10_000,
    "deep closed array": b"[" * DEEP + b"]" * DEEP,
    "deep object": b'{"a":' * 3_000,
    "deep unknown field": b'{"x":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "NaN": b'{"event_id": NaN}',
    "Infinity": b'{"gate": -Infinity}',
    "byte order mark": b'\xef\xbb\xbf{"event_id": "x"}',
    "UTF-16": '{"event_id": "x"}'.encode("utf-16"),
    "UTF-32": '{"event_id": "x"}'.encode("utf-32"),
    "bad UTF-8 in a value": b'{"event_id": "\xff\xfe"}',
    "bad UTF-8 in a name": b'{"\xc3\x28": 1}',
    "overlong UTF-8": b'{"event_id": "\xc0\x80"}',
    "encoded surrogate": b'{"event_id": "\xed\xa0\x80"}',
    "raw NUL in a string": b'{"event_id": "a\x00b"}',
    "raw NUL after": b"{}\x00",
    "two documents": b"{}{}",
    "comment": b"{/* */}",
    "trailing comma": b'{"gate": "a",}',
    "single quotes": b"{'gate': 'a'}",
    "form": b"event_id=1&card_number=2",
    "XML": b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
}

NOT_AN_OBJECT: dict[str, bytes] = {
    name: name.encode() for name in ("null", "true", "0", '"x"', "[]", "[{}]", "1e999", "-0", "9" * 5_000)
}


@pytest.mark.parametrize("raw", NOT_JSON.values(), ids=NOT_JSON)
async def test_what_is_not_json(client: httpx2.AsyncClient, raw: bytes) -> None:
    assert_error(await client.post("/scan", content=raw), 400, "invalid_request")


@pytest.mark.parametrize("raw", NOT_AN_OBJECT.values(), ids=lambda raw: raw[:10].decode())
async def test_what_is_not_an_object(client: httpx2.AsyncClient, raw: bytes) -> None:
    assert_error(await client.post("/scan", content=raw), 400, "invalid_request")


NUMBERS = (b"NaN", b"1e999", b"-1e999", b"1e-999", b"9" * 5_000, b"-" + b"9" * 5_000, b"0." + b"1" * 5_000, b"1E400")


@pytest.mark.parametrize("number", NUMBERS, ids=lambda raw: raw[:10].decode())
@pytest.mark.parametrize("field", [*FIELDS, "unknown"])
async def test_numbers_where_there_should_be_none(
    client: httpx2.AsyncClient, tenant: Tenant, field: str, number: bytes
) -> None:
    """An unknown field is ignored, however large its number; a known field is a string."""
    known = json.dumps(scan_body(tenant, NOT_A_CARD))[:-1].encode()
    answer = await client.post("/scan", content=known + f', "{field}": '.encode() + number + b"}")
    assert answer.status_code == 400 or (field == "unknown" and answer.status_code == 404), answer.text


@pytest.mark.parametrize("value", [None, True, 1, 1.5, [], {}, ["a"], {"a": 1}], ids=repr)
@pytest.mark.parametrize("field", FIELDS)
async def test_wrong_types(client: httpx2.AsyncClient, tenant: Tenant, field: str, value: Any) -> None:
    body = {**scan_body(tenant, NOT_A_CARD), field: value}
    answer = await client.post("/scan", json=body)
    if value is None and field not in {"event_id", "card_number"}:
        assert_error(answer, 404, "card_not_found")
    else:
        assert_error(answer, 400, "invalid_request", param=field)


UNSTORABLE = {"NUL": "\\u0000", "high surrogate": "\\ud800", "low surrogate": "\\udfff", "reversed": "\\udc00\\ud800"}


@pytest.mark.parametrize("escape", UNSTORABLE.values(), ids=UNSTORABLE)
@pytest.mark.parametrize("field", FIELDS)
async def test_what_postgres_cannot_store(client: httpx2.AsyncClient, tenant: Tenant, field: str, escape: str) -> None:
    body = scan_body(tenant, NOT_A_CARD)
    if field == "token":
        del body["card_number"]
    raw = json.dumps({**body, field: "HERE"}).replace("HERE", f"a{escape}b")
    assert_error(await client.post("/scan", content=raw), 400, "invalid_request")


@pytest.mark.parametrize("escape", UNSTORABLE.values(), ids=UNSTORABLE)
async def test_names_and_values_that_nobody_reads(client: httpx2.AsyncClient, tenant: Tenant, escape: str) -> None:
    for extra in (f'"{escape}": 1', f'"unknown": "{escape}"'):
        raw = json.dumps(scan_body(tenant, NOT_A_CARD))[:-1] + ", " + extra + "}"
        assert (await client.post("/scan", content=raw)).status_code in {400, 404}


@pytest.mark.parametrize("field", ["gate", "scanner_id"])
async def test_odd_but_good_text_is_kept(client: httpx2.AsyncClient, tenant: Tenant, field: str) -> None:
    for text in ("", "😀" * 64, "'; DROP TABLE ticket; --", "\u202eabc", "\x01\x7f\ufffe", "e\u0301", "\ud83d\ude00"):
        card = await tenant.card()
        body = scan_body(tenant, card.number, **{field: text.encode("utf-16", "surrogatepass").decode("utf-16")})
        assert (await client.post("/scan", json=body)).status_code == 200
        again = await client.post("/scan", json=body)
        assert again.json()["details"][field] == body[field]
    assert_error(
        await client.post("/scan", json=scan_body(tenant, NOT_A_CARD, **{field: "😀" * 65})), 400, "invalid_request"
    )


async def test_a_name_that_is_given_twice(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    known = json.dumps(scan_body(tenant, NOT_A_CARD))[:-1]
    assert (await client.post("/scan", content=known + ', "card_number": "SVC"}')).status_code in {400, 404}
    assert (await client.post("/scan", content=known + ', "card_number": null}')).status_code == 400
    assert (await client.post("/scan", content=known + ', "event_id": 7}')).status_code == 400


TYPES = (
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "a" * 500,
    "\xff/\xfe",
)


@pytest.mark.parametrize("content_type", TYPES, ids=lambda text: repr(text[:20]))
async def test_content_types(client: httpx2.AsyncClient, tenant: Tenant, content_type: str) -> None:
    """The body is JSON or it is refused; the header changes nothing."""
    headers = [(b"Content-Type", content_type.encode("latin-1"))]
    raw = json.dumps(scan_body(tenant, NOT_A_CARD))
    assert (await client.post("/scan", content=raw, headers=headers)).status_code == 404
    assert (await client.post("/scan", content=b"a=b", headers=headers)).status_code == 400


@pytest.mark.parametrize("body", [b" " * 16_384, b'{"x": "' + b"a" * 16_375 + b'"}'], ids=["spaces", "text"])
async def test_the_largest_body(client: httpx2.AsyncClient, body: bytes) -> None:
    assert len(body) == 16_384
    assert_error(await client.post("/scan", content=body), 400, "invalid_request")
    assert_error(await client.post("/scan", content=body + b" "), 413, "request_too_large")


BAD_TIMES = (
    *("", "now", "2026-01-01", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z"),
    *("2026-01-01T00:00:60Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00+24:00", "2026-W01-1T00:00:00Z"),
    *("٢٠٢٦-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"),
    *("2026-01-01T00:00:00Z\n", " 2026-01-01T00:00:00Z", "2026-01-01T00:00:00.0000000000Z", "1767225600"),
)


@pytest.mark.parametrize("text", BAD_TIMES, ids=repr)
async def test_occurred_at(client: httpx2.AsyncClient, tenant: Tenant, text: str) -> None:
    answer = await client.post("/scan", json=scan_body(tenant, NOT_A_CARD, occurred_at=text))
    assert_error(answer, 400, "invalid_request", param="occurred_at")


def spellings(id: UUID) -> list[str]:
    """Spellings of a UUID that are not canonical; `uuid.UUID` and `int` would accept several of them."""
    text = str(id)
    return [
        *("", "x", text.replace("-", ""), "{" + text + "}", "urn:uuid:" + text, text + "\n", " " + text, text + "\x00"),
        *(text[:-1], text + "0", text.replace("-", "_"), text[:-1] + "g", text[:-1] + "٣", text[:-1] + "_"),
        *(text[:9] + "0x" + text[11:], "+" + text[1:], "-" * 36, text.replace("-", "\u2013")),
    ]


async def test_an_id_has_one_spelling(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    for text in spellings(tenant.event_id):
        await _assert_not_an_id(client, tenant, text)


async def test_an_id_has_no_prefix(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """`int` accepts 0x before hexadecimal digits, and `uuid.UUID` uses `int`."""
    await _assert_not_an_id(client, tenant, "0x" + str(tenant.event_id)[2:])


async def _assert_not_an_id(client: httpx2.AsyncClient, tenant: Tenant, text: str) -> None:
    answer = await client.post("/scan", json={**scan_body(tenant, NOT_A_CARD), "event_id": text})
    assert_error(answer, 400, "invalid_request", param="event_id")
    if text:
        assert_error(await client.get(f"/events/{quote(text, safe='')}"), 404, "event_not_found")


async def test_an_id_may_be_in_capitals(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    upper, card = str(tenant.event_id).upper(), await tenant.card()
    assert (await client.get(f"/events/{upper}")).status_code == 200
    assert (await client.post("/scan", json={**scan_body(tenant, card.number), "event_id": upper})).status_code == 200


LIMITS = (
    "0",
    "101",
    "-1",
    "+5",
    "1_0",
    "٣",
    " 5",
    "5 ",
    "5\n",
    "5\x00",
    "0x5",
    "1e1",
    "5.0",
    "",
    "\u0966",
    "9" * 5_000,
    "\ud7ff",
)


@pytest.mark.parametrize("limit", LIMITS, ids=lambda text: repr(text[:8]))
async def test_limits(client: httpx2.AsyncClient, limit: str) -> None:
    assert_error(await client.get("/events", params={"limit": limit}), 400, "invalid_request", param="limit")


async def test_good_limits(client: httpx2.AsyncClient) -> None:
    for limit in ("1", "100", "007", "010"):
        assert (await client.get("/events", params={"limit": limit})).status_code == 200


QUERIES = (
    "%00",
    "%ff%fe",
    "%ED%A0%80",
    "%",
    "%zz",
    "a%00b",
    "+" * 100,
    "SVC1.a.b.c",
    "SVC1." + "A" * 8_000,
    "%F0%9F%98%80",
)


@pytest.mark.parametrize("text", QUERIES, ids=lambda text: text[:12])
async def test_queries(client: httpx2.AsyncClient, text: str) -> None:
    verified = await client.get(f"/card/verify?token={text}")
    assert verified.status_code == 200
    assert verified.json()["reason"] == "invalid_token"
    assert_error(await client.get(f"/events?cursor={text}"), 400, "invalid_request", param="cursor")
    assert_error(await client.get(f"/events?limit={text}"), 400, "invalid_request", param="limit")
    assert (await client.get(f"/events?{text}={text}")).status_code == 200
    assert_error(await client.get(f"/events/{text}"), 404, "event_not_found")


@pytest.mark.parametrize(
    "idempotency_key", [b"\xff" * 255, "ключ".encode(), b"a b", b"\x01\x7f", b"'; --", b"\t"], ids=repr
)
async def test_idempotency_keys(client: httpx2.AsyncClient, tenant: Tenant, idempotency_key: bytes) -> None:
    body = scan_body(tenant, (await tenant.card()).number)
    answers = [await client.post("/scan", json=body, headers=[(b"Idempotency-Key", idempotency_key)]) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content == answers[1].content


async def test_numbers_of_cards(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    for number in ("x", "SVC", "٠" * 12, "SVC " + "１" * 12, "Ⅷ" * 64, "ß" * 64, "SVC\n0000 0000 0000", "ŉ" * 64):  # noqa: RUF001
        assert_error(await client.post("/scan", json=scan_body(tenant, number)), 404, "card_not_found")
    assert (await client.post("/scan", json=scan_body(tenant, "x" * 65))).status_code == 400
