"""The page of an event: publishing, cancelling, ending, and the refusals on the way."""

import re
from datetime import timedelta

import pytest

from gatepass.domain import audit_log, events
from gatepass.domain.events import EventStatus
from gatepass.domain.sandbox import EVENT_ID
from gatepass.domain.staff import Role
from gatepass.domain.webhooks import MessageType
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.studio.browser_session import BrowserSession, sign_in
from tests.studio.events.drafts import NIGHT, found, id_in
from tests.studio.samples.events import OFFER


async def test_from_a_draft_to_a_published_event(user: BrowserSession) -> None:
    answer = await user.send("events/new", **NIGHT)
    assert "There are no" not in (page := await user.follow(answer))
    assert "Now say what tickets there are" in page
    event_id = id_in(answer.headers["location"])
    page = await user.see(f"events/{event_id}")
    assert "1 thing is missing" in page
    assert "Sun 1 Jun 2031, 20:00" in page
    assert "Europe/Brussels, UTC+02:00" in page
    assert "1 Jun 2031, 18:00 UTC" in page
    refused = await user.send(f"events/{event_id}/publish", status=409)
    assert "Add a ticket category" in refused.text
    assert "disabled" in await user.see(f"events/{event_id}/publish")
    page = await user.follow(await user.send(f"events/{event_id}/categories", **(OFFER | {"name": "Balcony"})))
    assert "12.50 EUR" in page
    page = await user.follow(await user.send(f"events/{event_id}/publish"))
    assert "The event is published." in page
    listing = await found(user, event_id)
    assert listing.event.status is EventStatus.PUBLISHED
    assert (listing.event.description, listing.event.country) == ("Bring\nsoup.", "BE")
    async with user.tenant.db.autocommit() as tx:
        noted = await audit_log.of_subject(tx, user.tenant.id, event_id)
    assert {one.actor for one in noted} == {f"person {user.person.id}"}


async def test_a_draft_that_nobody_saw_can_be_deleted(user: BrowserSession) -> None:
    event_id = id_in((await user.send("events/new", **NIGHT)).headers["location"])
    assert "Delete" in await user.see(f"events/{event_id}")
    page = await user.follow(await user.send(f"events/{event_id}/delete"))
    assert f"The draft of {NIGHT['title']} is deleted." in page
    await user.send(f"events/{event_id}/delete", status=404)
    published = f"events/{user.tenant.event_id}"
    assert "/delete" not in await user.see(published)
    await user.send(f"{published}/delete", status=409)


async def test_cancelling_says_what_it_means_and_needs_a_reason(user: BrowserSession) -> None:
    tenant = user.tenant
    await tenant.endpoint("https://example.com/1", MessageType.EVENT_CANCELLED, MessageType.TICKET_CANCELLED)
    for _ in range(4):
        await tenant.card()
    page = await user.see(f"events/{tenant.event_id}/cancel")
    assert re.findall(r'<dd class="figure">(.*?)</dd>', page) == ["4", "5"]
    answer = await user.send(f"events/{tenant.event_id}/cancel", status=422, reason=" ")
    assert "Say why" in answer.text
    page = await user.follow(await user.send(f"events/{tenant.event_id}/cancel", reason="A storm is coming."))
    assert "A storm is coming." in page
    assert (await found(user, tenant.event_id)).event.status is EventStatus.CANCELLED
    for what in ("edit", "categories", "cover", "cancel"):
        answer = await user.client.get(user.url(f"events/{tenant.event_id}/{what}"))
        assert answer.headers["location"].endswith(str(tenant.event_id))
    await user.send(f"events/{tenant.event_id}/edit", status=409, **NIGHT)
    await user.send(f"events/{tenant.event_id}/end", status=409)


async def test_an_event_that_is_on_can_be_ended(user: BrowserSession) -> None:
    running = await user.tenant.event(starts_in=timedelta(hours=-1))
    assert "It is on now" in await user.see(f"events/{running}")
    assert "This event is over" in await user.follow(await user.send(f"events/{running}/end"))


async def test_an_event_that_ended_by_itself_can_be_opened_again(user: BrowserSession) -> None:
    """With its entry in the audit log and a message; it does not end again at once."""
    tenant = user.tenant
    await tenant.endpoint("https://example.com/1", MessageType.EVENT_UPDATED)
    running = await tenant.event(starts_in=timedelta(hours=-1))
    ends_at = (await found(user, running)).event.ends_at
    async with tenant.db.transaction() as tx:
        assert await events.end_past_events(tx, at=ends_at + timedelta(hours=6))
    assert "Open it again" in await user.see(f"events/{running}")
    assert "It is on now" in await user.follow(await user.send(f"events/{running}/reopen"))
    async with tenant.db.transaction() as tx:
        (entry, *_) = [one for one in await audit_log.of_subject(tx, tenant.id, running) if one.action == "reopened"]
        assert (entry.was, entry.becomes) == ("ended", "published")
        assert await tx.value(TOLD, tenant.id, str(running)) == "published"
        await tx.run(
            "UPDATE event SET ends_at = now() - interval '1 hour', starts_at = now() - interval '9 hours'"
            " WHERE organization_id = $1 AND id = $2",
            tenant.id,
            running,
        )
        await events.end_past_events(tx, at=factory.now() + timedelta(hours=5, minutes=55))
    assert (await found(user, running)).event.status is EventStatus.PUBLISHED
    async with tenant.db.transaction() as tx:
        await events.end_past_events(tx, at=factory.now() + timedelta(hours=6, minutes=5))
    assert (await found(user, running)).event.status is EventStatus.ENDED


async def test_an_event_that_a_person_has_ended_stays_ended(user: BrowserSession) -> None:
    running = await user.tenant.event(starts_in=timedelta(hours=-1))
    assert "Open it again" not in await user.follow(await user.send(f"events/{running}/end"))
    await user.send(f"events/{running}/reopen", status=409)


TOLD = """
    SELECT convert_from(body, 'UTF8')::json->'data'->>'status'
      FROM webhook_event
     WHERE organization_id = $1
       AND type = 'event.updated'
       AND convert_from(body, 'UTF8')::json->'data'->>'event_id' = $2
     ORDER BY txid DESC, at DESC
     LIMIT 1
"""


@pytest.mark.parametrize("role", [Role.GATE_LEAD, Role.VIEWER])
async def test_gate_leads_and_viewers_see_and_change_nothing(
    studio: Middleware, tenant: factory.Tenant, role: Role
) -> None:
    async with await sign_in(studio, tenant, role) as user:
        page = await user.see(f"events/{tenant.event_id}")
        assert "/edit" not in page
        assert "/cancel" not in page
        assert "Newest changes" not in page
        await user.send(f"events/{tenant.event_id}/edit", status=403, **NIGHT)
        await user.send(f"events/{tenant.event_id}/cancel", status=403, reason="x")
        await user.send("events/new", status=403, **NIGHT)
        await user.see(f"events/{tenant.event_id}/edit", status=403)


async def test_nobody_changes_the_fictional_event(studio: Middleware, tenant: factory.Tenant) -> None:
    async with await sign_in(studio, tenant, mode="sandbox") as user:
        assert "Sandbox Night" in await user.see("events")
        page = await user.see(f"events/{EVENT_ID}")
        assert "TEST_REVOKED" in page
        assert "/edit" not in page
        await user.send(f"events/{EVENT_ID}/edit", status=409, **NIGHT)
        await user.send(f"events/{EVENT_ID}/end", status=409)
        await user.see(f"events/{tenant.event_id}", status=404)


async def test_the_sandbox_has_events_of_its_own(studio: Middleware, tenant: factory.Tenant) -> None:
    async with await sign_in(studio, tenant, mode="sandbox") as user:
        made = await user.send("events/new", **NIGHT)
        event_id = made.headers["location"].split("/")[4]
        assert NIGHT["title"] in await user.see("events")
        there = await factory.sandbox_twin(tenant)
        card = await there.card()
        assert card.number in await user.see("cards")
        assert card.number in await user.see(f"cards/{card.id}")
        assert card.number in await user.see(f"events/{there.event_id}/tickets")
        assert "No scan yet" in await user.see(f"events/{there.event_id}/live")
        page = (await user.send(f"cards/{card.id}/print", status=200, days="1")).text
        assert "data:image/svg+xml" in page
        await user.send(f"events/{there.event_id}/cancel", reason="rain")
        user.mode = "live"
        for rest in (f"events/{event_id}", f"events/{there.event_id}", f"cards/{card.id}"):
            await user.see(rest, status=404)
        assert NIGHT["title"] not in await user.see("events")


async def test_the_tabs_of_an_event_are_on_each_of_its_pages(user: BrowserSession, studio: Middleware) -> None:
    here = f"events/{user.tenant.event_id}"
    for rest in ("", "/tickets", "/imports", "/cards", "/incidents", "/live"):
        tabs = (await user.see(here + rest)).partition('aria-label="This event"')[2].partition("</nav>")[0]
        assert re.findall(r">(\w+)</a>", tabs) == ["Overview", "Tickets", "Imports", "Cards", "Incidents", "Live"], rest
        assert re.findall(r'href="([^"]+)" aria-current="page"', tabs) == [user.url(here + rest)]
    mail = await user.see(f"{here}/mail")
    assert f'href="{user.url(here)}/cards" aria-current="page"' in mail, "sending is of the same tab as printing"
    async with await sign_in(studio, user.tenant, Role.GATE_LEAD) as lead:
        assert f"{here}/imports" not in await lead.see(f"{here}/live")
