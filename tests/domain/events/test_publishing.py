"""The publish checklist, cancelling with what it means, and covers."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from gatepass.base.database import Database
from gatepass.base.refusals import InvalidRequest, NotAllowedFromHere
from gatepass.domain import changes, events, keys, organizations, upkeep
from gatepass.domain.events import Details, EventStatus, Finding
from gatepass.domain.events.picture import Kind
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.webhooks import MessageType
from tests import make
from tests.make import BY, House
from tests.pictures import png


async def findings(house: House, event_id: UUID) -> dict[str, Finding]:
    async with house.db.reading() as tx:
        return {check.name: check.finding for check in await events.checklist(tx, house.id, event_id, at=make.now())}


async def publish(house: House, event_id: UUID) -> None:
    async with house.db.transaction() as tx:
        await events.publish(tx, house.id, event_id, by="Ada", at=make.now())


async def add(house: House, event_id: UUID, places: int) -> None:
    async with house.db.transaction() as tx:
        await events.add_category(tx, house.id, event_id, "G", Decimal(1), "EUR", places, by=BY, at=make.now())


async def test_a_draft_on_its_way_to_being_published(house: House) -> None:
    event_id = await house.event(status=EventStatus.DRAFT)
    assert await findings(house, event_id) == {
        "Title": Finding.OK,
        "Dates": Finding.OK,
        "Place": Finding.OK,
        "Tickets": Finding.MISSING,
        "Signing key": Finding.OK,
        "Key for the gates": Finding.ADVICE,
    }
    with pytest.raises(NotAllowedFromHere, match="Add a ticket category"):
        await publish(house, event_id)
    await add(house, event_id, 0)
    assert (await findings(house, event_id))["Tickets"] is Finding.MISSING
    await add(house, event_id, 5)
    assert (await findings(house, event_id))["Tickets"] is Finding.ADVICE
    await publish(house, event_id)
    async with house.db.reading() as tx:
        assert (await events.find(tx, house.id, event_id)).event.status is EventStatus.PUBLISHED
        assert (await changes.of_subject(tx, house.id, event_id))[0].actor == "Ada"
    with pytest.raises(NotAllowedFromHere, match="published"):
        await publish(house, event_id)


async def test_an_event_that_is_over_cannot_be_published(house: House) -> None:
    event_id = await house.event(starts_in=timedelta(hours=-5), status=EventStatus.DRAFT)
    await add(house, event_id, 5)
    assert (await findings(house, event_id))["Dates"] is Finding.MISSING
    with pytest.raises(NotAllowedFromHere, match="over already"):
        await publish(house, event_id)
    running = await house.event(starts_in=timedelta(hours=-3), status=EventStatus.DRAFT)
    assert (await findings(house, running))["Dates"] is Finding.ADVICE


async def test_without_a_signing_key_nothing_is_published(db: Database) -> None:
    async with db.transaction() as tx:
        organization = await organizations.found(tx, "New", at=make.now())
        start = make.now() + timedelta(days=1)
        event_id = await events.create(
            tx, organization.id, "First", start, start + timedelta(hours=1), by=BY, at=make.now()
        )
        await events.add_category(tx, organization.id, event_id, "G", Decimal(1), "EUR", 1, by=BY, at=make.now())
        checks = await events.checklist(tx, organization.id, event_id, at=make.now())
        assert {check.name: check.finding for check in checks}["Place"] is Finding.ADVICE
        assert [check.name for check in events.blockers(checks)] == ["Signing key"]
        with pytest.raises(NotAllowedFromHere, match="signing key"):
            await events.publish(tx, organization.id, event_id, by=BY, at=make.now())


async def test_only_a_key_that_lives_until_the_end_opens_the_gates(house: House) -> None:
    async def finding() -> Finding:
        return (await findings(house, house.event_id))["Key for the gates"]

    await house.key(Scope.EVENTS_READ)
    await house.key(Scope.TICKETS_ACTIVATE, mode=Mode.SANDBOX)
    await house.key(Scope.TICKETS_ACTIVATE, expires_at=make.now() - timedelta(minutes=1))
    assert await finding() is Finding.ADVICE
    await house.key(Scope.TICKETS_ACTIVATE, expires_at=make.now() + timedelta(hours=2))
    assert await finding() is Finding.ADVICE
    key = await house.key(Scope.ADMIN)
    assert await finding() is Finding.OK
    async with house.db.transaction() as tx:
        await keys.revoke(tx, house.id, key.id, by=BY, at=make.now())
    assert await finding() is Finding.ADVICE


# ---- calling off -----------------------------------------------------------------------------------------------


async def test_cancelling_sends_as_many_messages_as_were_said(house: House) -> None:
    both = (MessageType.EVENT_CANCELLED, MessageType.TICKET_CANCELLED)
    await house.endpoint("https://example.com/1", *both)
    await house.endpoint("https://example.com/2", MessageType.TICKET_CANCELLED)
    await house.endpoint("https://example.com/3", MessageType.TICKET_ACTIVATED)
    await house.endpoint("https://example.com/4", *both, mode=Mode.SANDBOX)
    for _ in range(3):
        await house.card()
    async with house.db.reading() as tx:
        said = await events.consequences(tx, house.id, house.event_id)
    assert (said.tickets, said.endpoints, said.messages) == (3, 2, 7)
    async with house.db.transaction() as tx:
        await events.cancel(tx, house.id, house.event_id, reason=" Storm ", by="Ada", at=make.now())
    await upkeep.follow_up(house.db, at=make.now())
    async with house.db.reading() as tx:
        sent = await tx.value("SELECT count(*) FROM webhook_delivery WHERE organization_id = $1", house.id)
        void = "SELECT count(*) FROM ticket WHERE organization_id = $1 AND cancelled_at IS NOT NULL"
        assert (await tx.value(void, house.id), sent) == (said.tickets, said.messages)
        assert (await changes.of_subject(tx, house.id, house.event_id))[0].reason == "Storm"


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501, "a\x00b"])
async def test_cancelling_needs_a_reason(house: House, reason: str) -> None:
    async with house.db.transaction() as tx:
        with pytest.raises(InvalidRequest) as refusal:
            await events.cancel(tx, house.id, house.event_id, reason=reason, by=BY, at=make.now())
    assert refusal.value.param == "reason"


# ---- covers ----------------------------------------------------------------------------------------------------


async def set_cover(house: House, event_id: UUID, cover_url: str | None) -> None:
    async with house.db.transaction() as tx:
        event = (await events.find(tx, house.id, event_id)).event
        new = Details(event.title, event.starts_at, event.ends_at)
        await events.edit(tx, house.id, event_id, replace(new, cover_url=cover_url), by=BY, at=make.now())


async def keep(house: House, content: bytes) -> str:
    async with house.db.transaction() as tx:
        return await events.keep(tx, house.id, content, by=BY, at=make.now())


async def shown(house: House, path: str, kind: Kind = Kind.PNG) -> bytes | None:
    async with house.db.reading() as tx:
        cover = await events.find_cover(tx, UUID(path[8:44]), kind)
    return cover.content if cover else None


async def test_a_cover_lives_as_long_as_an_event_shows_it(house: House) -> None:
    picture = png(200, 100)
    path = await keep(house, picture)
    await set_cover(house, house.event_id, path)
    async with house.db.transaction() as tx:
        copy_id = await events.duplicate(tx, house.id, house.event_id, days=1, by=BY, at=make.now())
    await set_cover(house, house.event_id, None)
    assert await shown(house, path) == picture
    await set_cover(house, copy_id, "https://example.com/a.png")
    assert await shown(house, path) is None


async def test_a_cover_has_one_address(house: House) -> None:
    path = await keep(house, png(200, 100))
    assert await shown(house, path, Kind.JPG) is None
    assert events.cover_address(path, "https://tickets.example") == "https://tickets.example" + path
    assert events.cover_address("https://elsewhere.example/a.png", "https://x") == "https://elsewhere.example/a.png"
    assert events.cover_address(None, "https://x") is None


async def test_what_is_no_picture_is_not_kept(house: House) -> None:
    with pytest.raises(InvalidRequest):
        await keep(house, b"<html>")
