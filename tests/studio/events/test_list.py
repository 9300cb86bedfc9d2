"""The list of events: filters, pages, order."""

import re
from datetime import timedelta
from uuid import UUID

import pytest

from gatepass.domain.events import EventStatus
from gatepass.domain.staff import Role
from gatepass.studio.middleware import Middleware
from tests.studio.browser_session import BrowserSession, sign_in
from tests.studio.events.drafts import make_draft


async def test_the_list_and_its_filters(user: BrowserSession) -> None:
    tenant = user.tenant
    await tenant.event(starts_in=timedelta(days=-9), status=EventStatus.ENDED)
    draft = await make_draft(user, title="Rare Night")
    upcoming, past = await user.see("events"), await user.see("events?when=past")
    assert "Rare Night" in upcoming
    assert "Rare Night" not in past
    assert "Ended" in past
    assert str(draft) in await user.see("events?when=all&title=rare&status=draft&order=latest")
    assert "No event fits" in await user.see("events?title=nowhere")
    assert "No event fits" in await user.see("events?status=cancelled")


async def test_pages_lead_on_and_back(user: BrowserSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatepass.studio.events.list.PAGE", 2)
    made = [await user.tenant.event(starts_in=timedelta(days=n)) for n in range(1, 5)]
    expected = [user.tenant.event_id, *made]

    async def read(url: str) -> tuple[list[UUID], str | None, str | None]:
        page = await user.see(url)
        ids = [UUID(id) for id in re.findall(r'inset-0" href="/studio/o/[^/]+/live/events/([0-9a-f-]{36})"', page)]
        links = re.findall(r'href="(/studio/o/[^/]+/live/events\?[^"]*(?:after|before)=[^"]*)"', page)
        by = {("after" if "after=" in link else "before"): link.replace("&amp;", "&") for link in links}
        return ids, by.get("before"), by.get("after")

    first, before, after = await read("events")
    assert (first, before) == (expected[:2], None)
    second, before, after = await read(after or "")
    assert second == expected[2:4]
    assert (await read(before or ""))[0] == expected[:2]
    third, before, after = await read(after or "")
    assert (third, after) == (expected[4:], None)
    back, _, after = await read(before or "")
    assert back == expected[2:4]
    assert (await read(after or ""))[0] == expected[4:]


@pytest.mark.parametrize(
    "cursor", ["x", "_", "2031-01-01_x", "0001-01-01T00:00:00+00:00_" + str(UUID(int=0)), "9" * 500]
)
async def test_a_place_that_we_did_not_write_is_the_beginning(user: BrowserSession, cursor: str) -> None:
    assert str(user.tenant.event_id) in await user.see(f"events?after={cursor}")


async def test_an_empty_list_says_what_to_do_next(studio: Middleware, user: BrowserSession) -> None:
    await user.send(f"events/{user.tenant.event_id}/cancel", reason="x")
    assert "New event" in (page := await user.see("events"))
    assert "Nothing is planned" in page
    async with await sign_in(studio, user.tenant, Role.VIEWER) as viewer:
        assert "New event" not in await viewer.see("events")


async def test_each_tab_has_its_own_order(user: BrowserSession) -> None:
    """The tab of past events shows the latest first, whatever the order of the list before."""
    page = await user.see("events?order=earliest")
    (past,) = re.findall(r'href="([^"]+when=past[^"]*)"', page)
    assert '<option value="latest" selected>' in await user.see(past.replace("&amp;", "&"))
