"""The request log in the studio."""

from dataclasses import replace
from datetime import timedelta
from html import unescape
from ipaddress import ip_address

import pytest

from gatepass.base.ids import new_id, request_text
from gatepass.domain import request_log
from gatepass.domain.error_help import ERROR_HELP
from gatepass.domain.request_log import CallRecord
from gatepass.studio.organization.request_log import statuses
from tests import factory
from tests.factory import Tenant
from tests.studio.browser_session import BrowserSession
from tests.studio.routes import RAW, XSS


async def call(tenant: Tenant, **fields: object) -> CallRecord:
    plain = CallRecord(
        tenant.id, factory.now(), new_id(), "live", new_id(), "GET", "/events", 200, None, ip_address("10.0.0.1"), 1234
    )
    made = replace(plain, **fields)  # pyright: ignore[reportArgumentType]
    async with tenant.db.transaction() as tx:
        await request_log.write(tx, [made])
    return made


async def test_calls_are_listed_with_their_keys(user: BrowserSession) -> None:
    key = await user.tenant.key()
    made = await call(user.tenant, key_id=key.id, status=409, code="already_activated", path="/scan", method="POST")
    page = await user.see("requests")
    assert request_text(made.id) in page
    assert "already_activated" in page
    assert "test key" in page
    assert "1.2 ms" in page
    user.mode = "sandbox"
    assert "No call yet" in await user.see("requests")


async def test_filters_stand_in_the_address(user: BrowserSession) -> None:
    key = await user.tenant.key()
    used = await call(user.tenant, status=409, code="already_activated", path="/scan")
    fine = await call(user.tenant, key_id=key.id)
    old = await call(user.tenant, at=factory.now() - timedelta(days=3))
    day = f"{factory.now() - timedelta(days=1):%Y-%m-%dT%H:%M}"
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
        page = await user.see(f"requests?{query}")
        assert [one for one in (used, fine, old) if request_text(one.id) in page] == expected, query


@pytest.mark.parametrize("query", ["status=nonsense", "key=nonsense", "since=yesterday", "until=0001-01-01T00:00"])
async def test_a_filter_that_means_nothing_is_said_so(user: BrowserSession, query: str) -> None:
    page = await user.see(f"requests?{query}", status=422)
    assert query.startswith("key") or query.partition("=")[2] in page
    assert 'aria-invalid="true"' in page


async def test_every_field_is_shown_safely(user: BrowserSession) -> None:
    for name in ("key", "status", "code", "path", "since", "until", "id", "after"):
        answer = await user.client.get(user.url("requests"), params={name: XSS})
        assert answer.status_code in (200, 422), name
        assert RAW not in answer.text
    assert (await user.client.get(user.url("requests"), params={"code": "\x00"})).status_code == 422


async def test_a_request_id_leads_to_its_page(user: BrowserSession) -> None:
    made = await call(user.tenant, status=409, code="already_activated", path="/scan", method="POST")
    answer = await user.client.get(user.url("requests"), params={"id": f" {request_text(made.id)} "})
    assert answer.status_code == 303
    page = await user.see(answer.headers["location"])
    assert ERROR_HELP["already_activated"].fix in unescape(page)
    assert "Scan a card" in page
    sandbox = await call(user.tenant, mode="sandbox")
    answer = await user.client.get(user.url(f"requests/{request_text(sandbox.id)}"))
    assert answer.headers["location"] == f"{user.root('sandbox')}requests/{request_text(sandbox.id)}"


async def test_a_request_id_that_is_not_there(user: BrowserSession) -> None:
    for id in (request_text(new_id()), "req_", "nonsense"):
        assert "is kept" in await user.see(f"requests?id={id}", status=422)
        await user.see(f"requests/{id}", status=404)


async def test_a_scan_leads_to_its_event_and_card(user: BrowserSession) -> None:
    made = await call(user.tenant, path="/scan", method="POST", event_id=user.tenant.event_id)
    page = await user.see(f"requests/{request_text(made.id)}")
    assert f"{user.root()}events/{user.tenant.event_id}" in page


@pytest.mark.parametrize(
    ("text", "expected"), [("4xx", (400, 500)), ("409", (409, 410)), ("5XX", (500, 600)), ("", (0, 1000))]
)
def test_a_status_or_a_class_of_them(text: str, expected: tuple[int, int]) -> None:
    assert statuses(text) == expected
