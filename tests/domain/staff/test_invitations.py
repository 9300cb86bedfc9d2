"""Invitations: by link, once, for a week, for one person, and nobody gives what they do not have."""

import asyncio
from datetime import datetime

import pytest

from gatepass.base.database import Database
from gatepass.base.paging import END, Place
from gatepass.base.refusals import InvalidRequest
from gatepass.domain import changes, staff
from gatepass.domain.staff import NotPermitted, Person, Role, invitations
from gatepass.domain.staff.invitations import (
    AlreadyMember,
    ForSomebodyElse,
    InvitationNotFound,
    Invited,
    Offer,
    TooManyInvitations,
)
from tests import make
from tests.domain.staff.conftest import NOON, hire, later

BOB = "bob@example.org"


async def invite(house: make.House, email: str = BOB, role: Role = Role.VIEWER, giver: Role = Role.OWNER) -> Invited:
    async with house.db.transaction() as tx:
        return await invitations.invite(tx, house.id, email, role, giver=giver, by=make.BY, at=NOON)


async def offer(db: Database, token: str, at: datetime = NOON) -> Offer:
    async with db.reading() as tx:
        return await invitations.find_offer(tx, token, at=at)


async def sign_up(db: Database, token: str, at: datetime = NOON) -> Person:
    async with db.transaction() as tx:
        found = await invitations.find_offer(tx, token, at=at)
        person = await staff.enrol(tx, found.email, "Bob", at=at)
        await invitations.accept(tx, found, person.id, person.email, at=at)
    return person


def bob() -> str:
    from gatepass.base.ids import new_id

    return f"bob.{new_id().hex}@example.org"


async def test_it_brings_somebody_in_with_its_role(house: make.House) -> None:
    email = bob()
    made = await invite(house, email, Role.GATE_LEAD)
    found = await offer(house.db, made.token)
    assert (found.email, found.role, found.organization_name) == (email, Role.GATE_LEAD, house.organization.name)
    person = await sign_up(house.db, made.token)
    async with house.db.reading() as tx:
        (place,) = await staff.workplaces(tx, person.id)
        noted = await changes.of_subject(tx, house.id, made.invitation_id)
    assert (place.organization_id, place.role) == (house.id, Role.GATE_LEAD)
    assert {change.action for change in noted} == {"made", "accepted"}
    assert made.token not in repr(made)


async def test_it_works_once(house: make.House) -> None:
    made = await invite(house, bob())
    await sign_up(house.db, made.token)
    with pytest.raises(InvitationNotFound):
        await offer(house.db, made.token)


async def test_of_two_at_once_one_gets_it(house: make.House) -> None:
    email = bob()
    made = await invite(house, email)
    found = await offer(house.db, made.token)
    async with house.db.transaction() as tx:
        person = await staff.enrol(tx, email, "Bob", at=NOON)

    async def accept() -> bool:
        try:
            async with house.db.transaction() as tx:
                await invitations.accept(tx, found, person.id, email, at=NOON)
        except InvitationNotFound:
            return False
        return True

    assert sorted(await asyncio.gather(*[accept() for _ in range(5)])) == [False] * 4 + [True]


async def test_it_ends_after_a_week(house: make.House) -> None:
    made = await invite(house)
    await offer(house.db, made.token, later(days=6, hours=23))
    with pytest.raises(InvitationNotFound):
        await offer(house.db, made.token, later(days=7))
    async with house.db.transaction() as tx:
        found = await invitations.find_offer(tx, made.token, at=NOON)
        with pytest.raises(InvitationNotFound):
            await invitations.accept(tx, found, house.id, BOB, at=later(days=7))


async def test_a_revoked_one_is_gone(house: make.House) -> None:
    made = await invite(house)
    async with house.db.transaction() as tx:
        await invitations.revoke_invitation(tx, house.id, made.invitation_id, giver=Role.ADMIN, by=make.BY, at=NOON)
    with pytest.raises(InvitationNotFound):
        await offer(house.db, made.token)
    with pytest.raises(InvitationNotFound):
        async with house.db.transaction() as tx:
            await invitations.revoke_invitation(tx, house.id, made.invitation_id, giver=Role.ADMIN, by=make.BY, at=NOON)


async def test_another_organization_cannot_revoke_it(house: make.House, db: Database) -> None:
    made, other = await invite(house), await make.house(db)
    with pytest.raises(InvitationNotFound):
        async with db.transaction() as tx:
            await invitations.revoke_invitation(tx, other.id, made.invitation_id, giver=Role.OWNER, by=make.BY, at=NOON)
    await offer(db, made.token)


async def test_nobody_gives_or_takes_a_role_above_their_own(house: make.House) -> None:
    with pytest.raises(NotPermitted):
        await invite(house, role=Role.OWNER, giver=Role.ADMIN)
    made = await invite(house, role=Role.OWNER)
    with pytest.raises(NotPermitted):
        async with house.db.transaction() as tx:
            await invitations.revoke_invitation(tx, house.id, made.invitation_id, giver=Role.ADMIN, by=make.BY, at=NOON)
    await offer(house.db, made.token)


async def test_it_is_for_one_person(house: make.House, ada: Person) -> None:
    made = await invite(house, bob())
    found = await offer(house.db, made.token)
    with pytest.raises(ForSomebodyElse):
        async with house.db.transaction() as tx:
            await invitations.accept(tx, found, ada.id, ada.email, at=NOON)
    await offer(house.db, made.token)


async def test_inviting_again_replaces_the_link(house: make.House) -> None:
    first, second = await invite(house, BOB), await invite(house, BOB.upper(), Role.ADMIN)
    with pytest.raises(InvitationNotFound):
        await offer(house.db, first.token)
    assert (await offer(house.db, second.token)).role is Role.ADMIN


async def test_who_is_here_already_is_not_invited(house: make.House, ada: Person) -> None:
    with pytest.raises(AlreadyMember):
        await invite(house, ada.email.upper())


@pytest.mark.parametrize("email", ["", "bob", "a@b@c", "bob @example.org", "b\0b@example.org", "\ud800@example.org"])
async def test_an_address_is_an_address(house: make.House, email: str) -> None:
    with pytest.raises(InvalidRequest):
        await invite(house, email)


async def test_there_is_an_end_to_it(house: make.House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invitations, "MOST_OPEN", 2)
    await invite(house, "a@example.org")
    await invite(house, "b@example.org")
    await invite(house, "b@example.org")
    with pytest.raises(TooManyInvitations):
        await invite(house, "c@example.org")


async def test_the_open_ones_page_by_page(house: make.House) -> None:
    for minute, name in enumerate("abc"):
        async with house.db.transaction() as tx:
            await invitations.invite(
                tx, house.id, f"{name}@example.org", Role.VIEWER, giver=Role.OWNER, by=make.BY, at=later(minutes=minute)
            )
    async with house.db.reading() as tx:
        first = await invitations.open_invitations(tx, house.id, before=END, limit=2, at=NOON)
        end = Place(first[-1].invited_at, first[-1].id)
        second = await invitations.open_invitations(tx, house.id, before=end, limit=2, at=NOON)
        none = await invitations.open_invitations(tx, house.id, before=END, limit=2, at=later(days=8))
    assert [one.email[0] for one in first + second] == ["c", "b", "a"]
    assert none == []


async def test_a_person_of_another_organization_joins_a_second_one(house: make.House, db: Database) -> None:
    elsewhere = await make.house(db)
    eve = await hire(db, elsewhere.id, Role.OWNER, "Eve")
    made = await invite(house, eve.email)
    async with db.transaction() as tx:
        found = await invitations.find_offer(tx, made.token, at=NOON)
        await invitations.accept(tx, found, eve.id, eve.email, at=NOON)
        assert {place.organization_id for place in await staff.workplaces(tx, eve.id)} == {house.id, elsewhere.id}
