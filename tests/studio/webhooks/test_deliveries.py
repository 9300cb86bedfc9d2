"""Deliveries in the studio: the list, one delivery with its attempts, sending it again."""

import html
import re
from datetime import timedelta

from gatepass.domain import webhooks
from gatepass.domain.webhooks import MessageType
from tests import factory
from tests.studio.browser_session import BrowserSession
from tests.studio.samples.webhooks import give_up
from tests.studio.webhooks.stored import URL


async def test_deliveries_are_filtered_by_the_url_and_paged(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL, MessageType.TICKET_ACTIVATED, MessageType.TICKET_CANCELLED)
    await user.tenant.tell(60)
    await user.tenant.tell(2, type=MessageType.TICKET_CANCELLED)
    first = await user.see(f"webhooks/{id}/deliveries")
    (following,) = re.findall(r'href="([^"]*cursor=[^"]*)"', first)
    second = await user.see(html.unescape(following))
    assert links(second) == 12
    assert (links(first), links(await user.see(f"webhooks/{id}/deliveries?type=ticket.cancelled"))) == (50, 2)
    assert "Nothing fits" in await user.see(f"webhooks/{id}/deliveries?status=delivered")
    tomorrow = (factory.now() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    assert links(await user.see(f"webhooks/{id}/deliveries?since={tomorrow}")) == 0
    assert links(await user.see(f"webhooks/{id}/deliveries?until={tomorrow}&status=nonsense&cursor=nonsense")) == 50


def links(page: str) -> int:
    return len(re.findall(r'href="[^"]*/deliveries/[0-9a-f-]{36}"', page))


async def test_a_delivery_shows_every_attempt_and_no_signature(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL)
    (event_id,) = await user.tenant.tell()
    delivery_id = await give_up(user.tenant, id)
    page = html.unescape(await user.see(f"webhooks/{id}/deliveries/{delivery_id}"))
    assert "Attempt 1" in page
    assert "Attempt 2" in page
    assert "No whole answer within 15 seconds." in page
    assert "The receiver failed." in page
    assert f"webhook-id: {webhooks.written_id(event_id)}" in page
    assert re.search(r"x-svc-signature: t=[0-9]+,v1=\(not kept\)", page)
    assert f'"id": "{webhooks.written_id(event_id)}"' in page
    assert "hx-trigger" not in page


async def test_a_delivery_is_sent_again_from_its_page(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL)
    await user.tenant.tell()
    delivery_id = await give_up(user.tenant, id)
    page = await user.follow(await user.send(f"webhooks/{id}/deliveries/{delivery_id}/resend"))
    assert "On its way again" in page
    assert "somebody asked for it again" in page
    assert "Pending" in page


async def test_what_is_still_to_be_sent_is_not_sent_again(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL)
    location = (await user.send(f"webhooks/{id}/test")).headers["location"]
    assert "This delivery is still to be sent." in (await user.send(f"{location}/resend", status=409)).text


async def test_a_delivery_that_failed_once_is_retrying(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL)
    location = (await user.send(f"webhooks/{id}/test")).headers["location"]
    pages = (location, f"webhooks/{id}", f"webhooks/{id}/deliveries")
    for page in [await user.see(rest) for rest in pages]:
        assert ">Pending</span>" in page
    async with user.tenant.db.transaction() as tx:
        await tx.run("UPDATE webhook_delivery SET attempts = 1 WHERE organization_id = $1", user.tenant.id)
    for page in [await user.see(rest) for rest in pages]:
        assert '<span class="pill" data-tone="warn">Retrying</span>' in page
        assert ">Pending</span>" not in page
