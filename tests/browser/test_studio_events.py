"""Events in a real browser: from a draft to a published event, with its time zone, its cover and its copies."""

from datetime import timedelta
from decimal import Decimal

import pytest
from playwright.async_api import FilePayload, Page, expect

from gatepass.domain import events
from gatepass.domain.events import EventStatus
from gatepass.domain.staff import Role
from gatepass.domain.webhooks import MessageType
from tests import factory
from tests.browser.studio import Stack, picture, sign_in, violations
from tests.browser.visit import PHONE, Visitor
from tests.pictures import png

pytestmark = pytest.mark.browser

PROGRAMME = (
    ("Jazz after Dark", "Old Market", "Antwerp", "Europe/Brussels", (16, 120, 100), 700, True),
    ("Chess Night", "City Library", "Leuven", "Europe/Brussels", (190, 60, 80), 0, False),
    ("Harbour Festival", "Pier 17", "New York", "America/New_York", (200, 140, 20), 1200, True),
)


async def announce(tenant: factory.Tenant) -> None:
    """A list of events to look at: some sold, some drafts, and a webhook endpoint."""
    at = factory.now()
    for n, (title, venue, city, zone, colour, sold, is_published) in enumerate(PROGRAMME):
        start = (at + timedelta(days=12 * n + 9)).replace(hour=18, minute=30, second=0, microsecond=0)
        async with tenant.db.transaction() as tx:
            cover = await events.store_cover(tx, tenant.id, png(480, 270, colour=colour), by=factory.BY, at=at)
            event_id = await events.create(
                tx, tenant.id, title, start, start + timedelta(hours=4), by=factory.BY, at=at, time_zone=zone,
                venue=venue, city=city, cover_url=cover,
            )  # fmt: skip
            category = await events.add_category(
                tx, tenant.id, event_id, "General", Decimal("25.50"), "EUR", 1_200, by=factory.BY, at=at
            )
            await tx.run(
                "UPDATE ticket_category SET quantity_sold = $3 WHERE organization_id = $1 AND id = $2",
                tenant.id, category, sold,
            )  # fmt: skip
            if is_published:
                await events.change_status(tx, tenant.id, event_id, EventStatus.PUBLISHED, by=factory.BY, at=at)
    await tenant.endpoint("https://example.com/", MessageType.EVENT_CANCELLED, MessageType.TICKET_CANCELLED)


async def say_when(page: Page) -> None:
    """The times in UTC while somebody types: this hour comes twice."""
    await page.get_by_label("Time zone of the venue").fill("Europe/Brussels")
    for side, time in (("Start", "02:30"), ("End", "06:00")):
        await page.get_by_label(f"{side} date").fill("2031-10-26")
        await page.get_by_label(f"{side} time").fill(time)
    await page.get_by_label("End time").blur()
    await expect(page.locator("#clock")).to_contain_text("Ends 26 Oct 2031, 05:00 UTC")
    await page.get_by_label("The second, after the clocks went back").check()
    await expect(page.locator("#clock")).to_contain_text("26 Oct 2031, 01:30 UTC")
    await expect(page.locator("#clock")).to_contain_text("Sun, 26 Oct 2031, 14:00 for you, in Asia/Tokyo")
    await page.locator("#clock").scroll_into_view_if_needed()
    await picture(page, "events-clock")
    assert await violations(page) == []


async def upload_cover(page: Page) -> None:
    file = FilePayload(name="cover.png", mimeType="image/png", buffer=png(640, 360))
    await page.get_by_label("A picture from this machine").set_input_files(file)
    await page.get_by_role("button", name="Upload").click()
    cover = page.get_by_alt_text("The cover of Winter Garden")
    assert await cover.evaluate("async (image) => { await image.decode(); return image.naturalWidth }") == 640


async def test_an_event_from_draft_to_published(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    await announce(tenant)
    visited = await sign_in(stack, tenant, visit)
    page = visited.page
    await page.goto(stack.url("events"))
    await picture(page, "events")
    # The organizer is in Tokyo.
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Tokyo"})
    await page.get_by_role("link", name="New event").click()
    await expect(page.get_by_label("Time zone of the venue")).to_have_value("Asia/Tokyo")

    await page.get_by_label("Title").fill("Winter Garden")
    await say_when(page)
    await page.get_by_role("textbox", name="Venue").fill("Botanic Hall")
    await page.get_by_label("City").fill("Brussels")
    await page.get_by_label("Country").select_option("BE")
    await page.get_by_role("button", name="Make the draft").click()

    await page.get_by_label("Name", exact=True).fill("General")
    await page.get_by_label("Price", exact=True).fill("25.50")
    await page.get_by_label("Places", exact=True).fill("1200")
    await page.get_by_role("button", name="Add", exact=True).click()
    await page.get_by_text("General is added.").wait_for()

    await page.get_by_role("link", name="Winter Garden").click()
    await page.get_by_text("More", exact=True).click()
    await page.get_by_role("link", name="Cover picture").click()
    await upload_cover(page)

    await page.get_by_role("link", name="Publish…").click()
    await page.wait_for_url("**/publish")
    assert await violations(page) == []
    await picture(page, "events-publish")
    await page.get_by_role("button", name="Publish").click()
    await page.get_by_text("The event is published.").wait_for()
    assert await violations(page) == []
    await page.get_by_role("link", name="Events", exact=True).first.click()
    await page.get_by_role("link", name="Jazz after Dark").click()
    await expect(page.get_by_role("heading", name="Jazz after Dark")).to_be_visible()
    await picture(page, "events-one")
    await page.get_by_text("More", exact=True).click()
    await page.get_by_role("link", name="Cancel the event").click()
    await page.wait_for_url("**/cancel")
    await picture(page, "events-cancel")
    assert visited.complaints == []
    assert visited.elsewhere(stack.origin) == []


async def test_cancelling_on_a_phone_in_the_dark(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    await announce(tenant)
    visited = await sign_in(stack, tenant, visit, colours="dark", viewport=PHONE)
    page = visited.page
    await page.goto(stack.url("events"))
    assert await violations(page) == []
    await page.get_by_role("link", name="Jazz after Dark").click()
    await page.get_by_text("More", exact=True).click()
    await page.get_by_role("link", name="Cancel the event").click()
    await expect(page.locator("dd.figure")).to_have_text(["700", "701"])
    assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    await page.get_by_label("Reason").fill("A storm is coming.")
    await page.get_by_role("button", name="Cancel the event").click()
    await page.get_by_text("This event was cancelled").wait_for()
    assert visited.complaints == []


async def test_a_copy_is_made_without_javascript(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    visited = await sign_in(stack, tenant, visit, role=Role.ADMIN, javascript=False)
    page = visited.page
    await page.goto(stack.url(f"events/{tenant.event_id}"))
    await page.get_by_text("More", exact=True).click()
    await page.get_by_role("link", name="Duplicate").click()
    await page.get_by_label("Title").fill("The same again")
    await page.get_by_label("How much later").fill("2")
    await page.get_by_role("button", name="Duplicate").click()
    await page.get_by_role("heading", name="The same again").wait_for()
    await page.get_by_role("link", name="Edit", exact=True).click()
    await page.get_by_label("Start date").fill("2031-03-30")
    await page.get_by_label("Time zone of the venue").fill("Europe/Brussels")
    await page.get_by_label("Start time").fill("02:30")
    await page.get_by_role("button", name="Save").click()
    await page.get_by_text("there is no 02:30 on that day").first.wait_for()


async def test_a_viewer_finds_nothing_to_change(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    visited = await sign_in(stack, tenant, visit, role=Role.VIEWER)
    page = visited.page
    await page.goto(stack.url(f"events/{tenant.event_id}"))
    await page.get_by_role("heading", level=1).wait_for()
    assert await page.get_by_text("More", exact=True).count() == 0
    assert await page.get_by_role("link", name="Edit").count() == 0
