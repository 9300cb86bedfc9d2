"""Telling the holders of an event: everybody with a ticket and an address once, in their language, by choice alone."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from gatepass.base.ids import new_id
from gatepass.base.language import Language
from gatepass.domain import announcements, events, maintenance
from gatepass.domain.announcements import (
    AnnouncementState,
    AnnouncementUnderWay,
    NothingToAnnounce,
    TooManyAnnouncements,
    writing,
)
from gatepass.domain.events import Event
from gatepass.domain.mail import LetterKind, Mailer, rendered
from gatepass.domain.mailings import CardLetters
from tests import factory
from tests.studio.letters import letters_to

MAILER = Mailer(factory.VAULT, enabled=True)
CARD_LETTERS = CardLetters(MAILER, factory.VAULT, "a", "https://gatepass.test")
HOLD = """
    INSERT INTO card_holder (organization_id, card_id, name, email, locale) VALUES ($1, $2, $3, $4, $5)
"""


async def guest(tenant: factory.Tenant, email: str | None, locale: str | None = None) -> UUID:
    """A card with a ticket, whose holder has this address."""
    card = await tenant.card()
    async with tenant.db.autocommit() as tx:
        await tx.run(HOLD, tenant.id, card.id, "Zoë", email, locale)
    return card.id


def new_address() -> str:
    return f"{new_id()}@example.org"


async def event_of(tenant: factory.Tenant) -> Event:
    async with tenant.db.autocommit() as tx:
        return (await events.find(tx, tenant.id, tenant.event_id)).event


async def begin(tenant: factory.Tenant, mailer: Mailer = MAILER) -> announcements.Announcement:
    event = await event_of(tenant)
    async with tenant.db.transaction() as tx:
        return await announcements.begin(tx, mailer, tenant.id, event, by=factory.BY, at=factory.now())


async def write_all(tenant: factory.Tenant) -> None:
    while True:
        async with tenant.db.transaction() as tx:
            if not await announcements.write_some(tx, CARD_LETTERS, at=factory.now()):
                return


class Killed(Exception):  # noqa: N818  it stands for a kill
    pass


async def write_some_and_die(tenant: factory.Tenant) -> None:
    async with tenant.db.transaction() as tx:
        await announcements.write_some(tx, CARD_LETTERS, at=factory.now())
        raise Killed


async def state(tenant: factory.Tenant) -> list[tuple[AnnouncementState, int, int]]:
    async with tenant.db.autocommit() as tx:
        found = await announcements.recent(tx, tenant.id, tenant.event_id, at=factory.now())
    return [(one.state, one.written, one.holders) for one in found]


async def test_everybody_with_an_address_is_told_once_in_their_language(
    tenant: factory.Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "BATCH", 2)
    family, dutch, french, german = (new_address() for _ in range(4))
    for email in (family, family.upper(), family):
        await guest(tenant, email)
    for email, locale in ((dutch, "nl-BE"), (french, "fr"), (german, "de-AT")):
        await guest(tenant, email, locale)
    await guest(tenant, None)
    await guest(tenant, "not an address")
    await tenant.card()
    begun = await begin(tenant)
    assert (begun.kind, begun.holders) == (LetterKind.EVENT_CHANGED, 5), "those with an address, counted"
    await write_all(tenant)
    assert await state(tenant) == [(AnnouncementState.WRITTEN, 4, 5)]
    for email in (family, dutch, french, german):
        (letter,) = await letters_to(tenant.db, email)
        assert letter.kind == "event_changed"
        assert letter.values["event"] == (await event_of(tenant)).title
        assert letter.values["link"].startswith("https://gatepass.test/c/a.")
    month = {email: (await letters_to(tenant.db, email))[0].values["when"] for email in (dutch, french, german)}
    assert len(set(month.values())) == 3, "the day of the week in three languages"


async def test_holders_of_a_cancelled_event_are_told_though_their_tickets_are_cancelled(
    tenant: factory.Tenant,
) -> None:
    before, after, long_gone = new_address(), new_address(), new_address()
    for email in (before, after):
        await guest(tenant, email)
    gone = await guest(tenant, long_gone)
    at = factory.now()
    async with tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE ticket SET cancelled_at = $3, cancel_reason = 'refunded' WHERE organization_id = $1"
            " AND card_id = $2",
            tenant.id,
            gone,
            at,
        )
        await events.cancel(tx, tenant.id, tenant.event_id, reason="Storm", by=factory.BY, at=at)
    await maintenance.follow_up(tenant.db, at=at)
    begun = await begin(tenant)
    assert (begun.kind, begun.holders) == (LetterKind.EVENT_CANCELLED, 2)
    await write_all(tenant)
    for email in (before, after):
        (letter,) = await letters_to(tenant.db, email)
        assert (letter.kind, letter.values["reason"]) == ("event_cancelled", "Storm")
    assert await letters_to(tenant.db, long_gone) == []


async def test_a_revoked_card_has_no_link_and_its_holder_is_told_all_the_same(tenant: factory.Tenant) -> None:
    email = new_address()
    card_id = await guest(tenant, email)
    async with tenant.db.autocommit() as tx:
        await tx.run("UPDATE card SET status = 'revoked' WHERE organization_id = $1 AND id = $2", tenant.id, card_id)
    await begin(tenant)
    await write_all(tenant)
    (letter,) = await letters_to(tenant.db, email)
    assert letter.values["link"] == ""
    shown = rendered(LetterKind.EVENT_CHANGED, Language.ENGLISH, letter.values)
    assert "Open my card" not in shown.text + shown.html


async def test_two_workers_write_nobody_twice(tenant: factory.Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "BATCH", 3)
    addresses = [new_address() for _ in range(20)]
    for email in addresses:
        await guest(tenant, email)
    await begin(tenant)
    await asyncio.gather(*(write_all(tenant) for _ in range(4)))
    await write_all(tenant)
    assert [len(await letters_to(tenant.db, email)) for email in addresses] == [1] * 20


async def test_a_worker_that_dies_leaves_nobody_out(tenant: factory.Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch that is rolled back is written by the next worker, from the same place."""
    monkeypatch.setattr(writing, "BATCH", 3)
    addresses = [new_address() for _ in range(8)]
    for email in addresses:
        await guest(tenant, email)
    await begin(tenant)
    for _ in range(3):
        with pytest.raises(Killed):
            await write_some_and_die(tenant)
        async with tenant.db.transaction() as tx:
            await announcements.write_some(tx, CARD_LETTERS, at=factory.now())
    await write_all(tenant)
    assert [len(await letters_to(tenant.db, email)) for email in addresses] == [1] * 8


async def test_it_can_be_stopped(tenant: factory.Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "BATCH", 2)
    for _ in range(6):
        await guest(tenant, new_address())
    begun = await begin(tenant)
    async with tenant.db.transaction() as tx:
        await announcements.write_some(tx, CARD_LETTERS, at=factory.now())
    async with tenant.db.transaction() as tx:
        assert await announcements.stop(tx, tenant.id, begun.id, by=factory.BY, at=factory.now())
        assert not await announcements.stop(tx, tenant.id, begun.id, by=factory.BY, at=factory.now())
    await write_all(tenant)
    assert await state(tenant) == [(AnnouncementState.STOPPED, 2, 6)]


async def test_one_at_a_time_and_three_a_day(tenant: factory.Tenant) -> None:
    await guest(tenant, new_address())
    for _ in range(3):
        await begin(tenant)
        with pytest.raises(AnnouncementUnderWay):
            await begin(tenant)
        await write_all(tenant)
    with pytest.raises(TooManyAnnouncements):
        await begin(tenant)


async def test_of_two_at_once_one_begins(tenant: factory.Tenant) -> None:
    await guest(tenant, new_address())
    results = await asyncio.gather(*(begin(tenant) for _ in range(5)), return_exceptions=True)
    assert sum(isinstance(one, announcements.Announcement) for one in results) == 1


async def test_there_is_nobody_to_tell(tenant: factory.Tenant) -> None:
    with pytest.raises(NothingToAnnounce):
        await begin(tenant)
    await guest(tenant, new_address())
    with pytest.raises(NothingToAnnounce):
        await begin(tenant, Mailer(factory.VAULT, enabled=False))
    twin = await factory.sandbox_twin(tenant)
    await guest(twin, new_address())
    with pytest.raises(NothingToAnnounce):
        await begin(twin)
    event = await event_of(tenant)
    assert announcements.kind_for(event, at=event.ends_at + timedelta(seconds=1)) is None, "it is over"
