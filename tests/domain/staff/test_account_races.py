"""Races around an account: whatever comes first, nothing of before a reset works after it."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from gatepass.base.errors import Refusal
from gatepass.domain import staff
from gatepass.domain.staff import EmailTaken, Person, Role, account, invitations, password, team
from tests import factory
from tests.domain.staff.conftest import HERE, NOON, hire

ROUNDS = 12


async def invited(tenant: factory.Tenant, email: str, by: str = factory.BY) -> str:
    async with tenant.db.transaction() as tx:
        made = await invitations.invite(tx, tenant.id, email, Role.ADMIN, giver=Role.OWNER, cell="a", by=by, at=NOON)
    return made.token


async def outcome(work: Coroutine[Any, Any, Any]) -> bool:
    try:
        await work
    except Refusal:
        return False
    return True


async def claim(tenant: factory.Tenant, token: str) -> None:
    """As the page of an invitation does it for somebody who is not signed in."""
    async with tenant.db.transaction() as tx:
        offer = await invitations.find_invitation(tx, token, at=NOON)
        await account.free_address(tx, offer.email, at=NOON)
        person = await staff.enrol(tx, offer.email, "Real", at=NOON, id=offer.id)
        await invitations.accept(tx, offer, person.id, person.email, at=NOON)


async def join(tenant: factory.Tenant, token: str, person: Person, session: str) -> None:
    """As it does it for somebody who is signed in."""
    async with tenant.db.transaction() as tx:
        found = await staff.find(tx, session, at=NOON)
        await staff.lock_person(tx, person.id)
        if found is None or not await staff.is_open(tx, found.id, at=NOON):
            raise EmailTaken
        await account.reset(tx, person.id, by=factory.BY, at=NOON)
        offer = await invitations.find_invitation(tx, token, at=NOON)
        await invitations.accept(tx, offer, person.id, person.email, at=NOON)


async def squatter(tenant: factory.Tenant) -> tuple[Person, str]:
    """An account in no organization, with a password and a session."""
    person = await hire(tenant.db, tenant.id, Role.VIEWER, "Squatter")
    async with tenant.db.transaction() as tx:
        await team.remove_member(tx, tenant.id, person.id, giver=Role.OWNER, by=factory.BY, at=NOON)
        await password.keep(tx, person.id, "planted", at=NOON)
        session = await staff.begin(tx, person.id, at=NOON, address=HERE, browser="a browser")
    return person, session


async def test_a_claim_and_a_join_of_one_account(tenant: factory.Tenant, ada: Person) -> None:
    other, wins = await factory.tenant(tenant.db), set[tuple[bool, bool]]()
    for _ in range(ROUNDS):
        person, session = await squatter(tenant)
        tokens = await invited(tenant, person.email), await invited(other, person.email)
        won = await asyncio.gather(outcome(claim(tenant, tokens[0])), outcome(join(other, tokens[1], person, session)))
        wins.add((won[0], won[1]))
        async with tenant.db.autocommit() as tx:
            now = await staff.find_person(tx, person.email)
            assert now is not None
            places = {place.organization_id for place in await staff.memberships(tx, now.id)}
            assert await staff.find(tx, session, at=NOON) is None
        assert places == ({tenant.id} if won[0] else {other.id}), "one account, one of the two"
    assert wins <= {(True, False), (False, True)}


async def test_two_claims_of_one_account(tenant: factory.Tenant, ada: Person) -> None:
    other = await factory.tenant(tenant.db)
    for _ in range(ROUNDS):
        person, _ = await squatter(tenant)
        tokens = await invited(tenant, person.email), await invited(other, person.email)
        won = await asyncio.gather(outcome(claim(tenant, tokens[0])), outcome(claim(other, tokens[1])))
        assert sorted(won) == [False, True]


async def test_an_invitation_is_made_while_its_maker_is_removed(tenant: factory.Tenant, ada: Person) -> None:
    """Either it is not made, or it is withdrawn with the others."""
    for number in range(ROUNDS):
        bob = await hire(tenant.db, tenant.id, Role.ADMIN, "Bob")

        async def remove(bob: Person = bob) -> None:
            async with tenant.db.transaction() as tx:
                await team.remove_member(tx, tenant.id, bob.id, giver=Role.OWNER, by=factory.BY, at=NOON)

        made = invited(tenant, f"puppet.{number}.{bob.email}", by=f"person {bob.id}")
        await asyncio.gather(outcome(made), outcome(remove()))
        async with tenant.db.autocommit() as tx:
            left = await tx.value(
                "SELECT count(*) FROM invitation WHERE invited_by = $1 AND revoked_at IS NULL", f"person {bob.id}"
            )
        assert left == 0


async def test_somebody_accepts_while_the_inviter_is_removed(tenant: factory.Tenant, ada: Person) -> None:
    """The invitation is accepted or withdrawn, never both."""
    for number in range(ROUNDS):
        bob = await hire(tenant.db, tenant.id, Role.ADMIN, "Bob")
        token = await invited(tenant, f"puppet.{number}.{bob.email}", by=f"person {bob.id}")

        async def remove(bob: Person = bob) -> None:
            async with tenant.db.transaction() as tx:
                await team.remove_member(tx, tenant.id, bob.id, giver=Role.OWNER, by=factory.BY, at=NOON)

        came_in, _ = await asyncio.gather(outcome(claim(tenant, token)), outcome(remove()))
        async with tenant.db.autocommit() as tx:
            (row,) = await tx.rows(
                "SELECT accepted_at IS NOT NULL AS accepted, revoked_at IS NOT NULL AS revoked FROM invitation"
                " WHERE invited_by = $1",
                f"person {bob.id}",
            )
        assert (row["accepted"], row["revoked"]) == (came_in, not came_in)


@pytest.mark.parametrize("first", ["sign in", "reset"])
async def test_a_password_that_was_compared_before_a_reset_opens_no_session(
    tenant: factory.Tenant, ada: Person, first: str
) -> None:
    """The page compares with no transaction open, for a tenth of a second. Then it opens the session like this."""
    async with tenant.db.transaction() as tx:
        await password.keep(tx, ada.id, "planted", at=NOON)
        compared = await password.known(tx, ada.email)
    assert compared is not None
    opened, may_reset = asyncio.Event(), asyncio.Event()

    async def sign_in() -> None:
        async with tenant.db.transaction() as tx:
            if await password.is_still_set(tx, compared):
                opened.set()
                await staff.begin(tx, ada.id, at=NOON, address=HERE, browser="a browser")
                await may_reset.wait()

    async def reset() -> None:
        async with tenant.db.transaction() as tx:
            await account.reset(tx, ada.id, by="operator", at=NOON)

    if first == "reset":
        await reset()
        await sign_in()
    else:
        signing_in = asyncio.create_task(sign_in())
        await opened.wait()
        resetting = asyncio.create_task(reset())
        async with tenant.db.autocommit() as tx:
            while not await tx.value(
                "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid')"
            ):
                assert not resetting.done(), "the reset waits for the sign-in"
        may_reset.set()
        await asyncio.gather(signing_in, resetting)
    async with tenant.db.autocommit() as tx:
        assert (
            await tx.value("SELECT count(*) FROM studio_session WHERE person_id = $1 AND ended_at IS NULL", ada.id) == 0
        )
        assert await password.known_of(tx, ada.id) is None
