"""The checklist before publishing, cancelling with its consequences, and covers."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from gatepass.base.database import Database
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.domain import audit_log, events, keys, maintenance, organizations
from gatepass.domain.events import CheckFinding, Details, EventStatus
from gatepass.domain.events.image_format import ImageFormat
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.webhooks import MessageType
from tests import factory
from tests.factory import BY, Tenant
from tests.pictures import png


async def findings(tenant: Tenant, event_id: UUID) -> dict[str, CheckFinding]:
    async with tenant.db.autocommit() as tx:
        return {
            check.name: check.finding for check in await events.checklist(tx, tenant.id, event_id, at=factory.now())
        }


async def publish(tenant: Tenant, event_id: UUID) -> None:
    async with tenant.db.transaction() as tx:
        await events.publish(tx, tenant.id, event_id, by="Ada", at=factory.now())


async def add(tenant: Tenant, event_id: UUID, places: int) -> None:
    async with tenant.db.transaction() as tx:
        await events.add_category(tx, tenant.id, event_id, "G", Decimal(1), "EUR", places, by=BY, at=factory.now())


async def test_a_draft_on_its_way_to_being_published(tenant: Tenant) -> None:
    event_id = await tenant.event(status=EventStatus.DRAFT)
    assert await findings(tenant, event_id) == {
        "Title": CheckFinding.OK,
        "Dates": CheckFinding.OK,
        "Place": CheckFinding.OK,
        "Tickets": CheckFinding.MISSING,
        "Signing key": CheckFinding.OK,
        "Key for the gates": CheckFinding.ADVICE,
    }
    with pytest.raises(NotAllowedFromHere, match="Add a ticket category"):
        await publish(tenant, event_id)
    await add(tenant, event_id, 0)
    assert (await findings(tenant, event_id))["Tickets"] is CheckFinding.MISSING
    await add(tenant, event_id, 5)
    assert (await findings(tenant, event_id))["Tickets"] is CheckFinding.ADVICE
    await publish(tenant, event_id)
    async with tenant.db.autocommit() as tx:
        assert (await events.find(tx, tenant.id, event_id)).event.status is EventStatus.PUBLISHED
        assert (await audit_log.of_subject(tx, tenant.id, event_id))[0].actor == "Ada"
    with pytest.raises(NotAllowedFromHere, match="published"):
        await publish(tenant, event_id)


async def test_an_event_that_is_over_cannot_be_published(tenant: Tenant) -> None:
    event_id = await tenant.event(starts_in=timedelta(hours=-5), status=EventStatus.DRAFT)
    await add(tenant, event_id, 5)
    assert (await findings(tenant, event_id))["Dates"] is CheckFinding.MISSING
    with pytest.raises(NotAllowedFromHere, match="over already"):
        await publish(tenant, event_id)
    running = await tenant.event(starts_in=timedelta(hours=-3), status=EventStatus.DRAFT)
    assert (await findings(tenant, running))["Dates"] is CheckFinding.ADVICE


async def test_without_a_signing_key_nothing_is_published(db: Database) -> None:
    async with db.transaction() as tx:
        organization = await organizations.create(tx, "New", at=factory.now())
        start = factory.now() + timedelta(days=1)
        event_id = await events.create(
            tx, organization.id, "First", start, start + timedelta(hours=1), by=BY, at=factory.now()
        )
        await events.add_category(tx, organization.id, event_id, "G", Decimal(1), "EUR", 1, by=BY, at=factory.now())
        checks = await events.checklist(tx, organization.id, event_id, at=factory.now())
        assert {check.name: check.finding for check in checks}["Place"] is CheckFinding.ADVICE
        assert [check.name for check in events.blockers(checks)] == ["Signing key"]
        with pytest.raises(NotAllowedFromHere, match="signing key"):
            await events.publish(tx, organization.id, event_id, by=BY, at=factory.now())


async def test_only_a_key_that_lives_until_the_end_opens_the_gates(tenant: Tenant) -> None:
    async def finding() -> CheckFinding:
        return (await findings(tenant, tenant.event_id))["Key for the gates"]

    await tenant.key(Scope.EVENTS_READ)
    await tenant.key(Scope.TICKETS_ACTIVATE, mode=Mode.SANDBOX)
    await tenant.key(Scope.TICKETS_ACTIVATE, expires_at=factory.now() - timedelta(minutes=1))
    assert await finding() is CheckFinding.ADVICE
    await tenant.key(Scope.TICKETS_ACTIVATE, expires_at=factory.now() + timedelta(hours=2))
    assert await finding() is CheckFinding.ADVICE
    key = await tenant.key(Scope.ADMIN)
    assert await finding() is CheckFinding.OK
    async with tenant.db.transaction() as tx:
        await keys.revoke(tx, tenant.id, key.id, by=BY, at=factory.now())
    assert await finding() is CheckFinding.ADVICE


# ---- cancelling ------------------------------------------------------------------------------------------------


async def test_cancelling_sends_as_many_messages_as_were_said(tenant: Tenant) -> None:
    both = (MessageType.EVENT_CANCELLED, MessageType.TICKET_CANCELLED)
    await tenant.endpoint("https://example.com/1", *both)
    await tenant.endpoint("https://example.com/2", MessageType.TICKET_CANCELLED)
    await tenant.endpoint("https://example.com/3", MessageType.TICKET_ACTIVATED)
    await tenant.endpoint("https://example.com/4", *both, mode=Mode.SANDBOX)
    for _ in range(3):
        await tenant.card()
    async with tenant.db.autocommit() as tx:
        said = await events.consequences(tx, tenant.id, tenant.event_id)
    assert (said.tickets, said.endpoints, said.messages) == (3, 2, 7)
    async with tenant.db.transaction() as tx:
        await events.cancel(tx, tenant.id, tenant.event_id, reason=" Storm ", by="Ada", at=factory.now())
    await maintenance.follow_up(tenant.db, at=factory.now())
    async with tenant.db.autocommit() as tx:
        sent = await tx.value("SELECT count(*) FROM webhook_delivery WHERE organization_id = $1", tenant.id)
        void = "SELECT count(*) FROM ticket WHERE organization_id = $1 AND cancelled_at IS NOT NULL"
        assert (await tx.value(void, tenant.id), sent) == (said.tickets, said.messages)
        assert (await audit_log.of_subject(tx, tenant.id, tenant.event_id))[0].reason == "Storm"


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501, "a\x00b"])
async def test_cancelling_needs_a_reason(tenant: Tenant, reason: str) -> None:
    async with tenant.db.transaction() as tx:
        with pytest.raises(InvalidRequest) as refusal:
            await events.cancel(tx, tenant.id, tenant.event_id, reason=reason, by=BY, at=factory.now())
    assert refusal.value.param == "reason"


# ---- covers ----------------------------------------------------------------------------------------------------


async def set_cover(tenant: Tenant, event_id: UUID, cover_url: str | None) -> None:
    async with tenant.db.transaction() as tx:
        event = (await events.find(tx, tenant.id, event_id)).event
        new = Details(event.title, event.starts_at, event.ends_at)
        await events.edit(tx, tenant.id, event_id, replace(new, cover_url=cover_url), by=BY, at=factory.now())


async def store(tenant: Tenant, content: bytes) -> str:
    async with tenant.db.transaction() as tx:
        return await events.store_cover(tx, tenant.id, content, by=BY, at=factory.now())


async def shown(tenant: Tenant, path: str, kind: ImageFormat = ImageFormat.PNG) -> bytes | None:
    async with tenant.db.autocommit() as tx:
        cover = await events.find_cover(tx, UUID(path[8:44]), kind)
    return cover.content if cover else None


async def test_a_cover_lives_as_long_as_an_event_shows_it(tenant: Tenant) -> None:
    picture = png(200, 100)
    path = await store(tenant, picture)
    await set_cover(tenant, tenant.event_id, path)
    async with tenant.db.transaction() as tx:
        copy_id = await events.duplicate(tx, tenant.id, tenant.event_id, days=1, by=BY, at=factory.now())
    await set_cover(tenant, tenant.event_id, None)
    assert await shown(tenant, path) == picture
    await set_cover(tenant, copy_id, "https://example.com/a.png")
    assert await shown(tenant, path) is None


async def test_a_cover_has_one_address(tenant: Tenant) -> None:
    path = await store(tenant, png(200, 100))
    assert await shown(tenant, path, ImageFormat.JPG) is None
    named = path.removeprefix("/covers/")
    assert events.cover_address(path, "https://tickets.example", "b") == f"https://tickets.example/covers/b.{named}"
    assert (
        events.cover_address("https://elsewhere.example/a.png", "https://x", "b") == "https://elsewhere.example/a.png"
    )
    assert events.cover_address(None, "https://x", "b") is None


async def test_what_is_no_picture_is_not_kept(tenant: Tenant) -> None:
    with pytest.raises(InvalidRequest):
        await store(tenant, b"<html>")


async def test_times_that_let_nobody_in_are_advised(tenant: Tenant) -> None:
    event_id = await tenant.event(status=EventStatus.DRAFT)
    await add(tenant, event_id, 5)
    async with tenant.db.transaction() as tx:
        entry = await events.find(tx, tenant.id, event_id)
        event, (category,) = entry.event, entry.categories
        late = replace(Details.of(event), doors_open_at=event.starts_at + timedelta(minutes=1))
        await events.edit(tx, tenant.id, event_id, late, by=BY, at=factory.now())
    assert (await findings(tenant, event_id))["Doors"] is CheckFinding.ADVICE
    assert (await findings(tenant, event_id))["Tickets"] is CheckFinding.OK
    for window in ({"valid_until": event.starts_at}, {"valid_from": event.ends_at + timedelta(hours=6)}):
        async with tenant.db.transaction() as tx:
            new = replace(events.CategoryDetails.of(category), **window)
            await events.edit_category(tx, tenant.id, event_id, category.id, new, by=BY, at=factory.now())
        assert (await findings(tenant, event_id))["Tickets"] is CheckFinding.ADVICE
