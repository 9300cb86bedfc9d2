"""Invitations: a link works once, for a week, for one person; nobody gives a role above their own."""

import asyncio
from datetime import datetime

import pytest

from gatepass.base.database import Database
from gatepass.base.errors import InvalidRequest
from gatepass.base.paging import END, Place
from gatepass.domain import audit_log, staff
from gatepass.domain.staff import NotPermitted, Person, Role, invitations
from gatepass.domain.staff.invitations import (
    AlreadyMember,
    ForSomebodyElse,
    InvitationNotFound,
    NewInvitation,
    ReceivedInvitation,
    TooManyInvitations,
)
from tests import factory
from tests.domain.staff.conftest import NOON, hire, later

BOB = "bob@example.org"


async def invite(
    tenant: factory.Tenant, email: str = BOB, role: Role = Role.VIEWER, giver: Role = Role.OWNER
) -> NewInvitation:
    async with tenant.db.transaction() as tx:
        return await invitations.invite(tx, tenant.id, email, role, giver=giver, cell="a", by=factory.BY, at=NOON)


async def offer(db: Database, token: str, at: datetime = NOON) -> ReceivedInvitation:
    async with db.autocommit() as tx:
        return await invitations.find_invitation(tx, token, at=at)


async def sign_up(db: Database, token: str, at: datetime = NOON) -> Person:
    async with db.transaction() as tx:
        found = await invitations.find_invitation(tx, token, at=at)
        person = await staff.enrol(tx, found.email, "Bob", at=at)
        await invitations.accept(tx, found, person.id, person.email, at=at)
    return person


def bob() -> str:
    from gatepass.base.ids import new_id

    return f"bob.{new_id().hex}@example.org"


async def test_it_brings_somebody_in_with_its_role(tenant: factory.Tenant) -> None:
    email = bob()
    made = await invite(tenant, email, Role.GATE_LEAD)
    found = await offer(tenant.db, made.token)
    assert (found.email, found.role, found.organization_name) == (email, Role.GATE_LEAD, tenant.organization.name)
    person = await sign_up(tenant.db, made.token)
    async with tenant.db.autocommit() as tx:
        (place,) = await staff.memberships(tx, person.id)
        noted = await audit_log.of_subject(tx, tenant.id, made.invitation_id)
    assert (place.organization_id, place.role) == (tenant.id, Role.GATE_LEAD)
    assert {change.action for change in noted} == {"made", "accepted"}
    assert made.token not in repr(made)


async def test_it_works_once(tenant: factory.Tenant) -> None:
    made = await invite(tenant, bob())
    await sign_up(tenant.db, made.token)
    with pytest.raises(InvitationNotFound):
        await offer(tenant.db, made.token)


async def test_of_two_at_once_one_gets_it(tenant: factory.Tenant) -> None:
    email = bob()
    made = await invite(tenant, email)
    found = await offer(tenant.db, made.token)
    async with tenant.db.transaction() as tx:
        person = await staff.enrol(tx, email, "Bob", at=NOON)

    async def accept() -> bool:
        try:
            async with tenant.db.transaction() as tx:
                await invitations.accept(tx, found, person.id, email, at=NOON)
        except InvitationNotFound:
            return False
        return True

    assert sorted(await asyncio.gather(*[accept() for _ in range(5)])) == [False] * 4 + [True]


async def test_it_ends_after_a_week(tenant: factory.Tenant) -> None:
    made = await invite(tenant)
    await offer(tenant.db, made.token, later(days=6, hours=23))
    with pytest.raises(InvitationNotFound):
        await offer(tenant.db, made.token, later(days=7))
    async with tenant.db.transaction() as tx:
        found = await invitations.find_invitation(tx, made.token, at=NOON)
        with pytest.raises(InvitationNotFound):
            await invitations.accept(tx, found, tenant.id, BOB, at=later(days=7))


async def test_a_revoked_one_is_gone(tenant: factory.Tenant) -> None:
    made = await invite(tenant)
    async with tenant.db.transaction() as tx:
        await invitations.revoke_invitation(tx, tenant.id, made.invitation_id, giver=Role.ADMIN, by=factory.BY, at=NOON)
    with pytest.raises(InvitationNotFound):
        await offer(tenant.db, made.token)
    with pytest.raises(InvitationNotFound):
        async with tenant.db.transaction() as tx:
            await invitations.revoke_invitation(
                tx, tenant.id, made.invitation_id, giver=Role.ADMIN, by=factory.BY, at=NOON
            )


async def test_another_organization_cannot_revoke_it(tenant: factory.Tenant, db: Database) -> None:
    made, other = await invite(tenant), await factory.tenant(db)
    with pytest.raises(InvitationNotFound):
        async with db.transaction() as tx:
            await invitations.revoke_invitation(
                tx, other.id, made.invitation_id, giver=Role.OWNER, by=factory.BY, at=NOON
            )
    await offer(db, made.token)


async def test_nobody_gives_or_takes_a_role_above_their_own(tenant: factory.Tenant) -> None:
    with pytest.raises(NotPermitted):
        await invite(tenant, role=Role.OWNER, giver=Role.ADMIN)
    made = await invite(tenant, role=Role.OWNER)
    with pytest.raises(NotPermitted):
        async with tenant.db.transaction() as tx:
            await invitations.revoke_invitation(
                tx, tenant.id, made.invitation_id, giver=Role.ADMIN, by=factory.BY, at=NOON
            )
    await offer(tenant.db, made.token)


async def test_it_is_for_one_person(tenant: factory.Tenant, ada: Person) -> None:
    made = await invite(tenant, bob())
    found = await offer(tenant.db, made.token)
    with pytest.raises(ForSomebodyElse):
        async with tenant.db.transaction() as tx:
            await invitations.accept(tx, found, ada.id, ada.email, at=NOON)
    await offer(tenant.db, made.token)


async def test_inviting_again_replaces_the_link(tenant: factory.Tenant) -> None:
    first, second = await invite(tenant, BOB), await invite(tenant, BOB.upper(), Role.ADMIN)
    with pytest.raises(InvitationNotFound):
        await offer(tenant.db, first.token)
    assert (await offer(tenant.db, second.token)).role is Role.ADMIN


async def test_who_is_here_already_is_not_invited(tenant: factory.Tenant, ada: Person) -> None:
    with pytest.raises(AlreadyMember):
        await invite(tenant, ada.email.upper())


@pytest.mark.parametrize("email", ["", "bob", "a@b@c", "bob @example.org", "b\0b@example.org", "\ud800@example.org"])
async def test_an_address_is_an_address(tenant: factory.Tenant, email: str) -> None:
    with pytest.raises(InvalidRequest):
        await invite(tenant, email)


async def test_there_is_an_end_to_it(tenant: factory.Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invitations, "MOST_OPEN", 2)
    await invite(tenant, "a@example.org")
    await invite(tenant, "b@example.org")
    await invite(tenant, "b@example.org")
    with pytest.raises(TooManyInvitations):
        await invite(tenant, "c@example.org")


async def test_the_open_ones_page_by_page(tenant: factory.Tenant) -> None:
    for minute, name in enumerate("abc"):
        async with tenant.db.transaction() as tx:
            await invitations.invite(
                tx,
                tenant.id,
                f"{name}@example.org",
                Role.VIEWER,
                giver=Role.OWNER,
                cell="a",
                by=factory.BY,
                at=later(minutes=minute),
            )
    async with tenant.db.autocommit() as tx:
        first = await invitations.open_invitations(tx, tenant.id, before=END, limit=2, at=NOON)
        end = Place(first[-1].invited_at, first[-1].id)
        second = await invitations.open_invitations(tx, tenant.id, before=end, limit=2, at=NOON)
        none = await invitations.open_invitations(tx, tenant.id, before=END, limit=2, at=later(days=8))
    assert [one.email[0] for one in first + second] == ["c", "b", "a"]
    assert none == []


async def test_a_person_of_another_organization_joins_a_second_one(tenant: factory.Tenant, db: Database) -> None:
    elsewhere = await factory.tenant(db)
    eve = await hire(db, elsewhere.id, Role.OWNER, "Eve")
    made = await invite(tenant, eve.email)
    async with db.transaction() as tx:
        found = await invitations.find_invitation(tx, made.token, at=NOON)
        await invitations.accept(tx, found, eve.id, eve.email, at=NOON)
        assert {place.organization_id for place in await staff.memberships(tx, eve.id)} == {tenant.id, elsewhere.id}
