"""Cards to their holders, in a real browser: chosen in the list, sent by mail, or made into a file."""

import re

import pytest
from playwright.async_api import Page, ViewportSize, expect

from gatepass.domain import tickets
from gatepass.domain.cards import HolderDetails
from gatepass.domain.tickets import IssuedTicket, TicketRequest
from tests import factory
from tests.browser.studio import Stack, picture, sign_in, violations
from tests.browser.visit import Visitor

pytestmark = pytest.mark.browser

# The smallest phone that we know of.
NARROW = ViewportSize(width=320, height=568)
GUESTS = (
    ("Ada Lovelace", "ada@example.org"),
    ("Grace Hopper", "grace@example.org"),
    ("Hedy Lamarr", "refuse-hedy@example.org"),
    ("Mary Jackson", None),
)


async def with_guests(tenant: factory.Tenant) -> list[IssuedTicket]:
    async with tenant.db.transaction() as tx:
        return [
            await tickets.issue(
                tx, tenant.id,
                TicketRequest(tenant.event_id, tenant.category_id, holder=HolderDetails(name, email)),
                by=factory.BY, at=factory.now(),
            )
            for name, email in GUESTS
        ]  # fmt: skip


async def is_fit(page: Page) -> None:
    """Axe finds nothing, and nothing is too wide for the smallest phone."""
    assert await violations(page) == []
    size = page.viewport_size
    assert size is not None
    await page.set_viewport_size(NARROW)
    assert await page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    await page.set_viewport_size(size)


async def test_cards_go_by_mail_to_everybody_or_to_the_chosen(
    mailing_stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    await with_guests(tenant)
    visited = await sign_in(mailing_stack, tenant, visit)
    page = visited.page
    await page.goto(mailing_stack.url(f"events/{tenant.event_id}/cards"))
    await page.get_by_role("link", name="Send by mail").click()
    await expect(page.get_by_role("region", name="Who gets a letter").locator("dd")).to_have_text(["3", "0", "1", "4"])
    await expect(page.frame_locator("iframe").get_by_text("Ada Lovelace")).to_be_visible()
    await page.get_by_role("link", name="Nederlands").click()
    await expect(page.frame_locator("iframe").locator("html")).to_have_attribute("lang", "nl")
    await is_fit(page)
    await page.get_by_role("link", name="English").click()
    await expect(page.frame_locator("iframe").locator("html")).to_have_attribute("lang", "en")
    await picture(page, "mail")
    await send(page, "Send 3 letters")
    await expect(page.get_by_text("550 5.1.1 No such user here")).to_be_visible()
    await is_fit(page)
    # Who has a letter gets another only by being chosen.
    await page.get_by_role("link", name="Tickets").click()
    await page.get_by_role("row", name="Ada Lovelace").get_by_role("checkbox").check()
    await is_fit(page)
    await page.get_by_role("button", name="Send by mail").click()
    await expect(page.get_by_text("1 of them will have two letters")).to_be_visible()
    await send(page, "Send 1 letter")
    assert visited.complaints == []
    assert visited.elsewhere(mailing_stack.origin) == []


async def send(page: Page, words: str) -> None:
    """Confirm the question, and wait until the page says that all have left."""
    await page.locator("summary", has_text=words).click()
    await page.get_by_role("button", name=words).click()
    await expect(page.get_by_role("region", name="Progress").get_by_text("Done")).to_be_visible()


async def test_the_page_of_a_card_sends_it_to_its_holder(
    mailing_stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    ada, *_, mary = await with_guests(tenant)
    visited = await sign_in(mailing_stack, tenant, visit)
    page = visited.page
    await page.goto(mailing_stack.url(f"cards/{mary.card_id}"))
    await expect(page.get_by_role("link", name="Send by mail")).to_have_count(0)
    await page.goto(mailing_stack.url(f"cards/{ada.card_id}"))
    await is_fit(page)
    await page.get_by_role("button", name="Link").click()
    await expect(page.get_by_text(re.compile(r"/c/a\."))).to_be_visible()
    await is_fit(page)
    await page.goto(mailing_stack.url(f"cards/{ada.card_id}"))
    await page.get_by_role("link", name="Send by mail").click()
    await expect(page.frame_locator("iframe").get_by_text("Ada Lovelace")).to_be_visible()
    await send(page, "Send 1 letter")
    assert visited.complaints == []


async def test_a_file_of_cards_is_made_and_downloaded(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    await with_guests(tenant)
    visited = await sign_in(stack, tenant, visit)
    page = visited.page
    await page.goto(stack.url(f"events/{tenant.event_id}/tickets"))
    await page.get_by_role("row", name="Ada Lovelace").get_by_role("checkbox").check()
    await page.get_by_role("row", name="Mary Jackson").get_by_role("checkbox").check()
    await page.get_by_role("button", name="Print or export").click()
    await expect(page.get_by_text("2 chosen tickets")).to_be_visible()
    await is_fit(page)
    await page.get_by_role("button", name="Make the file").click()
    download = page.get_by_role("link", name="Download")
    await expect(download).to_be_visible()
    await is_fit(page)
    await page.goto(stack.url(f"events/{tenant.event_id}/cards"))
    await picture(page, "cards")
    async with page.expect_download() as file:
        await download.click()
    assert (await (await file.value).path()).read_bytes().startswith(b"%PDF-")
    assert visited.complaints == []
