"""Webhooks in a real browser, with a real worker and real receivers: added, tested, delivered, failed, sent again."""

from uuid import UUID

import pytest
from playwright.async_api import Page, expect

from gatepass.base.wire_constants import REPLAY_HEADER, SIGNATURE_HEADER
from gatepass.domain.webhooks import MessageType
from gatepass.domain.webhooks.verification import verify
from tests import factory
from tests.browser.studio import Stack, picture, sign_in, violations
from tests.browser.visit import Visitor
from tests.receivers import Received, receiving, status

pytestmark = pytest.mark.browser

# The third attempt comes 36 seconds after the second at the latest.
RETRIED_WITHIN = 60_000

# A realistic day of messages, for the bars; all were delivered in the end, but for one hour.
A_DAY = """
    INSERT INTO webhook_delivery (organization_id, endpoint_id, at, id, event_txid, event_id, event_at, type,
                                  ordering_key, state, attempts, last_status, ended_at)
    SELECT $1, $2, now() - h * interval '1 hour' - n * interval '20 seconds', gen_random_uuid(), n, gen_random_uuid(),
           now(), 'ticket.activated', gen_random_uuid(),
           CASE WHEN h = 9 AND n % 3 = 0 THEN 'failed' ELSE 'delivered' END,
           CASE WHEN h BETWEEN 8 AND 10 THEN 1 + n % 3 ELSE 1 END, CASE WHEN h = 9 AND n % 3 = 0 THEN 503 ELSE 204 END,
           now() - h * interval '1 hour'
      FROM generate_series(1, 23) h, generate_series(1, 40) n
     WHERE n <= 20 + 18 * sin(h / 3.5)
"""


def genuine(secret: str, received: Received) -> bool:
    return all(one.genuine for one in verify(secret, received.headers, received.body, at=factory.now()))


async def endpoint_with_a_day(tenant: factory.Tenant, url: str) -> UUID:
    id, _ = await tenant.endpoint(url, MessageType.TICKET_ACTIVATED, MessageType.TICKET_CANCELLED)
    async with tenant.db.transaction() as tx:
        await tx.run(A_DAY, tenant.id, id)
    return id


async def test_added_tested_told_of_a_scan_and_sent_again(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    key, card = await tenant.key(), await tenant.card()
    visited = await sign_in(stack, tenant, visit)
    page = visited.page
    async with receiving(otherwise=status(200, b"thank you")) as receiver:
        await page.get_by_role("link", name="Webhooks", exact=True).first.click()
        await page.get_by_role("link", name="Add endpoint").click()
        await page.get_by_label("URL", exact=True).fill(receiver.url())
        await page.get_by_role("button", name="Check this URL").click()
        await page.get_by_text("This URL can be reached").wait_for()
        assert page.url.endswith("/webhooks/new")
        await picture(page, "webhooks-new")
        await page.get_by_role("button", name="Add endpoint").click()
        secret = await page.locator("pre").first.inner_text()
        assert await violations(page) == []
        assert receiver.messages == []

        await page.get_by_role("button", name="Send a test message").click()
        await expect(page.get_by_text("Delivered", exact=True).first).to_be_visible()
        (test,) = await receiver.wait(1)
        assert test.headers["x-svc-event"] == "webhook.ping"
        assert genuine(secret, test)

        async with stack.server.client(key.text) as client:
            scan = {"event_id": str(tenant.event_id), "card_number": card.number}
            assert (await client.post("/scan", json=scan)).status_code == 200
        _, told = await receiver.wait(2)
        assert told.json()["data"]["card_number"] == card.number
        assert genuine(secret, told)

        await page.get_by_role("link", name="Deliveries", exact=True).click()
        await page.get_by_role("link", name="ticket.activated").click()
        await expect(page.get_by_text("Delivered", exact=True).first).to_be_visible()
        await expect(page.get_by_text("thank you")).to_be_visible()
        assert await violations(page) == []
        await picture(page, "webhooks-delivery")
        await page.get_by_role("button", name="Send again").click()
        await page.get_by_text("somebody asked for it again").wait_for()
        await expect(page.get_by_text("Delivered", exact=True).first).to_be_visible()
        *_, again = await receiver.wait(3)
        assert (again.body, again.headers[REPLAY_HEADER]) == (told.body, "1")

        await page.goto(page.url.partition("/deliveries")[0] + "/replays")
        await page.get_by_label("Everything").check()
        await page.get_by_role("button", name="Count first").click()
        await expect(page.get_by_role("button", name="Send 1 message again")).to_be_visible()
        await picture(page, "webhooks-replay")
        await page.get_by_role("button", name="Send 1 message again").click()
        await expect(page.get_by_text("Done", exact=True)).to_be_visible()
        *_, last = await receiver.wait(4)
        assert (last.body, genuine(secret, last)) == (told.body, True)
    assert visited.complaints == []
    assert visited.elsewhere(stack.origin) == []


async def test_a_receiver_that_fails_shows_its_attempts_and_the_next(
    stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    visited = await sign_in(stack, tenant, visit)
    page = visited.page
    async with receiving(otherwise=status(503, b"down for maintenance")) as receiver:
        id, _ = await tenant.endpoint(receiver.url())
        await tenant.tell()
        await receiver.wait(1)
        await page.goto(stack.url(f"webhooks/{id}/deliveries?status=pending"))
        await page.get_by_role("link", name="ticket.activated").click()
        await expect(page.get_by_text("down for maintenance").first).to_be_visible()
        await expect(page.get_by_text("Planned")).to_be_visible()
        await expect(page.get_by_text("The receiver is not available.").first).to_be_visible()
        assert await violations(page) == []
        await picture(page, "webhooks-failing")
        await page.goto(stack.url(f"webhooks/{id}"))
        await expect(page.get_by_text("Nothing has got through since")).to_be_visible()
        await expect(page.get_by_text("Retrying", exact=True)).to_be_visible()
        await expect(page.get_by_text("Failing", exact=True)).to_be_visible()
        assert await violations(page) == []
        # The page follows by itself: the receiver is back, and the next attempt gets through.
        receiver.otherwise = 200
        await expect(page.get_by_text("Active", exact=True)).to_be_visible(timeout=RETRIED_WITHIN)
        await expect(page.get_by_text("Delivered", exact=True)).to_be_visible()
        await expect(page.get_by_text("Nothing has got through since")).to_be_hidden()
    assert visited.complaints == []


async def test_without_javascript_everything_is_still_there(
    stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    page = (await sign_in(stack, tenant, visit, javascript=False)).page
    async with receiving() as receiver:
        await page.goto(stack.url("webhooks/new"))
        await page.get_by_label("URL", exact=True).fill(receiver.url())
        await page.get_by_label("Description").fill("Door list")
        await page.get_by_role("button", name="Check this URL").click()
        await page.get_by_text("This URL can be reached").wait_for()
        assert await page.get_by_label("Description").input_value() == "Door list"
        await page.get_by_role("button", name="Add endpoint").click()
        await page.get_by_role("link", name="I have it: go on").click()
        await page.get_by_text("Rotate secret").click()
        await page.get_by_text("Issue a new secret").nth(1).click()
        await page.get_by_role("button", name="Issue a new secret").click()
        await page.get_by_text("The new secret").first.wait_for()
        await page.get_by_text("Switch now").first.click()
        await page.get_by_role("button", name="Switch now").click()
        await page.get_by_text("Two secrets, the new one signs").wait_for()
    await page.goto(stack.url("webhooks/playground?example=1"))
    await page.get_by_role("button", name="Verify").click()
    await expect(page.get_by_text("Genuine", exact=True)).to_have_count(2)


async def verified(page: Page, body: str | None = None) -> None:
    if body is not None:
        await page.get_by_label("Body").fill(body)
    await page.get_by_role("button", name="Verify").click()


async def test_the_playground_shows_each_step(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    visited = await sign_in(stack, tenant, visit)
    page = visited.page
    await page.goto(stack.url("webhooks/playground?example=1"))
    await verified(page)
    await expect(page.get_by_text("Genuine", exact=True)).to_have_count(2)
    await expect(page.get_by_role("heading", name=SIGNATURE_HEADER)).to_be_visible()
    assert await violations(page) == []
    await picture(page, "webhooks-playground")
    await verified(page, "{}")
    await expect(page.get_by_text("Not genuine", exact=True)).to_have_count(2)
    assert visited.complaints == []


async def test_a_day_in_bars(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    id = await endpoint_with_a_day(tenant, "https://example.com/gatepass/webhooks")
    other, _ = await tenant.endpoint("https://backoffice.example.org/hooks/4f7c21", MessageType.EVENT_CANCELLED)
    async with tenant.db.transaction() as tx:
        await tx.run(PAUSE, tenant.id, other)
    page = (await sign_in(stack, tenant, visit)).page
    await page.goto(stack.url("webhooks"))
    await expect(page.get_by_role("img", name="attempts got through")).to_be_visible()
    await expect(page.get_by_text("The receiver answered 410 Gone")).to_be_visible()
    await picture(page, "webhooks")
    await page.goto(stack.url(f"webhooks/{id}"))
    await picture(page, "webhooks-endpoint")


PAUSE = """
    UPDATE webhook_endpoint SET status = 'paused', paused_reason = 'gone' WHERE organization_id = $1 AND id = $2
"""
