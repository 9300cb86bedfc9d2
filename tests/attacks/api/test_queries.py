"""Queries: cursors, limits, ids and filters that nobody gave out. A refusal, or a page; never a fault of ours."""

import base64

import pytest

from tests.attacks.target import Target

NIL = "00000000-0000-0000-0000-000000000000"


def cursor(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).rstrip(b"=").decode()


CURSORS = {
    "a word": "x",
    "not base64": "!!!!",
    "padding": cursor(f"1.{NIL}") + "==",
    "standard base64": "+/+/",
    "a dot": cursor("."),
    "no id": cursor("1."),
    "no number": cursor(f".{NIL}"),
    "a negative number": cursor(f"-1.{NIL}"),
    "a number of 19 digits": cursor(f"{'9' * 19}.{NIL}"),
    "a number of 18 digits": cursor(f"{'9' * 18}.{NIL}"),
    "a number of 4,000 digits": cursor(f"{'9' * 4_000}.{NIL}"),
    "digits of another script": cursor(f"\u0661.{NIL}"),
    "an exponent": cursor(f"1e5.{NIL}"),
    "an underscore": cursor(f"1_0.{NIL}"),
    "a blank": cursor(f" 1.{NIL}"),
    "an id in braces": cursor(f"1.{{{NIL}}}"),
    "an id without dashes": cursor(f"1.{NIL.replace('-', '')}"),
    "SQL": cursor(f"1.{NIL}' OR 1=1 --"),
    "NUL": cursor(f"1\0.{NIL}"),
    "a lone surrogate": cursor("\ud800"),
    "bytes": base64.urlsafe_b64encode(b"\xff" * 40).decode(),
    "a JSON object": cursor('{"at":1}'),
    "6 KB": "A" * 6_000,
    "NUL as it is": "\0",
    "a line feed": "a\r\nb",
}


@pytest.mark.parametrize("name", CURSORS)
@pytest.mark.parametrize("path", ["/events", "/webhooks"])
async def test_a_cursor_that_nobody_gave_out(target: Target, path: str, name: str) -> None:
    async with target.api() as client:
        answer = await client.get(path, params={"cursor": CURSORS[name]})
    assert answer.status_code == 400, answer.text
    assert (answer.json()["code"], answer.json()["param"]) == ("invalid_request", "cursor")


LIMITS = [
    "0",
    "101",
    "-1",
    "+1",
    "1.0",
    "1e1",
    "0x10",
    " 1",
    "1 ",
    "1_0",
    "\u0663",
    "\uff19",
    "true",
    "null",
    "",
    "NaN",
    "9" * 5_000,
    "1\0",
    "1;2",
    "[]",
    "1,2",
    "\u00b2",
    "1' OR 1=1 --",
]


@pytest.mark.parametrize("limit", LIMITS, ids=lambda text: ascii(text)[:20])
async def test_a_limit_that_is_none(target: Target, limit: str) -> None:
    async with target.api() as client:
        answer = await client.get("/events", params={"limit": limit})
    assert answer.status_code == 400, answer.text
    assert (answer.json()["code"], answer.json()["param"]) == ("invalid_request", "limit")


IDS = [
    "x",
    "%00",
    "%2e%2e%2f",
    "..%2f..%2fetc%2fpasswd",
    NIL.replace("-", ""),
    f"%7B{NIL}%7D",
    f"urn:uuid:{NIL}",
    f"{NIL}%00",
    f"{NIL}%20",
    "%ED%A0%80",
    "%FF",
    "a" * 5_000,
    "-1",
    "1' OR '1'='1",
    "{{7*7}}",
    "$%7Bjndi:ldap:%7D",
    NIL,
]


@pytest.mark.parametrize("id", IDS, ids=lambda text: text[:20])
@pytest.mark.parametrize("path", ["/events/{}", "/webhooks/{}", "/webhooks/{}/deliveries"])
async def test_an_id_that_is_none(target: Target, path: str, id: str) -> None:
    async with target.api() as client:
        answer = await client.get(path.format(id))
    assert answer.status_code == 404, answer.text
    assert answer.json()["code"] in {"not_found", "event_not_found", "webhook_not_found"}


FILTERS = [
    "status=x",
    "status=" + "x" * 5_000,
    "status=%00",
    "status=pending&status=failed",
    "cursor=&limit=",
    "limit=1&limit=2",
    "&" * 5_000,
    "a=" * 5_000,
    "=",
    "%",
    "%zz",
    "a=b;c=d",
    "cursor[]=1",
    "cursor[$ne]=1",
    "LIMIT=0",
    "limit%00=1",
    "?limit=0",
    "a" * 30_000,
    "a&" * 10_000,
    "x=%F0%28%8C%28",
    "+",
    "limit=100#x",
]


@pytest.mark.parametrize("query", FILTERS, ids=lambda text: text[:20])
@pytest.mark.parametrize("path", ["/events", "/webhook-events", "/card/verify"])
async def test_a_query_that_is_odd(target: Target, path: str, query: str) -> None:
    async with target.api() as client:
        answer = await client.get(f"{path}?{query}")
    assert answer.status_code in (200, 400), answer.text
    assert answer.status_code == 200 or answer.json()["code"] == "invalid_request"


PAGES = {
    "events?after=" + "9" * 17 + "." + NIL: 200,
    "events?after=" + "9" * 40: 200,
    "events?after=%00": 200,
    "cards?q=" + "%25" * 60: 200,
    "cards?q=%00": 200,
    "cards?q=%ED%A0%80": 200,
    "cards?q=" + "x" * 6_000: 200,
    "cards?q=" + "x" * 10_000: 400,
    "cards?q=" + "%27%20OR%201%3D1--": 200,
    "find?q=%00": 200,
    "find?q=" + "%5F%25" * 50: 200,
    "find?q=" + "(" * 500: 200,
    "audit?since=0001-01-01T00:00": 422,
    "audit?since=9999-12-31T23:59%2B23:59": 422,
    "audit?since=x": 422,
    "audit?subject_id=x": 422,
    "audit?actor=%00": 422,
    "audit?action=" + "x" * 300: 422,
    "audit?after=-1." + NIL: 200,
    "audit/export.csv?since=x": 422,
    "requests?status=999": 422,
    "requests?status=" + "9" * 500: 422,
    "requests?status=%D9%A3xx": 422,
    "events/x": 404,
    "events/" + NIL: 404,
    "events/%00": 404,
    "cards/" + NIL: 404,
    "cards/" + "x" * 5_000: 404,
    "webhooks/" + NIL: 404,
    "events/clock?starts_date=" + "9" * 3_000: 200,
    "events/clock?starts_date=2026-02-30&starts_time=99:99&time_zone=../../etc/passwd": 200,
    "events/clock?time_zone=%00": 200,
}


@pytest.mark.parametrize("path", PAGES, ids=lambda text: text[:40])
async def test_a_page_of_the_studio(target: Target, path: str) -> None:
    async with target.studio() as owner:
        answer = await owner.get(target.page(path))
    assert answer.status_code == PAGES[path], (answer.status_code, answer.text[:500])
