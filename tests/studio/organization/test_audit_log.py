"""The audit log in the studio, and as a file."""

import codecs
import csv
import io
import re
from datetime import timedelta

import pytest

from gatepass.domain import audit_log, tickets
from gatepass.domain.staff import Role
from gatepass.studio.middleware import Middleware
from gatepass.studio.organization import audit_log as page_of_audit
from tests import factory
from tests.factory import Tenant
from tests.studio.browser_session import BrowserSession, sign_in
from tests.studio.routes import RAW, XSS


async def change(tenant: Tenant, action: str, **fields: object) -> None:
    given = {"by": factory.BY, "at": factory.now(), **fields}
    async with tenant.db.transaction() as tx:
        await audit_log.record(tx, tenant.id, "card", tenant.event_id, action, **given)  # pyright: ignore[reportArgumentType]


async def rows(user: BrowserSession, query: str = "") -> list[dict[str, str]]:
    answer = await user.client.get(user.url(f"audit/export.csv{query}"))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith('attachment; filename="gatepass-audit-')
    assert answer.headers["content-disposition"].endswith('.csv"')
    assert answer.content.startswith(codecs.BOM_UTF8), "Excel needs it to read UTF-8"
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"), newline="")))


async def test_a_change_is_told_with_who_and_from_where(user: BrowserSession) -> None:
    key = await user.tenant.key()
    await user.send(f"keys/{key.id}/name", name="North gate")
    page = await user.see("audit")
    assert "The owner" in page
    assert user.person.email in page
    assert "127.0.0.1" in page
    assert "test key" in page
    assert "North gate" in page
    assert f"{user.root()}keys/{key.id}" in page
    assert not re.search(r"\d\d:\d\d:\d\d\.\d", page), "no microseconds"


async def test_what_was_changed_has_its_name_and_a_link(user: BrowserSession) -> None:
    tenant, key = user.tenant, await user.tenant.key()
    card = await tenant.card()
    async with tenant.db.transaction() as tx:
        ticket_id = (await tickets.of_card(tx, tenant.id, card.id))[0].id
    await user.send(f"cards/{card.id}/suspend", reason="lost")
    await user.send(f"tickets/{ticket_id}/cancel", reason="refunded")
    await user.send(f"keys/{key.id}/name", name="North gate")
    await user.send(f"events/{tenant.event_id}/end")
    page = await user.see("audit")
    for place, name in (
        (f"cards/{card.id}", card.number),
        (f"cards/{card.id}", f"Summer Opening, on {card.number}"),
        (f"keys/{key.id}", "North gate"),
        (f"events/{tenant.event_id}", "Summer Opening"),
    ):
        assert f'href="{user.root()}{place}">{name}</a>' in page, name
    assert f'href="{user.root()}audit?subject_id={card.id}">card suspended</a>' in page
    assert {card.number, "North gate"} <= {row["subject_name"] for row in await rows(user)}


async def test_who_offers_the_whole_team(user: BrowserSession, studio: Middleware) -> None:
    async with await sign_in(studio, user.tenant, Role.VIEWER) as viewer:
        choice = f'<option value="person {viewer.person.id}"'
    assert choice in await user.see("audit?action=nothing")


async def test_filters_stand_in_the_address(user: BrowserSession) -> None:
    await change(user.tenant, "suspended", by="ada", reason="lost")
    await change(user.tenant, "replaced", by="bob")
    await change(user.tenant, "renewed", by="ada", at=factory.now() - timedelta(days=3))
    day = f"{factory.now() - timedelta(days=1):%Y-%m-%dT%H:%M}"
    for query, expected in {
        "actor=ada": {"suspended", "renewed"},
        "action=replaced": {"replaced"},
        "subject=card": {"suspended", "replaced", "renewed"},
        "subject=event": set[str](),
        f"subject_id={user.tenant.event_id}&actor=bob": {"replaced"},
        f"until={day}": {"renewed"},
        f"since={day}&actor=ada": {"suspended"},
    }.items():
        page = await user.see(f"audit?{query}")
        assert {action for action in ("suspended", "replaced", "renewed") if f"card {action}" in page} == expected, (
            query
        )
    assert 'aria-invalid="true"' in await user.see("audit?subject_id=nonsense", status=422)
    assert 'aria-invalid="true"' in await user.see("audit/export.csv?since=nonsense", status=422)


async def test_every_field_is_shown_safely(user: BrowserSession) -> None:
    await change(user.tenant, XSS, by=XSS, was=XSS, becomes=XSS, reason=XSS)
    assert RAW not in await user.see("audit")
    for name in ("actor", "subject", "subject_id", "action", "since", "until", "after"):
        answer = await user.client.get(user.url("audit"), params={name: XSS})
        assert answer.status_code in (200, 422), name
        assert RAW not in answer.text


async def test_the_file_has_every_change_and_no_formula(user: BrowserSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_of_audit, "BATCH", 3)
    for n in range(10):
        await change(user.tenant, f"step {n}", reason="=HYPERLINK(1)", was="two\nlines", becomes='"quoted", too')
    found = await rows(user, "?subject=card")
    assert [row["action"] for row in found] == [f"step {n}" for n in range(9, -1, -1)]
    assert {row["reason"] for row in found} == {"'=HYPERLINK(1)"}
    assert {(row["was"], row["becomes"]) for row in found} == {("two\nlines", '"quoted", too')}
    assert found[0]["at"].endswith("Z")


async def test_the_file_of_another_organization_is_its_own(user: BrowserSession) -> None:
    other = await factory.tenant(user.tenant.db)
    await change(other, "theirs")
    assert "theirs" not in {row["action"] for row in await rows(user)}
