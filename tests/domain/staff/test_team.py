"""The team: roles are given downwards only, and there is always an owner."""

import asyncio

import pytest

from gatepass.base.database import Database
from gatepass.base.paging import START, Place
from gatepass.domain import changes, staff
from gatepass.domain.staff import NotPermitted, Person, Role, confirming, password, team
from gatepass.domain.staff.confirming import SessionNotFound
from gatepass.domain.staff.team import LastOwner, MemberNotFound
from tests import make
from tests.domain.staff.conftest import HERE, NOON, hire, later


async def change(house: make.House, person: Person, role: Role, giver: Role = Role.OWNER) -> None:
    async with house.db.transaction() as tx:
        await team.change_role(tx, house.id, person.id, role, giver=giver, by=make.BY, at=NOON)


async def remove(house: make.House, person: Person, giver: Role = Role.OWNER) -> None:
    async with house.db.transaction() as tx:
        await team.remove_member(tx, house.id, person.id, giver=giver, by=make.BY, at=NOON)


async def roles(house: make.House) -> dict[str, Role]:
    async with house.db.reading() as tx:
        return {one.name: one.role for one in await team.members(tx, house.id, after=START, limit=100)}


async def test_a_role_is_changed_and_noted(house: make.House, ada: Person) -> None:
    bob = await hire(house.db, house.id, Role.VIEWER, "Bob")
    await change(house, bob, Role.DEVELOPER)
    assert await roles(house) == {"Ada": Role.OWNER, "Bob": Role.DEVELOPER}
    async with house.db.reading() as tx:
        last, *_ = await changes.of_subject(tx, house.id, bob.id)
    assert (last.action, last.was, last.becomes) == ("role_changed", "viewer", "developer")


async def test_nobody_gives_or_takes_a_role_above_their_own(house: make.House, ada: Person) -> None:
    bob = await hire(house.db, house.id, Role.ADMIN, "Bob")
    for person, role in ((bob, Role.OWNER), (ada, Role.VIEWER)):
        with pytest.raises(NotPermitted):
            await change(house, person, role, giver=Role.ADMIN)
    with pytest.raises(NotPermitted):
        await remove(house, ada, giver=Role.ADMIN)
    assert await roles(house) == {"Ada": Role.OWNER, "Bob": Role.ADMIN}


async def test_the_last_owner_stays(house: make.House, ada: Person) -> None:
    with pytest.raises(LastOwner):
        await change(house, ada, Role.ADMIN)
    with pytest.raises(LastOwner):
        await remove(house, ada)
    bob = await hire(house.db, house.id, Role.OWNER, "Bob")
    await remove(house, ada)
    with pytest.raises(LastOwner):
        await remove(house, bob)


async def test_two_owners_cannot_step_down_at_once(house: make.House, ada: Person) -> None:
    bob = await hire(house.db, house.id, Role.OWNER, "Bob")

    async def step_down(person: Person) -> bool:
        try:
            await change(house, person, Role.VIEWER)
        except LastOwner:
            return False
        return True

    assert sorted(await asyncio.gather(step_down(ada), step_down(bob))) == [False, True]
    assert sorted((await roles(house)).values()) == [Role.OWNER, Role.VIEWER]


async def test_another_organizations_people_are_not_ours(house: make.House, db: Database) -> None:
    other = await make.house(db)
    eve = await hire(db, other.id, Role.OWNER, "Eve")
    with pytest.raises(MemberNotFound):
        await change(house, eve, Role.VIEWER)
    with pytest.raises(MemberNotFound):
        await remove(house, eve)
    async with db.reading() as tx:
        with pytest.raises(MemberNotFound):
            await team.member(tx, house.id, eve.id)


async def test_who_is_removed_is_out_with_the_next_click(house: make.House, ada: Person) -> None:
    bob = await hire(house.db, house.id, Role.ADMIN, "Bob")
    async with house.db.transaction() as tx:
        token = await staff.begin(tx, bob.id, at=NOON, address=HERE, browser="a browser")
    await remove(house, bob)
    async with house.db.transaction() as tx:
        session = await staff.find(tx, token, at=later(seconds=1))
    assert session is not None
    assert (session.organization_id, session.role) == (None, None)


async def test_how_people_sign_in_page_by_page(house: make.House, ada: Person) -> None:
    async with house.db.transaction() as tx:
        bob = await staff.enrol(tx, f"bob.{ada.id}@example.org", "Bob", at=NOON)
        await staff.join(tx, house.id, bob.id, Role.VIEWER, by=make.BY, at=later(minutes=1))
        await password.keep(tx, bob.id, "a hash", at=NOON)
        await staff.begin(tx, bob.id, at=later(minutes=2), address=HERE, browser="a browser")
        (first,) = await team.members(tx, house.id, after=START, limit=1)
        (second,) = await team.members(tx, house.id, after=Place(first.joined_at, first.person_id), limit=1)
        assert await team.member(tx, house.id, bob.id) == second
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
        new = await confirming.confirm(tx, session.id, at=later(minutes=30))
    async with db.transaction() as tx:
        assert await staff.find(tx, old, at=later(minutes=30)) is None
        confirmed = await staff.find(tx, new, at=later(minutes=30))
    assert confirmed is not None
    assert confirmed.is_confirmed(later(minutes=39))
    assert not confirmed.is_confirmed(later(minutes=40))


async def test_ending_one_and_all_others(house: make.House, ada: Person) -> None:
    tokens = [await begin(house.db, ada, f"browser {n}") for n in range(4)]
    async with house.db.transaction() as tx:
        found = [await staff.find(tx, token, at=NOON) for token in tokens]
        ids = [one.id for one in found if one]
        await confirming.end_one(tx, ada.id, ids[1], by=make.BY, at=NOON)
        with pytest.raises(SessionNotFound):
            await confirming.end_one(tx, ada.id, ids[1], by=make.BY, at=NOON)
        assert await confirming.end_others(tx, ada.id, ids[0], by=make.BY, at=NOON) == 2
        (left,) = await confirming.open_sessions(tx, ada.id, at=NOON)
    assert (left.id, left.browser, left.address) == (ids[0], "browser 0", HERE)


async def test_nobody_ends_anothers_session(house: make.House, ada: Person) -> None:
    bob = await hire(house.db, house.id, name="Bob")
    token = await begin(house.db, ada)
    async with house.db.transaction() as tx:
        session = await staff.find(tx, token, at=NOON)
        assert session is not None
        with pytest.raises(SessionNotFound):
            await confirming.end_one(tx, bob.id, session.id, by=make.BY, at=NOON)
        assert await confirming.end_others(tx, bob.id, None, by=make.BY, at=NOON) == 0


async def test_sessions_that_ended_by_themselves_are_not_shown(db: Database, ada: Person) -> None:
    await begin(db, ada)
    async with db.reading() as tx:
        assert len(await confirming.open_sessions(tx, ada.id, at=later(hours=23))) == 1
        assert await confirming.open_sessions(tx, ada.id, at=later(hours=25)) == []
