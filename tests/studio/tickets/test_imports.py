"""Imports over HTTP: uploaded, mapped, checked, applied, undone; limited in size, and one form makes one import."""

import asyncio
import csv
import io
import json
import re
from typing import Any
from uuid import UUID

import pytest

from gatepass.base.ids import new_id
from gatepass.domain import imports
from gatepass.domain.events import EventStatus
from gatepass.domain.imports import ImportState
from gatepass.domain.staff import Role
from gatepass.studio.middleware import Middleware
from gatepass.studio.web import upload
from tests import factory
from tests.studio.browser_session import BrowserSession, sign_in
from tests.studio.samples.tickets import advanced, imported

FILE = "Name;E-mail;Category\nAnn;ann@example.org;General\n=cmd|' /C calc'!A0;bob@example.org;Nowhere\n"


async def send(user: BrowserSession, data: str | bytes, *, key: UUID | None = None, name: str = "guests.csv") -> UUID:
    files = {"file": (name, data.encode() if isinstance(data, str) else data, "text/csv")}
    answer = await user.send(f"events/{user.tenant.event_id}/imports", files=files, upload_key=str(key or new_id()))
    return UUID(answer.headers["location"].rpartition("/")[2])


def place(user: BrowserSession, import_id: UUID, rest: str = "") -> str:
    return f"events/{user.tenant.event_id}/imports/{import_id}{rest}"


async def work(user: BrowserSession, import_id: UUID, until: ImportState) -> None:
    async with user.tenant.db.transaction() as tx:
        await advanced(tx, user.tenant, import_id, until)


async def checked(user: BrowserSession, data: str = FILE) -> UUID:
    import_id = await send(user, data)
    columns: dict[str, Any] = {"column-0": "name", "column-1": "email", "column-2": "category"}
    await user.send(place(user, import_id, "/columns"), **columns)
    await work(user, import_id, ImportState.CHECKED)
    return import_id


async def test_from_a_file_to_tickets_and_back(user: BrowserSession) -> None:
    import_id = await send(user, FILE)
    page = await user.see(place(user, import_id))
    assert "We guessed from their names" in page
    assert "ann@example.org" in page
    assert page.count(" selected") == 5
    import_id = await checked(user)
    page = await user.see(place(user, import_id))
    assert "Import 1 ticket<" in page
    assert "The event has no category or tier of this name." in page
    for _ in range(2):  # a second click does nothing more
        await user.send(place(user, import_id, "/apply"))
    assert "data-progress" in await user.see(place(user, import_id))
    await work(user, import_id, ImportState.DONE)
    assert "See the tickets" in await user.see(place(user, import_id))
    listed = await user.see(f"events/{user.tenant.event_id}/tickets")
    assert "ann@example.org" in listed
    (card,) = set(re.findall(r"cards/[0-9a-f-]{36}", listed))
    assert "By the import of guests.csv" in await user.see(card)
    await user.send(place(user, import_id, "/undo"), status=422)
    await user.send(place(user, import_id, "/undo"), reason="wrong file")
    await work(user, import_id, ImportState.UNDONE)
    assert "Tickets removed again" in await user.see(place(user, import_id))
    assert "No tickets yet" in await user.see(f"events/{user.tenant.event_id}/tickets")


async def test_failed_rows_can_be_opened_in_a_spreadsheet(user: BrowserSession) -> None:
    import_id = await checked(user)
    answer = await user.client.get(user.url(place(user, import_id, "/faulty")))
    assert answer.headers["content-disposition"] == 'attachment; filename="failed-guests.csv"'
    rows = list(csv.reader(io.StringIO(answer.text.removeprefix("\ufeff"))))
    assert rows[0] == ["Name", "E-mail", "Category", "reason"]
    assert rows[1][0] == "'=cmd|' /C calc'!A0"
    assert rows[1][3] == "The event has no category or tier of this name."


async def test_columns_that_make_no_sense_are_told_beside_them_and_kept(user: BrowserSession) -> None:
    import_id = await send(user, FILE)
    columns: dict[str, Any] = {"column-0": "name", "column-1": "name", "column-2": ""}
    answer = await user.send(place(user, import_id, "/columns"), status=422, **columns)
    assert "Two columns cannot hold the same." in answer.text
    assert len(re.findall(r'value="name" selected', answer.text)) == 2
    answer = await user.send(place(user, import_id, "/columns"), status=422, **{"column-0": "name"})
    assert "Choose the column that names the category" in answer.text
    await user.send(place(user, import_id, "/columns"), status=422, **{"column-0": "no such field"})


@pytest.mark.parametrize(
    ("data", "sentence"),
    [(b"", "empty"), (b"\xff\xfe", "neither UTF-8"), (b"name\n", "nothing below"), (b'a\n"x\n', "never closed")],
)
async def test_a_file_that_is_refused_says_why(user: BrowserSession, data: bytes, sentence: str) -> None:
    files = {"file": ("guests.csv", data, "text/csv")}
    answer = await user.send(
        f"events/{user.tenant.event_id}/imports", files=files, status=422, upload_key=str(new_id())
    )
    assert sentence in answer.text
    assert 'id="e-file"' in answer.text


async def test_no_file_and_nothing_pasted(user: BrowserSession) -> None:
    rest = f"events/{user.tenant.event_id}/imports"
    for files in (None, {"file": ("", b"", "text/csv")}):
        answer = await user.send(rest, files=files, status=422, upload_key=str(new_id()), pasted=" ")
        assert "Choose a file, or paste rows." in answer.text


async def test_pasted_rows_are_a_file_too(user: BrowserSession) -> None:
    answer = await user.send(f"events/{user.tenant.event_id}/imports", pasted="Name\tOrder\nAnn\t1\n")
    assert "Order" in await user.follow(answer)


async def test_a_form_that_is_sent_twice_makes_one_import(user: BrowserSession) -> None:
    key = new_id()
    first, second = await asyncio.gather(send(user, FILE, key=key), send(user, FILE, key=key))
    assert first == second
    async with user.tenant.db.autocommit() as tx:
        assert (await imports.find(tx, user.tenant.id, first)).row_count == 2


async def test_a_file_is_bounded(user: BrowserSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatepass.studio.tickets.import_upload.LARGEST_FILE", 1000)
    monkeypatch.setattr(upload, "LARGEST_FIELDS", 1000)
    files = {"file": ("guests.csv", b"name\n" + b"x\n" * 2000, "text/csv")}
    await user.send(f"events/{user.tenant.event_id}/imports", files=files, status=413, upload_key=str(new_id()))


async def test_a_body_that_is_no_form(user: BrowserSession) -> None:
    headers = {"content-type": "multipart/form-data; boundary=x"}
    for body in (
        b"nonsense",
        b"--x\r\n",
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nname',
    ):
        answer = await user.client.post(
            user.url(f"events/{user.tenant.event_id}/imports"), content=body, headers=headers
        )
        assert answer.status_code == 422


async def test_progress_is_told_as_it_moves_and_ends(user: BrowserSession) -> None:
    import_id = await imported(user.tenant, ImportState.MAPPING)
    async with user.tenant.db.transaction() as tx:
        job = await imports.find(tx, user.tenant.id, import_id)
        await imports.name_columns(
            tx, user.tenant.id, job, ["name", ""], user.tenant.category_id, by=factory.BY, at=factory.now()
        )
    told = asyncio.create_task(user.client.get(user.url(place(user, import_id, "/progress"))))
    await asyncio.sleep(0)
    await work(user, import_id, ImportState.CHECKED)
    answer = await told
    assert answer.headers["content-type"].startswith("text/event-stream")
    facts = [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line]
    assert facts[-1]["state"] == "checked"
    assert not facts[-1]["under_way"]


async def test_who_may_not_import_is_told_so(user: BrowserSession, studio: Middleware) -> None:
    async with await sign_in(studio, user.tenant, Role.GATE_LEAD) as lead:
        assert "may not import tickets" in await lead.see(f"events/{user.tenant.event_id}/imports", status=403)
        assert "Import CSV" not in await lead.see(f"events/{user.tenant.event_id}/tickets")


async def test_an_event_that_is_over_takes_no_file(user: BrowserSession) -> None:
    await user.tenant.move_event(user.tenant.event_id, EventStatus.ENDED)
    assert "takes no more tickets" in await user.see(f"events/{user.tenant.event_id}/imports")
    await user.send(f"events/{user.tenant.event_id}/imports", pasted="name\nAnn", status=409)
