"""Two people edit one event: the second is told, keeps what they typed, and can save it in the end."""

import re
from typing import Any

from gatepass.domain import events
from gatepass.studio.middleware import Middleware
from tests.factory import Tenant
from tests.studio.browser_session import BrowserSession, sign_in

VERSION = re.compile(r'name="version" value="([0-9]+)"')
DETAILS: dict[str, Any] = {
    "time_zone": "UTC",
    "starts_date": "2031-05-01",
    "starts_time": "20:00",
    "ends_date": "2031-05-01",
    "ends_time": "23:00",
}
OFFER: dict[str, Any] = {"tier": "standard", "price": "10", "currency": "EUR", "quantity_total": "5000"}


async def version(user: BrowserSession, page: str) -> str:
    found = VERSION.search(await user.see(page))
    assert found is not None
    return found[1]


async def test_an_event_that_somebody_else_changed(studio: Middleware, tenant: Tenant) -> None:
    page = f"events/{tenant.event_id}/edit"
    async with await sign_in(studio, tenant) as ada, await sign_in(studio, tenant) as bob:
        first = await version(ada, page)
        assert await version(bob, page) == first
        await ada.send(page, title="Of Ada", version=first, **DETAILS)
        refused = await bob.send(page, status=412, title="Of Bob", version=first, **DETAILS)
        assert "Somebody else changed this" in refused.text
        assert 'value="Of Bob"' in refused.text
        again = VERSION.search(refused.text)
        assert again is not None
        assert again[1] != first
        await bob.send(page, title="Of Bob", version=again[1], **DETAILS)
        wrong = await bob.send(page, status=422, title="", version=first, **DETAILS)
        assert VERSION.findall(wrong.text) == [first], "what was seen stays what was seen"
        await bob.send(page, title="Without", **DETAILS)
    async with tenant.db.autocommit() as tx:
        assert (await events.find(tx, tenant.id, tenant.event_id)).event.title == "Without"


async def test_a_category_that_somebody_else_changed(studio: Middleware, tenant: Tenant) -> None:
    page = f"events/{tenant.event_id}/categories/{tenant.category_id}"
    async with await sign_in(studio, tenant) as ada, await sign_in(studio, tenant) as bob:
        first = await version(ada, page)
        await ada.send(page, name="Of Ada", version=first, **OFFER)
        refused = await bob.send(page, status=412, name="Of Bob", version=first, **OFFER)
        assert "Somebody else changed this" in refused.text
        again = VERSION.search(refused.text)
        assert again is not None
        await bob.send(page, name="Of Bob", version=again[1], **OFFER)
