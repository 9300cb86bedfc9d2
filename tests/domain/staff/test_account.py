"""An account that nobody has proven joins with nothing from before; a reset and a removal leave nothing behind."""

from collections.abc import Callable
from typing import Any

import pytest

from gatepass.base.database import Tx
from gatepass.domain import audit_log, staff
from gatepass.domain.actors import find_actors
from gatepass.domain.staff import EmailTaken, Person, Role, account, invitations, one_time_code, password, team
from gatepass.domain.staff.account import Removed
from gatepass.domain.staff.invitations import InvitationNotFound, ResetNeeded
from gatepass.domain.staff.team import LastOwner
from tests import factory
from tests.domain.staff.conftest import HERE, NOON, hire, later

TABLES = ("password", "passkey", "one_time_code", "recovery_code", "sign_in_link")


async def invited(tx: Tx, tenant: factory.Tenant, email: str, *, by: str = factory.BY, **more: Any) -> str:
    made = await invitations.invite(
        tx, tenant.id, email, Role.VIEWER, giver=Role.OWNER, cell="a", by=by, at=NOON, **more
    )
    return made.token


async def accept(tx: Tx, token: str, person: Person) -> None:
    offer = await invitations.find_invitation(tx, token, at=NOON)
    await invitations.accept(tx, offer, person.id, person.email, at=NOON)


async def furnish(tx: Tx, person: Person) -> str:
    """One of each: a password, a passkey, an app, a recovery code, a link and a session; the cookie."""
    await password.keep(tx, person.id, "a hash", at=NOON)
    await tx.run(
        "INSERT INTO passkey (person_id, id, credential_id, public_key, sign_count, name, backed_up, created_at)"
        " VALUES ($1, $1, uuid_send($1), '', 0, 'Planted', false, $2)",
        person.id,
        NOON,
    )
    await one_time_code.begin_codes(tx, person.id, person.email, factory.VAULT, at=NOON)
    await tx.run("INSERT INTO recovery_code VALUES ($1, sha256(uuid_send($1)), $2)", person.id, NOON)
    await staff.make_link(tx, person.id, cell="a", at=NOON)
    return await staff.begin(tx, person.id, at=NOON, address=HERE, browser="a browser")


async def left(tx: Tx, person: Person) -> int:
    return sum([await tx.value(f"SELECT count(*) FROM {table} WHERE person_id = $1", person.id) for table in TABLES])


async def test_a_reset_removes_everything_and_is_noted(tenant: factory.Tenant, ada: Person) -> None:
    async with tenant.db.transaction() as tx:
        cookie = await furnish(tx, ada)
        removed = await account.reset(tx, ada.id, by="operator", at=later(minutes=1))
        assert removed == Removed(1, 1, 1, 1, 1, 1)
        assert await left(tx, ada) == 0
        assert await staff.find(tx, cookie, at=later(minutes=1)) is None
        noted = await audit_log.of_subject(tx, tenant.id, ada.id)
    assert noted[0].action == "account_reset"
    assert noted[0].becomes == (
        "removed: 1 password, 1 passkey, 1 authenticator app, 1 recovery code, 1 older link, 1 open session"
    )


async def test_there_may_be_nothing_to_remove(tenant: factory.Tenant, ada: Person) -> None:
    async with tenant.db.transaction() as tx:
        assert str(await account.reset(tx, ada.id, by="operator", at=NOON)) == "nothing"


async def plant_password(tx: Tx, person: Person) -> None:
    await password.keep(tx, person.id, "a hash", at=NOON)


async def plant_session(tx: Tx, person: Person) -> None:
    await staff.begin(tx, person.id, at=NOON, address=HERE, browser="a browser")


async def plant_link(tx: Tx, person: Person) -> None:
    await staff.make_link(tx, person.id, cell="a", at=NOON)


@pytest.mark.parametrize("plant", [plant_password, plant_session, plant_link, furnish])
async def test_an_unproven_account_joins_only_after_a_reset(
    tenant: factory.Tenant, ada: Person, plant: Callable[[Tx, Person], Any]
) -> None:
    other = await factory.tenant(tenant.db)
    async with tenant.db.transaction() as tx:
        await plant(tx, ada)
        token = await invited(tx, other, ada.email)
    with pytest.raises(ResetNeeded):
        async with tenant.db.transaction() as tx:
            await accept(tx, token, ada)
    async with tenant.db.transaction() as tx:
        await account.reset(tx, ada.id, by=factory.BY, at=NOON)
        await accept(tx, token, ada)
        assert len(await staff.memberships(tx, ada.id)) == 2
        assert not await staff.is_proven(tx, ada.id), "joining proves nothing"


async def test_a_proven_account_joins_with_what_it_has(tenant: factory.Tenant, ada: Person) -> None:
    other = await factory.tenant(tenant.db)
    async with tenant.db.transaction() as tx:
        await staff.mark_proven(tx, ada.id, at=NOON)
        await furnish(tx, ada)
        await accept(tx, await invited(tx, other, ada.email), ada)
        assert await left(tx, ada) == 5


async def test_the_operators_invitation_proves_an_address(tenant: factory.Tenant) -> None:
    email = f"owner.{tenant.id.hex}@example.org"
    async with tenant.db.transaction() as tx:
        person = await staff.enrol(tx, email, "Owner", at=NOON)
        await accept(tx, await invited(tx, tenant, email, proves_email=True), person)
        assert await staff.is_proven(tx, person.id)


async def test_a_removed_account_leaves_its_name_and_frees_its_address(tenant: factory.Tenant, ada: Person) -> None:
    bob = await hire(tenant.db, tenant.id, Role.ADMIN, "Bob")
    async with tenant.db.transaction() as tx:
        cookie = await furnish(tx, bob)
        link = await staff.make_link(tx, bob.id, cell="a", at=NOON)
        token = await invited(tx, tenant, f"puppet.{bob.email}", by=f"person {bob.id}")
        await account.remove_person(tx, bob.id, bob.email, by="operator", at=later(minutes=1))
    async with tenant.db.transaction() as tx:
        assert await staff.find_person(tx, bob.email) is None
        assert await staff.memberships(tx, bob.id) == []
        assert await left(tx, bob) == 0
        assert await staff.find(tx, cookie, at=later(minutes=1)) is None
        assert await staff.use_link(tx, link, at=later(minutes=1)) is None
        with pytest.raises(InvitationNotFound):
            await invitations.find_invitation(tx, token, at=later(minutes=1))
        (actor,) = (await find_actors(tx, tenant.id, [f"person {bob.id}"])).values()
        assert (actor.name, actor.detail) == ("Bob", "account removed")
        actions = [entry.action for entry in await audit_log.of_subject(tx, tenant.id, bob.id)]
        assert {"account_removed", "account_reset", "removed"} <= set(actions)
        assert (await staff.enrol(tx, bob.email, "The real Bob", at=NOON)).id != bob.id


async def test_the_last_owner_is_removed_only_if_the_operator_says_so(tenant: factory.Tenant, ada: Person) -> None:
    with pytest.raises(LastOwner, match="only owner of Harbour Nights"):
        async with tenant.db.transaction() as tx:
            await account.remove_person(tx, ada.id, ada.email, by="operator", at=NOON)
    async with tenant.db.transaction() as tx:
        assert await staff.find_person(tx, ada.email) == ada
        await account.remove_person(tx, ada.id, ada.email, by="operator", at=NOON, even_last_owner=True)
        assert await staff.find_person(tx, ada.email) is None


async def test_an_address_without_membership_and_proof_is_freed(tenant: factory.Tenant, ada: Person) -> None:
    bob = await hire(tenant.db, tenant.id, Role.VIEWER, "Bob")
    with pytest.raises(EmailTaken):
        async with tenant.db.transaction() as tx:
            await account.free_address(tx, bob.email, at=NOON)
    async with tenant.db.transaction() as tx:
        await furnish(tx, bob)
        await team.remove_member(tx, tenant.id, bob.id, giver=Role.OWNER, by=factory.BY, at=NOON)
        await account.free_address(tx, bob.email.upper(), at=NOON)
        assert await staff.find_person(tx, bob.email) is None
        assert await left(tx, bob) == 0
        await account.free_address(tx, bob.email, at=NOON)


async def test_a_proven_address_is_never_freed(tenant: factory.Tenant, ada: Person) -> None:
    bob = await hire(tenant.db, tenant.id, Role.VIEWER, "Bob")
    async with tenant.db.transaction() as tx:
        await staff.mark_proven(tx, bob.id, at=NOON)
        await team.remove_member(tx, tenant.id, bob.id, giver=Role.OWNER, by=factory.BY, at=NOON)
    with pytest.raises(EmailTaken):
        async with tenant.db.transaction() as tx:
            await account.free_address(tx, bob.email, at=NOON)
