"""An organizer's week: from the invitation to the report after the night. By mouse, on a phone, by keyboard alone."""

import csv
import io
import re
from datetime import timedelta

import pytest
from playwright.async_api import FilePayload, Page, expect

from gatepass.domain import cards, organizations
from gatepass.domain.staff import Role, invitations
from tests import factory
from tests.browser.hands import Hands, Keyboard, Pointer
from tests.browser.studio import Stack, violations
from tests.browser.visit import DESKTOP, PHONE, Visitor

pytestmark = pytest.mark.browser

GUESTS = 2_000
# Of them so many come.
COME = 20
PASSWORD = "vier kleine Katzen tanzen"
SECRET = re.compile(r"svc_live_[0-9A-Za-z]+")
FIGURES = "dd.figure"


def guest_list() -> bytes:
    """As a spreadsheet of Western Europe exports it."""
    out = io.StringIO()
    rows = csv.writer(out, delimiter=";")
    rows.writerow(["Naam", "E-mail", "Order"])
    rows.writerow(["Zoë Öster", "zoe@example.org", "W-0"])
    rows.writerows([f"Gast Nº {n}", f"guest{n}@example.org", f"W-{n}"] for n in range(1, GUESTS))
    return out.getvalue().encode("windows-1252")


async def invited(tenant: factory.Tenant) -> tuple[str, str]:
    """A new organization, and the link of its owner, as `gatepass organization create` prints it."""
    at = factory.now()
    async with tenant.db.transaction() as tx:
        made = await organizations.create(tx, "Winter Nights", at=at, time_zone="Europe/Brussels")
        await cards.rotate(tx, made.id, factory.VAULT, by=factory.BY, at=at)
        offer = await invitations.invite(
            tx, made.id, f"owner.{made.id.hex[-8:]}@example.org", Role.OWNER, giver=Role.OWNER, cell="a",
            by=factory.BY, at=at, proves_email=True,
        )  # fmt: skip
    return str(made.id), f"/studio/welcome/{offer.token}"


@pytest.mark.parametrize("way", ["mouse", "phone", "keyboard"])
async def test_an_organizers_week(stack: Stack, tenant: factory.Tenant, visit: Visitor, way: str) -> None:
    _, link = await invited(tenant)
    visited = await visit(viewport=PHONE if way == "phone" else DESKTOP, colours="dark" if way == "phone" else "light")
    page = visited.page
    hands: Hands = Keyboard(page) if way == "keyboard" else Pointer(page)
    await page.goto(stack.url(link))
    await signed_up(page, hands)
    event = await event_made(stack, page, hands)
    await guests_brought(stack, page, hands, event)
    await guest_corrected(stack, page, hands, event)
    secret = await gate_set_up(stack, page, hands)
    await published(stack, page, hands, event)
    await rehearsed(stack, page, hands)
    await night_watched(stack, page, event, secret)
    await reported(stack, page, event)
    assert visited.complaints == []
    assert visited.elsewhere(stack.origin) == []


async def signed_up(page: Page, hands: Hands) -> None:
    await hands.write("Your name", "Grace Hopper")
    await hands.write("Password", PASSWORD)
    await hands.press("button", "Join with a password")
    await page.wait_for_url("**/live/home")
    await page.get_by_text("From an event to open doors").wait_for()
    assert await violations(page) == []


async def event_made(stack: Stack, page: Page, hands: Hands) -> str:
    """Tonight, so that the week ends."""
    await hands.press("link", "Make an event")
    await page.get_by_role("heading", name="New event").wait_for()
    await hands.write("Title", "Winter Garden")
    await hands.write("Venue", "Botanic Hall")
    await hands.write("City", "Brussels")
    start = factory.now() - timedelta(hours=1)
    await page.get_by_label("Start date").fill(start.strftime("%Y-%m-%d"))
    await page.get_by_label("Start time").fill(start.strftime("%H:%M"))
    end = start + timedelta(hours=6)
    await page.get_by_label("End date").fill(end.strftime("%Y-%m-%d"))
    await page.get_by_label("End time").fill(end.strftime("%H:%M"))
    await hands.press("button", "Make the draft")
    await page.wait_for_url("**/categories")
    event = page.url.split("/")[-2]
    await hands.write("Name", "General")
    await hands.write("Price", "25.50")
    await hands.write("Places", "3000")
    await hands.press("button", "Add")
    await page.get_by_text("General is added.").wait_for()
    assert await violations(page) == []
    await page.goto(stack.url("home"))
    return event


async def guests_brought(stack: Stack, page: Page, hands: Hands, event: str) -> None:
    await page.goto(stack.url(f"events/{event}/imports"))
    file = FilePayload(name="gasten.csv", mimeType="text/csv", buffer=guest_list())
    await page.get_by_label("CSV file").set_input_files(file)
    await hands.press("button", "Upload and go on")
    await page.get_by_text("It is read as Windows-1252").wait_for()
    await page.get_by_text("Zoë Öster").wait_for()
    await page.get_by_label("Naam").select_option("name")
    await page.get_by_label("Category for rows that name none").select_option(index=1)
    await hands.press("button", "Check every row")
    await page.get_by_role("button", name=f"Import {GUESTS:,} tickets").wait_for()
    await hands.press("button", "Import")
    await page.get_by_role("link", name="See the tickets").wait_for()
    assert await violations(page) == []


async def guest_corrected(stack: Stack, page: Page, hands: Hands, event: str) -> None:
    await page.goto(stack.url(f"events/{event}/tickets"))
    await hands.write("Digits of a card", "oster")
    await hands.press("button", "Find")
    await page.get_by_role("region", name="Tickets").get_by_role("link").first.wait_for()
    await hands.press("link", "SVC")
    await page.get_by_role("heading", name="SVC").wait_for()
    await hands.press("link", "Correct")
    await page.get_by_role("heading", name="Correct the holder").wait_for()
    await hands.write("Name", "Zoë Oster")
    await hands.press("button", "Save")
    await page.get_by_text("The holder is corrected.").wait_for()
    await hands.open("Print")
    await hands.press("button", "Print")
    await page.get_by_alt_text("QR code of card").wait_for()
    assert await violations(page) == []


async def gate_set_up(stack: Stack, page: Page, hands: Hands) -> str:
    await page.goto(stack.url("keys/new?preset=gate"))
    await hands.write("Name", "North gate")
    await hands.press("button", "Make the key")
    await page.get_by_text(SECRET).first.wait_for()
    return await page.get_by_text(SECRET).first.inner_text()


async def published(stack: Stack, page: Page, hands: Hands, event: str) -> None:
    await page.goto(stack.url(f"events/{event}/publish"))
    await hands.press("button", "Publish")
    await page.get_by_text("The event is published.").wait_for()


async def rehearsed(stack: Stack, page: Page, hands: Hands) -> None:
    await page.goto(stack.url("home", "sandbox"))
    await hands.press("button", "Scan TEST_VALID now")
    await page.get_by_role("heading", name="The gate opens").wait_for()


async def night_watched(stack: Stack, page: Page, event: str, secret: str) -> None:
    """The live page is open while the gate scans."""
    await page.goto(stack.url(f"events/{event}/tickets"))
    numbers = await page.locator("table a.mono").all_inner_texts()
    await page.goto(stack.url(f"events/{event}/live"))
    async with stack.server.client(secret) as gate:
        for number in numbers[:COME]:
            answer = await gate.post("/scan", json={"event_id": event, "card_number": number, "gate": "North"})
            assert answer.status_code == 200, answer.text
        again = {"event_id": event, "card_number": numbers[0], "gate": "North"}
        assert (await gate.post("/scan", json=again)).status_code == 409
    await expect(page.locator('[data-piece="totals"]')).to_contain_text(f"of {GUESTS:,} activated")
    await expect(page.locator('[data-piece="totals"]')).to_contain_text(str(COME))
    assert await violations(page) == []


async def reported(stack: Stack, page: Page, event: str) -> None:
    await page.goto(stack.url(f"events/{event}/tickets"))
    async with page.expect_download() as download:
        await page.get_by_role("link", name="Export CSV").click()
    text = (await (await download.value).path()).read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == GUESTS
    assert sum(row["state"] == "activated" for row in rows) == COME
    assert "Zoë Oster" in {row["name"] for row in rows}
