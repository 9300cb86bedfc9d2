"""An organizer's week, from the invitation to the report after the night, with nothing but what the pages offer.

By mouse, on a phone, by the keyboard alone, and without JavaScript, as decision 11 promises.
"""

import csv
import io
import re
from dataclasses import dataclass
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import FilePayload, Page, expect

from gatepass.domain import cards, organizations
from gatepass.domain.staff import Role, invitations
from tests import factory
from tests.browser.hands import Hands, Keyboard, Pointer
from tests.browser.studio import Stack, violations
from tests.browser.visit import DESKTOP, PHONE, Visitor

pytestmark = pytest.mark.browser

# So many of the guests come.
COME = 20
ZONE = "Europe/Brussels"
PASSWORD = "vier kleine Katzen tanzen"
SECRET = re.compile(r"svc_live_[0-9A-Za-z]+")
IS_TOO_WIDE = "() => document.documentElement.scrollWidth > window.innerWidth"


@dataclass
class Week:
    """One way through the week: the browser's window, the hands, and the spreadsheet."""

    stack: Stack
    page: Page
    hands: Hands
    guests: int
    encoding: str
    separator: str
    is_scripted: bool

    async def looked_at(self) -> None:
        """Nothing on this page is wrong for a screen reader, and nothing sticks out to the side."""
        assert not await self.page.evaluate(IS_TOO_WIDE), self.page.url
        # The keyboard sees the same pages as the mouse; without scripts there is no axe.
        if self.is_scripted and isinstance(self.hands, Pointer):
            assert await violations(self.page) == []

    async def go(self, link: str, heading: str) -> None:
        await self.hands.press("link", link)
        await self.page.get_by_role("heading", name=heading, level=1).wait_for()

    async def go_home(self) -> None:
        await self.go("Winter Nights", "Winter Nights")

    def guest_list(self) -> bytes:
        out = io.StringIO()
        rows = csv.writer(out, delimiter=self.separator)
        rows.writerow(["Naam van de gast", "E-mailadres", "Ordernummer"])
        rows.writerow(["Zoë Öster", "zoe@example.org", "W-0"])
        rows.writerows([f"Gast Nº {n}", f"guest{n}@example.org", f"W-{n}"] for n in range(1, self.guests))
        return out.getvalue().encode(self.encoding)


# The spreadsheets of Western Europe write Windows-1252 and semicolons.
WAYS: dict[str, tuple[int, str, str]] = {
    "mouse": (2_000, "windows-1252", ";"),
    "phone": (200, "utf-8", ","),
    "keyboard": (200, "windows-1252", ";"),
    "no scripts": (200, "utf-8-sig", "\t"),
}


@pytest.mark.parametrize("way", WAYS)
async def test_an_organizers_week(stack: Stack, tenant: factory.Tenant, visit: Visitor, way: str) -> None:
    look = {"viewport": PHONE, "colours": "dark"} if way == "phone" else {"viewport": DESKTOP, "colours": "light"}
    visited = await visit(**look, javascript=way != "no scripts")
    hands: Hands = Keyboard(visited.page) if way == "keyboard" else Pointer(visited.page)
    week = Week(stack, visited.page, hands, *WAYS[way], is_scripted=way != "no scripts")
    await visited.page.goto(stack.url(await invited(tenant)))
    await signed_up(week)
    await event_made(week)
    await guests_brought(week)
    await guest_corrected(week)
    await card_handed_out(week)
    secret = await gate_set_up(week)
    await rehearsed(week)
    await published(week)
    await night_watched(week, secret)
    await reported(week)
    assert visited.complaints == []
    assert visited.elsewhere(stack.origin) == []


async def invited(tenant: factory.Tenant) -> str:
    """The link of the owner of a new organization, as `gatepass organization create` prints it."""
    at = factory.now()
    async with tenant.db.transaction() as tx:
        made = await organizations.create(tx, "Winter Nights", at=at, time_zone=ZONE)
        await cards.rotate(tx, made.id, factory.VAULT, by=factory.BY, at=at)
        offer = await invitations.invite(
            tx, made.id, f"owner.{made.id.hex[-8:]}@example.org", Role.OWNER, giver=Role.OWNER, cell="a",
            by=factory.BY, at=at, proves_email=True,
        )  # fmt: skip
    return f"/studio/welcome/{offer.token}"


async def signed_up(week: Week) -> None:
    await week.hands.write("Your name", "Grace Hopper")
    await week.hands.write("Password", PASSWORD)
    await week.hands.press("button", "Join with a password")
    await week.page.get_by_text("From an event to open doors").wait_for()
    await week.looked_at()


async def event_made(week: Week) -> None:
    """Tonight, so that the week ends."""
    await week.go("Make an event", "New event")
    await week.hands.write("Title", "Winter Garden")
    start = factory.now().astimezone(ZoneInfo(ZONE)) - timedelta(hours=1)
    await week.hands.date("Start", start)
    await week.hands.date("End", (start.astimezone(ZoneInfo("UTC")) + timedelta(hours=6)).astimezone(ZoneInfo(ZONE)))
    await week.hands.write("Venue", "Botanic Hall")
    await week.hands.write("City", "Brussels")
    await week.hands.press("button", "Make the draft")
    await week.page.get_by_role("heading", name="Ticket categories").wait_for()
    await week.hands.write("Name", "General")
    await week.hands.write("Price", "25.50")
    await week.hands.write("Places", "3000")
    await week.hands.press("button", "Add")
    await week.page.get_by_text("General is added.").wait_for()
    await week.looked_at()


async def guests_brought(week: Week) -> None:
    await week.go("Import guests", "Import tickets")
    file = FilePayload(name="gasten.csv", mimeType="text/csv", buffer=week.guest_list())
    await week.hands.attach("CSV file", file)
    await week.hands.press("button", "Upload and go on")
    await week.page.get_by_text("Zoë Öster").wait_for()
    await expect(week.page.get_by_text("It is read as Windows-1252")).to_have_count(
        1 if week.encoding == "windows-1252" else 0
    )
    await week.hands.choose("Naam van de gast", "Name")
    await week.hands.choose("Category for rows that name none", "General")
    await week.hands.press("button", "Check every row")
    await week.page.get_by_role("button", name=f"Import {week.guests:,} tickets").wait_for()
    await week.hands.press("button", "Import")
    await week.page.get_by_role("link", name="See the tickets").wait_for()
    await week.looked_at()


async def guest_corrected(week: Week) -> None:
    await week.go("See the tickets", "Tickets")
    await week.hands.write("Digits of a card", "oster")
    await week.hands.press("button", "Find")
    await expect(week.page.get_by_role("region", name="Tickets").get_by_role("row")).to_have_count(2)
    await week.looked_at()
    await week.go("SVC", "SVC")
    await week.go("Correct", "Correct the holder")
    await week.hands.write("Name", "Zoë Oster")
    await week.hands.press("button", "Save")
    await week.page.get_by_text("The holder is corrected.").wait_for()


async def card_handed_out(week: Week) -> None:
    await week.hands.open("Print")
    await week.hands.press("button", "Print")
    await week.page.get_by_alt_text("QR code of card").wait_for()
    await week.looked_at()


async def gate_set_up(week: Week) -> str:
    await week.go_home()
    await week.go("Make a key for a gate", "New live key")
    await week.hands.write("Name", "North gate")
    await week.hands.press("button", "Make the key")
    secret = await week.page.get_by_text(SECRET).first.inner_text()
    await week.go("I have stored it", "North gate")
    return secret


async def rehearsed(week: Week) -> None:
    await week.go_home()
    await week.hands.press("link", "Try a scan")
    await week.page.get_by_text("Nothing here opens a gate").wait_for()
    await week.hands.press("button", "Scan TEST_VALID now")
    await week.page.get_by_role("heading", name="The gate opens").wait_for()
    await week.looked_at()
    await week.hands.press("link", "Live")
    await week.page.get_by_text("Nothing here opens a gate").wait_for(state="hidden")


async def published(week: Week) -> None:
    await week.go_home()
    await week.go("Go to the event", "Winter Garden")
    await week.go("Publish…", "Publish the event")
    await week.hands.press("button", "Publish")
    await week.page.get_by_text("The event is published.").wait_for()


async def night_watched(week: Week, secret: str) -> None:
    """The live page is open while the gate scans."""
    event = week.page.url.split("/")[-1]
    await week.go("Tickets", "Tickets")
    numbers = await week.page.locator("table a.mono").all_inner_texts()
    await week.hands.press("link", "Live")
    totals = week.page.locator('[data-piece="totals"]')
    await expect(totals).to_contain_text(f"of {week.guests:,} activated")
    async with week.stack.server.client(secret) as gate:
        scans = [{"event_id": event, "card_number": number, "gate": "North"} for number in numbers[:COME]]
        answers = [await gate.post("/scan", json=scan) for scan in [*scans, scans[0]]]
    assert [answer.status_code for answer in answers] == [200] * COME + [409]
    while not week.is_scripted and not await totals.get_by_text(str(COME), exact=True).count():
        await week.page.reload()
    await expect(totals).to_contain_text(re.compile(rf"^\s*{COME}\s"))
    await week.looked_at()


async def reported(week: Week) -> None:
    await week.go("Tickets", "Tickets")
    async with week.page.expect_download() as download:
        await week.hands.press("link", "Export CSV")
    text = (await (await download.value).path()).read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == week.guests
    assert sum(row["state"] == "activated" for row in rows) == COME
    assert "Zoë Oster" in {row["name"] for row in rows}
