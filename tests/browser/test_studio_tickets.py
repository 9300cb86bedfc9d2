"""Cards, tickets and imports in a real browser: a file becomes tickets, and one of them opens a gate."""

import csv
import re
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.async_api import FilePayload, Page, expect

from gatepass.domain import events
from gatepass.domain.keys import Scope
from tests import factory
from tests.browser.studio import Stack, picture, sign_in, violations
from tests.browser.visit import PHONE, Visitor

pytestmark = pytest.mark.browser

GUESTS = [
    ("Ada Lovelace", "ada@example.org", "VIP", "A-1001"),
    ("Grace Hopper", "grace@example.org", "General", "A-1002"),
    ("Katherine Johnson", "katherine@example.org", "General", "A-1003"),
    ("Mary Jackson", "not an address", "General", "A-1004"),
    ("Hedy Lamarr", "hedy@example.org", "Balcony", "A-1005"),
    ("Margaret Hamilton", "margaret@example.org", "General", "A-1003"),
]


def guest_list(folder: Path, more: int = 40) -> Path:
    path = folder / "guests.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file, delimiter=";")
        out.writerow(["Full name", "E-mail", "Ticket type", "Order", "Seat"])
        out.writerows([*guest, "12"] for guest in GUESTS)
        out.writerows([f"Guest {n}", f"guest{n}@example.org", "General", f"B-{n:04}", ""] for n in range(more))
    return path


async def test_a_file_becomes_tickets_that_open_a_gate(
    stack: Stack, tenant: factory.Tenant, visit: Visitor, tmp_path: Path
) -> None:
    async with tenant.db.transaction() as tx:
        await events.add_category(
            tx, tenant.id, tenant.event_id, "VIP", Decimal(90), "EUR", 50, tier="vip", by=factory.BY, at=factory.now()
        )
    visited = await sign_in(stack, tenant, visit)
    page = visited.page
    await imported(stack, tenant, page, guest_list(tmp_path))
    await found_and_scanned(stack, tenant, page)
    await undone(stack, tenant, page)
    assert visited.complaints == []
    assert visited.elsewhere(stack.origin) == []


async def imported(stack: Stack, tenant: factory.Tenant, page: Page, file: Path) -> None:
    await page.goto(stack.url(f"events/{tenant.event_id}/tickets"))
    await page.get_by_role("heading", name="No tickets yet").wait_for()
    await page.get_by_role("link", name="Import CSV").first.click()
    await page.get_by_label("CSV file").set_input_files(file)
    assert await violations(page) == []
    await picture(page, "imports-file")
    await page.get_by_role("button", name="Upload and go on").click()
    await page.get_by_role("heading", name="What do the columns hold?").wait_for()
    assert await page.get_by_label("Full name").input_value() == "name"
    assert await page.get_by_label("Order").input_value() == "reference"
    assert await page.get_by_label("Seat").input_value() == ""
    assert await violations(page) == []
    await picture(page, "imports-columns")
    await page.get_by_role("button", name="Check every row").click()
    await page.get_by_role("button", name="Import 43 tickets").wait_for()
    await page.get_by_text("The event has no category or tier of this name.").wait_for()
    assert await violations(page) == []
    await picture(page, "imports-check")
    async with page.expect_download() as download:
        await page.get_by_role("link", name="Download all 3").click()
    failed = (await (await download.value).path()).read_text(encoding="utf-8-sig").splitlines()
    assert failed[0] == "Full name,E-mail,Ticket type,Order,Seat,reason"
    assert len(failed) == 4
    await page.get_by_role("button", name="Import 43 tickets").click()
    await page.get_by_role("link", name="See the tickets").wait_for()
    assert await violations(page) == []
    await picture(page, "imports-done")
    await page.get_by_role("link", name="See the tickets").click()
    await page.get_by_role("region", name="Tickets").wait_for()
    assert await violations(page) == []
    await picture(page, "tickets")


async def found_and_scanned(stack: Stack, tenant: factory.Tenant, page: Page) -> None:
    await page.goto(stack.url("cards"))
    assert await violations(page) == []
    await page.get_by_role("searchbox", name="Card number, name").fill("ada lov")
    await page.get_by_role("button", name="Find").click()
    await page.get_by_role("region", name="Cards").get_by_role("link").click()
    await page.wait_for_url("**/cards/*")
    number = (await page.get_by_role("heading", level=1).inner_text()).strip()
    key = await tenant.key(Scope.TICKETS_ACTIVATE)
    async with stack.server.client(key.text) as gate:
        scan = {"event_id": str(tenant.event_id), "card_number": number, "gate": "North"}
        assert (await gate.post("/scan", json=scan)).status_code == 200
        assert (await gate.post("/scan", json=scan)).status_code == 409
    await page.reload()
    await page.get_by_text("Refused: already used").wait_for()
    await page.locator("ol").get_by_text("Let in").wait_for()
    assert await violations(page) == []
    await picture(page, "card")
    await confirmed(page, "Undo activation", "Scanned by mistake")
    await page.get_by_text("The activation is taken back").wait_for()


async def confirmed(page: Page, words: str, reason: str) -> None:
    """Fill in and send the form that a button opens."""
    question = page.locator("details", has=page.locator("summary", has_text=words))
    await question.locator("summary").click()
    await question.get_by_label("Reason").fill(reason)
    await question.locator("form button").click()


async def undone(stack: Stack, tenant: factory.Tenant, page: Page) -> None:
    await page.goto(stack.url(f"events/{tenant.event_id}/imports"))
    await page.get_by_role("link", name="guests.csv").click()
    await confirmed(page, "Undo the import", "The wrong list")
    await page.get_by_text("Tickets removed again").wait_for()
    assert await page.locator("dd.figure").nth(3).inner_text() == "43"


async def test_without_javascript_on_a_phone_in_the_dark(
    stack: Stack, tenant: factory.Tenant, visit: Visitor, tmp_path: Path
) -> None:
    visited = await sign_in(stack, tenant, visit, colours="dark", viewport=PHONE, javascript=False)
    page = visited.page
    await page.goto(stack.url(f"events/{tenant.event_id}/imports"))
    await page.get_by_label("CSV file").set_input_files(guest_list(tmp_path, more=2))
    await page.get_by_role("button", name="Upload and go on").click()
    await page.get_by_role("button", name="Check every row").click()
    await page.get_by_role("button", name="Import 4 tickets").click(timeout=20_000)
    await page.get_by_role("link", name="See the tickets").click(timeout=20_000)
    await page.get_by_role("region", name="Tickets").wait_for()
    assert visited.complaints == []


REFUSED = {
    "broken.csv": ("Name;Category\nZoë;General\n".encode() + b"\xe9", "neither UTF-8"),
    "empty.csv": (b"", "The file is empty."),
    "header.csv": (b"Name;Category\n", "nothing below"),
    "guests.xlsx": (b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00\xff\xfe", "neither UTF-8"),
}


async def test_each_refused_file_says_why_and_the_next_can_be_chosen(
    stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    page = (await sign_in(stack, tenant, visit)).page
    await page.goto(stack.url(f"events/{tenant.event_id}/imports"))
    field = page.get_by_label("CSV file")
    for name, (content, sentence) in REFUSED.items():
        await field.set_input_files(FilePayload(name=name, mimeType="text/csv", buffer=content))
        await expect(page.locator("p.wrong")).to_be_hidden()
        await page.get_by_role("button", name="Upload and go on").click()
        await expect(page.locator("p.wrong")).to_contain_text(sentence)
        await expect(page.get_by_role("progressbar")).to_be_hidden()
        await expect(field).to_have_accessible_description(re.compile(sentence))
    assert await violations(page) == []
    await field.set_input_files(FilePayload(name="guests.csv", mimeType="text/csv", buffer=b"Name\nAnn\n"))
    await page.get_by_role("button", name="Upload and go on").click()
    await page.get_by_role("heading", name="What do the columns hold?").wait_for()


async def test_on_a_phone_used_and_unused_are_seen_without_scrolling(
    stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    await tenant.card()
    page = (await sign_in(stack, tenant, visit, viewport=PHONE)).page
    for rest, state in ((f"events/{tenant.event_id}/tickets", "Unused"), ("cards", "Active")):
        await page.goto(stack.url(rest))
        box = await page.get_by_role("table").get_by_text(state, exact=True).bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= PHONE["width"]
