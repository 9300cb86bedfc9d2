"""The request log in the studio."""

from dataclasses import replace
from datetime import timedelta
from html import unescape
from ipaddress import ip_address

import pytest

from gatepass.base.ids import new_id, request_text
from gatepass.domain import audit
from gatepass.domain.audit import Call
from gatepass.domain.explanation import EXPLAINED
from gatepass.studio.requests import statuses
from tests import make
from tests.make import House
from tests.studio.desk import Desk
from tests.studio.walk import RAW, XSS


async def call(house: House, **fields: object) -> Call:
    plain = Call(
        house.id, make.now(), new_id(), "live", new_id(), "GET", "/events", 200, None, ip_address("10.0.0.1"), 1234
    )
    made = replace(plain, **fields)  # pyright: ignore[reportArgumentType]
    async with house.db.transaction() as tx:
        await audit.write(tx, [made])
    return made


async def test_calls_are_listed_with_their_keys(desk: Desk) -> None:
    key = await desk.house.key()
    made = await call(desk.house, key_id=key.id, status=409, code="already_activated", path="/scan", method="POST")
    page = await desk.see("requests")
    assert request_text(made.id) in page
    assert "already_activated" in page
    assert "test key" in page
    assert "1.2 ms" in page
    desk.mode = "sandbox"
    assert "No call yet" in await desk.see("requests")


async def test_filters_stand_in_the_address(desk: Desk) -> None:
    key = await desk.house.key()
    used = await call(desk.house, status=409, code="already_activated", path="/scan")
    fine = await call(desk.house, key_id=key.id)
    old = await call(desk.house, at=make.now() - timedelta(days=3))
    day = f"{make.now() - timedelta(days=1):%Y-%m-%dT%H:%M}"
    for query, expected in {
        "status=4xx": [used],
        "status=409": [used],
        "code=already_activated": [used],
        "path=/scan": [used],
        f"key={key.id}": [fine],
        f"since={day}": [used, fine],
        f"until={day}": [old],
        "status=5xx": [],
        "key=&status=&code=&path=&since=&until=&id=": [used, fine, old],
    }.items():
        page = await desk.see(f"requests?{query}")
        assert [one for one in (used, fine, old) if request_text(one.id) in page] == expected, query


@pytest.mark.parametrize("query", ["status=nonsense", "key=nonsense", "since=yesterday", "until=0001-01-01T00:00"])
async def test_a_filter_that_means_nothing_is_said_so(desk: Desk, query: str) -> None:
    page = await desk.see(f"requests?{query}", status=422)
    assert query.startswith("key") or query.partition("=")[2] in page
    assert 'aria-invalid="true"' in page


async def test_every_field_is_shown_safely(desk: Desk) -> None:
    for name in ("key", "status", "code", "path", "since", "until", "id", "after"):
        answer = await desk.client.get(desk.url("requests"), params={name: XSS})
        assert answer.status_code in (200, 422), name
        assert RAW not in answer.text
    assert (await desk.client.get(desk.url("requests"), params={"code": "\x00"})).status_code == 422


async def test_a_request_id_leads_to_its_page(desk: Desk) -> None:
    made = await call(desk.house, status=409, code="already_activated", path="/scan", method="POST")
    answer = await desk.client.get(desk.url("requests"), params={"id": f" {request_text(made.id)} "})
    assert answer.status_code == 303
    page = await desk.see(answer.headers["location"])
    assert EXPLAINED["already_activated"].mend in unescape(page)
    assert "Scan a card" in page
    sandbox = await call(desk.house, mode="sandbox")
    answer = await desk.client.get(desk.url(f"requests/{request_text(sandbox.id)}"))
    assert answer.headers["location"] == f"/studio/sandbox/requests/{request_text(sandbox.id)}"


async def test_a_request_id_that_is_not_there(desk: Desk) -> None:
    for id in (request_text(new_id()), "req_", "nonsense"):
        assert "is kept" in await desk.see(f"requests?id={id}", status=422)
        await desk.see(f"requests/{id}", status=404)


async def test_a_scan_leads_to_its_event_and_card(desk: Desk) -> None:
    made = await call(desk.house, path="/scan", method="POST", event_id=desk.house.event_id)
    page = await desk.see(f"requests/{request_text(made.id)}")
    assert f"/studio/live/events/{desk.house.event_id}" in page


@pytest.mark.parametrize(
    ("text", "expected"), [("4xx", (400, 500)), ("409", (409, 410)), ("5XX", (500, 600)), ("", (0, 1000))]
)
def test_a_status_or_a_class_of_them(text: str, expected: tuple[int, int]) -> None:
    assert statuses(text) == expected
