"""The audit in the studio, and as a file."""

import csv
import io
from datetime import timedelta

import pytest

from gatepass.domain import changes
from gatepass.studio import audit as page_of_audit
from tests import make
from tests.make import House
from tests.studio.desk import Desk
from tests.studio.walk import RAW, XSS


async def change(house: House, action: str, **fields: object) -> None:
    given = {"by": make.BY, "at": make.now(), **fields}
    async with house.db.transaction() as tx:
        await changes.note(tx, house.id, "card", house.event_id, action, **given)  # pyright: ignore[reportArgumentType]


async def rows(desk: Desk, query: str = "") -> list[dict[str, str]]:
    answer = await desk.client.get(desk.url(f"audit/export.csv{query}"))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith('attachment; filename="gatepass-audit-')
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


async def test_a_change_is_told_with_who_and_from_where(desk: Desk) -> None:
    key = await desk.house.key()
    await desk.send(f"keys/{key.id}/name", name="North gate")
    page = await desk.see("audit")
    assert "The owner" in page
    assert desk.person.email in page
    assert "127.0.0.1" in page
    assert "test key" in page
    assert "North gate" in page
    assert f"/studio/live/keys/{key.id}" in page


async def test_filters_stand_in_the_address(desk: Desk) -> None:
    await change(desk.house, "suspended", by="ada", reason="lost")
    await change(desk.house, "replaced", by="bob")
    await change(desk.house, "renewed", by="ada", at=make.now() - timedelta(days=3))
    day = f"{make.now() - timedelta(days=1):%Y-%m-%dT%H:%M}"
    for query, expected in {
        "actor=ada": {"suspended", "renewed"},
        "action=replaced": {"replaced"},
        "subject=card": {"suspended", "replaced", "renewed"},
        "subject=event": set[str](),
        f"subject_id={desk.house.event_id}&actor=bob": {"replaced"},
        f"until={day}": {"renewed"},
        f"since={day}&actor=ada": {"suspended"},
    }.items():
        page = await desk.see(f"audit?{query}")
        assert {action for action in ("suspended", "replaced", "renewed") if f"card {action}" in page} == expected, (
            query
        )
    assert 'aria-invalid="true"' in await desk.see("audit?subject_id=nonsense", status=422)
    assert 'aria-invalid="true"' in await desk.see("audit/export.csv?since=nonsense", status=422)


async def test_every_field_is_shown_safely(desk: Desk) -> None:
    await change(desk.house, XSS, by=XSS, was=XSS, becomes=XSS, reason=XSS)
    assert RAW not in await desk.see("audit")
    for name in ("actor", "subject", "subject_id", "action", "since", "until", "after"):
        answer = await desk.client.get(desk.url("audit"), params={name: XSS})
        assert answer.status_code in (200, 422), name
        assert RAW not in answer.text


async def test_the_file_has_every_change_and_no_formula(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_of_audit, "BATCH", 3)
    for n in range(10):
        await change(desk.house, f"step {n}", reason="=HYPERLINK(1)", was="two\nlines", becomes='"quoted", too')
    found = await rows(desk, "?subject=card")
    assert [row["action"] for row in found] == [f"step {n}" for n in range(9, -1, -1)]
    assert {row["reason"] for row in found} == {"'=HYPERLINK(1)"}
    assert {(row["was"], row["becomes"]) for row in found} == {("two\nlines", '"quoted", too')}
    assert found[0]["at"].endswith("Z")


async def test_the_file_of_another_organization_is_its_own(desk: Desk) -> None:
    other = await make.house(desk.house.db)
    await change(other, "theirs")
    assert "theirs" not in {row["action"] for row in await rows(desk)}
