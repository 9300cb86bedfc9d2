"""Home: what needs attention, and a checklist for who runs an event or connects a program."""

from datetime import timedelta

from gatepass.domain.staff import Role
from gatepass.domain.webhooks import MessageType
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.studio.browser_session import BrowserSession, sign_in

NEEDED = "Needs attention"


async def test_an_organizer_sees_the_way_from_an_event_to_its_first_guest(user: BrowserSession) -> None:
    await user.tenant.card()
    page = await user.see("home")
    for title in ("Make your event", "Bring your guests", "Give them their cards", "Set up a gate", "Rehearse"):
        assert title in page
    for done in ("Make your event", "Bring your guests", "Publish"):
        assert f'{done}<span class="sr-only">, done</span>' in page, done
    card = await user.tenant.card()
    await user.send(f"cards/{card.id}/print", status=200, days="1")
    assert 'Give them their cards<span class="sr-only">, done</span>' in await user.see("home")


async def test_the_way_leads_to_the_event_if_there_is_one_alone(user: BrowserSession) -> None:
    event = f'"{user.root()}events/{user.tenant.event_id}'
    page = await user.see("home")
    assert f'{event}/tickets"' in page
    assert f'{event}/live"' in page
    await user.tenant.event()
    page = await user.see("home")
    assert f'{event}/tickets"' not in page
    assert "Choose the event" in page


async def test_an_integrator_sees_the_way_to_a_live_key(studio: Middleware, tenant: factory.Tenant) -> None:
    async with await sign_in(studio, tenant, Role.OWNER, mode="sandbox") as visitor:
        page = await visitor.see("home")
        assert "Make a sandbox API key" in page
        assert "Bring your guests" not in page


async def test_a_checklist_is_put_away_by_each_for_themselves(user: BrowserSession, studio: Middleware) -> None:
    assert "From an event to open doors" not in await user.follow(await user.send("home/dismiss"))
    async with await sign_in(studio, user.tenant, Role.ADMIN) as other:
        assert "From an event to open doors" in await other.see("home")


async def test_a_failing_endpoint_is_on_home_and_in_the_menu(user: BrowserSession) -> None:
    tenant = user.tenant
    endpoint, _ = await tenant.endpoint("https://example.com/down", MessageType.TICKET_ACTIVATED)
    assert NEEDED not in await user.see("home")
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE webhook_endpoint SET failing_since = now() WHERE id = $1", endpoint)
    page = await user.see("home")
    assert f"{user.root()}webhooks/{endpoint}" in page
    assert "https://example.com/down" in page
    assert '1<span class="sr-only"> need attention</span>' in await user.see("events")


async def test_a_key_in_use_that_ends_soon_is_on_home(user: BrowserSession) -> None:
    key = await user.tenant.key()
    for used, ends, shown in ((1, 13, True), (1, 15, False), (31, 13, False), (1, -1, False)):
        async with user.tenant.db.transaction() as tx:
            await tx.run(
                "UPDATE api_key SET last_used_at = $2, expires_at = $3 WHERE id = $1",
                key.id, factory.now() - timedelta(days=used), factory.now() + timedelta(days=ends),
            )  # fmt: skip
        assert (f"{user.root()}keys/{key.id}" in await user.see("home")) is shown, (used, ends)


async def test_a_category_that_is_nearly_full_is_on_home(user: BrowserSession) -> None:
    for sold, shown in ((94, False), (95, True), (100, False)):
        async with user.tenant.db.transaction() as tx:
            await tx.run(
                "UPDATE ticket_category SET quantity_sold = $2, quantity_total = 100 WHERE id = $1",
                user.tenant.category_id, sold,
            )  # fmt: skip
        assert ("is nearly full: 5 places left" in await user.see("home")) is shown, sold


async def test_who_may_not_see_webhooks_is_not_told_of_them(user: BrowserSession, studio: Middleware) -> None:
    endpoint, _ = await user.tenant.endpoint("https://example.com/down", MessageType.TICKET_ACTIVATED)
    async with user.tenant.db.transaction() as tx:
        await tx.run("UPDATE webhook_endpoint SET failing_since = now() WHERE id = $1", endpoint)
    async with await sign_in(studio, user.tenant, Role.VIEWER) as viewer:
        page = await viewer.see("home")
    assert NEEDED not in page
    assert "example.com" not in page
