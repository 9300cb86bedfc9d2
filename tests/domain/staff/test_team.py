"""The team: nobody gives a role above their own, and there is always an owner."""

import asyncio

import pytest

from gatepass.base.database import Database
from gatepass.base.paging import START, Place
from gatepass.domain import audit_log, staff
from gatepass.domain.staff import NotPermitted, Person, Role, password, reauthentication, team
from gatepass.domain.staff.reauthentication import SessionNotFound
from gatepass.domain.staff.team import LastOwner, MemberNotFound
from tests import factory
from tests.domain.staff.conftest import HERE, NOON, hire, later


async def change(tenant: factory.Tenant, person: Person, role: Role, giver: Role = Role.OWNER) -> None:
    async with tenant.db.transaction() as tx:
        await team.change_role(tx, tenant.id, person.id, role, giver=giver, by=factory.BY, at=NOON)


async def remove(tenant: factory.Tenant, person: Person, giver: Role = Role.OWNER) -> None:
    async with tenant.db.transaction() as tx:
        await team.remove_member(tx, tenant.id, person.id, giver=giver, by=factory.BY, at=NOON)


async def roles(tenant: factory.Tenant) -> dict[str, Role]:
    async with tenant.db.autocommit() as tx:
        return {one.name: one.role for one in await team.members(tx, tenant.id, after=START, limit=100)}


async def test_a_role_is_changed_and_noted(tenant: factory.Tenant, ada: Person) -> None:
    bob = await hire(tenant.db, tenant.id, Role.VIEWER, "Bob")
    await change(tenant, bob, Role.DEVELOPER)
    assert await roles(tenant) == {"Ada": Role.OWNER, "Bob": Role.DEVELOPER}
    async with tenant.db.autocommit() as tx:
        last, *_ = await audit_log.of_subject(tx, tenant.id, bob.id)
    assert (last.action, last.was, last.becomes) == ("role_changed", "viewer", "developer")


async def test_nobody_gives_or_takes_a_role_above_their_own(tenant: factory.Tenant, ada: Person) -> None:
    bob = await hire(tenant.db, tenant.id, Role.ADMIN, "Bob")
    for person, role in ((bob, Role.OWNER), (ada, Role.VIEWER)):
        with pytest.raises(NotPermitted):
            await change(tenant, person, role, giver=Role.ADMIN)
    with pytest.raises(NotPermitted):
        await remove(tenant, ada, giver=Role.ADMIN)
    assert await roles(tenant) == {"Ada": Role.OWNER, "Bob": Role.ADMIN}


async def test_the_last_owner_stays(tenant: factory.Tenant, ada: Person) -> None:
    with pytest.raises(LastOwner):
        await change(tenant, ada, Role.ADMIN)
    with pytest.raises(LastOwner):
        await remove(tenant, ada)
    bob = await hire(tenant.db, tenant.id, Role.OWNER, "Bob")
    await remove(tenant, ada)
    with pytest.raises(LastOwner):
        await remove(tenant, bob)


async def test_two_owners_cannot_step_down_at_once(tenant: factory.Tenant, ada: Person) -> None:
    bob = await hire(tenant.db, tenant.id, Role.OWNER, "Bob")

    async def step_down(person: Person) -> bool:
        try:
            await change(tenant, person, Role.VIEWER)
        except LastOwner:
            return False
        return True

    assert sorted(await asyncio.gather(step_down(ada), step_down(bob))) == [False, True]
    assert sorted((await roles(tenant)).values()) == [Role.OWNER, Role.VIEWER]


async def test_another_organizations_people_are_not_ours(tenant: factory.Tenant, db: Database) -> None:
    other = await factory.tenant(db)
    eve = await hire(db, other.id, Role.OWNER, "Eve")
    with pytest.raises(MemberNotFound):
        await change(tenant, eve, Role.VIEWER)
    with pytest.raises(MemberNotFound):
        await remove(tenant, eve)
    async with db.autocommit() as tx:
        with pytest.raises(MemberNotFound):
            await team.member(tx, tenant.id, eve.id)


async def test_who_is_removed_is_out_with_the_next_click(tenant: factory.Tenant, ada: Person) -> None:
    bob = await hire(tenant.db, tenant.id, Role.ADMIN, "Bob")
    async with tenant.db.transaction() as tx:
        token = await staff.begin(tx, bob.id, at=NOON, address=HERE, browser="a browser")
    await remove(tenant, bob)
    async with tenant.db.transaction() as tx:
        session = await staff.find(tx, token, at=later(seconds=1))
    assert session is None


async def test_a_sign_in_link_ends_with_the_last_membership(tenant: factory.Tenant, ada: Person) -> None:
    bob, other = await hire(tenant.db, tenant.id, Role.ADMIN, "Bob"), await factory.tenant(tenant.db)
    async with tenant.db.transaction() as tx:
        await staff.join(tx, other.id, bob.id, Role.VIEWER, by=factory.BY, at=NOON)
        link, second = (
            await staff.make_link(tx, bob.id, cell="a", at=NOON),
            await staff.make_link(tx, bob.id, cell="a", at=NOON),
        )
    await remove(tenant, bob)
    async with tenant.db.transaction() as tx:
        assert await staff.use_link(tx, link, at=NOON) == bob.id, "another organization has nothing to say here"
    await remove(other, bob)
    async with tenant.db.transaction() as tx:
        assert await staff.use_link(tx, second, at=NOON) is None


async def test_who_leaves_keeps_the_session_for_other_organizations(tenant: factory.Tenant, ada: Person) -> None:
    bob = await hire(tenant.db, tenant.id, Role.ADMIN, "Bob")
    async with tenant.db.transaction() as tx:
        token = await staff.begin(tx, bob.id, at=NOON, address=HERE, browser="a browser")
        await team.remove_member(tx, tenant.id, bob.id, giver=Role.ADMIN, by=f"person {bob.id}", at=NOON)
        session = await staff.find(tx, token, at=later(seconds=1))
    assert session is not None
    assert (session.organization_id, session.role) == (None, None)


async def test_how_people_sign_in_page_by_page(tenant: factory.Tenant, ada: Person) -> None:
    async with tenant.db.transaction() as tx:
        bob = await staff.enrol(tx, f"bob.{ada.id}@example.org", "Bob", at=NOON)
        await staff.join(tx, tenant.id, bob.id, Role.VIEWER, by=factory.BY, at=later(minutes=1))
        await password.keep(tx, bob.id, "a hash", at=NOON)
        await staff.begin(tx, bob.id, at=later(minutes=2), address=HERE, browser="a browser")
        (first,) = await team.members(tx, tenant.id, after=START, limit=1)
        (second,) = await team.members(tx, tenant.id, after=Place(first.joined_at, first.person_id), limit=1)
        assert await team.member(tx, tenant.id, bob.id) == second
    assert (first.name, first.password, first.passkeys, first.codes, first.seen_at) == (
        "Ada",
        False,
        False,
        False,
        None,
    )
    assert (second.name, second.password, second.seen_at) == ("Bob", True, later(minutes=2))


# ---- sessions --------------------------------------------------------------------------------------------------


async def begin(db: Database, person: Person, browser: str = "a browser") -> str:
    async with db.transaction() as tx:
        return await staff.begin(tx, person.id, at=NOON, address=HERE, browser=browser)


async def test_confirming_changes_the_cookie(db: Database, ada: Person) -> None:
    old = await begin(db, ada)
    async with db.transaction() as tx:
        session = await staff.find(tx, old, at=NOON)
        assert session is not None
        new = await reauthentication.mark_reauthenticated(tx, session.id, at=later(minutes=30))
    async with db.transaction() as tx:
        assert await staff.find(tx, old, at=later(minutes=30)) is None
        confirmed = await staff.find(tx, new, at=later(minutes=30))
    assert confirmed is not None
    assert confirmed.is_reauthenticated(later(minutes=39))
    assert not confirmed.is_reauthenticated(later(minutes=40))


async def test_ending_one_and_all_others(tenant: factory.Tenant, ada: Person) -> None:
    tokens = [await begin(tenant.db, ada, f"browser {n}") for n in range(4)]
    async with tenant.db.transaction() as tx:
        found = [await staff.find(tx, token, at=NOON) for token in tokens]
        ids = [one.id for one in found if one]
        await reauthentication.end_one(tx, ada.id, ids[1], by=factory.BY, at=NOON)
        with pytest.raises(SessionNotFound):
            await reauthentication.end_one(tx, ada.id, ids[1], by=factory.BY, at=NOON)
        assert await reauthentication.end_others(tx, ada.id, ids[0], by=factory.BY, at=NOON) == 2
        (left,) = await reauthentication.open_sessions(tx, ada.id, at=NOON)
    assert (left.id, left.browser, left.address) == (ids[0], "browser 0", HERE)


async def test_nobody_ends_anothers_session(tenant: factory.Tenant, ada: Person) -> None:
    bob = await hire(tenant.db, tenant.id, name="Bob")
    token = await begin(tenant.db, ada)
    async with tenant.db.transaction() as tx:
        session = await staff.find(tx, token, at=NOON)
        assert session is not None
        with pytest.raises(SessionNotFound):
            await reauthentication.end_one(tx, bob.id, session.id, by=factory.BY, at=NOON)
        assert await reauthentication.end_others(tx, bob.id, None, by=factory.BY, at=NOON) == 0


async def test_sessions_that_ended_by_themselves_are_not_shown(db: Database, ada: Person) -> None:
    await begin(db, ada)
    async with db.autocommit() as tx:
        assert len(await reauthentication.open_sessions(tx, ada.id, at=later(hours=23))) == 1
        assert await reauthentication.open_sessions(tx, ada.id, at=later(hours=25)) == []
