"""Times are those of clocks where the organization is, or where the event is; UTC is their tooltip."""

import csv
import io
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from gatepass.domain import events, organizations
from tests import factory
from tests.studio.browser_session import BrowserSession

TOKYO, BRUSSELS = "Asia/Tokyo", "Europe/Brussels"
# A summer night: 20:30 UTC is 22:30 in Brussels, and 05:30 of the next day in Tokyo.
NIGHT = datetime(2031, 7, 14, 20, 30, tzinfo=UTC)
UTC_TOOLTIP = 'title="14 Jul 2031, 20:30:00 UTC"'
IN_TOKYO, IN_BRUSSELS = "15 Jul 2031, 05:30", "14 Jul 2031, 22:30"


@pytest.fixture
async def there(user: BrowserSession) -> BrowserSession:
    """An organization in Tokyo, whose event is in Brussels."""
    tenant = user.tenant
    async with tenant.db.transaction() as tx:
        await organizations.choose_time_zone(tx, tenant.id, TOKYO, by=factory.BY, at=factory.now())
    return user


async def event_in_brussels(user: BrowserSession) -> UUID:
    async with user.tenant.db.transaction() as tx:
        return await events.create(
            tx, user.tenant.id, "Night", NIGHT, NIGHT + timedelta(hours=2), time_zone=BRUSSELS,
            by=factory.BY, at=factory.now(),
        )  # fmt: skip


async def test_what_is_not_about_an_event_is_in_the_zone_of_the_organization(there: BrowserSession) -> None:
    card = await there.tenant.card()
    async with there.tenant.db.transaction() as tx:
        await tx.run("UPDATE card SET issued_at = $2 WHERE id = $1", card.id, NIGHT)
    for page in (await there.see(f"cards/{card.id}"), await there.see("cards")):
        assert IN_TOKYO in page
        assert UTC_TOOLTIP in page
        assert "UTC<" not in page


async def test_what_is_about_an_event_is_in_the_zone_of_the_event(there: BrowserSession) -> None:
    event_id = await event_in_brussels(there)
    async with there.tenant.db.transaction() as tx:
        await tx.run("UPDATE event SET status = 'published' WHERE id = $1", event_id)
    for rest in (f"events/{event_id}", f"events/{event_id}/tickets", f"events/{event_id}/live", "home"):
        page = await there.see(rest)
        assert IN_BRUSSELS in page, rest
        assert IN_TOKYO not in page, rest


async def test_a_new_event_begins_in_the_zone_of_the_organization(there: BrowserSession) -> None:
    assert f'value="{TOKYO}"' in await there.see("events/new")


@pytest.mark.parametrize("log", ["audit", "requests"])
async def test_a_filter_takes_the_time_that_the_page_shows(there: BrowserSession, log: str) -> None:
    assert f"From ({TOKYO})" in await there.see(log)


async def test_a_filter_of_the_audit_log_is_local(there: BrowserSession) -> None:
    async with there.tenant.db.transaction() as tx:
        await organizations.rename(tx, there.tenant.id, "Found", by=factory.BY, at=NIGHT)
    assert "organization renamed" in await there.see("audit?since=2031-07-15T05:29&until=2031-07-15T05:31")
    assert "organization renamed" not in await there.see("audit?since=2031-07-14T20:29&until=2031-07-14T20:31")


async def test_exports_have_the_offset(there: BrowserSession) -> None:
    async with there.tenant.db.transaction() as tx:
        await organizations.rename(tx, there.tenant.id, "Found", by=factory.BY, at=NIGHT)
    rows = list(csv.DictReader(io.StringIO((await there.see("audit/export.csv")).lstrip("\ufeff"))))
    assert "2031-07-15T05:30:00+09:00" in {next(iter(row.values())) for row in rows}


async def test_an_organization_without_a_zone_says_utc(user: BrowserSession) -> None:
    await user.tenant.card()
    assert " UTC</time>" in await user.see("cards")
