"""Letters about endpoints that fail and keys that end: to who can act, once for each, in the live mode alone."""

from datetime import datetime, timedelta
from uuid import UUID

from gatepass.domain import staff
from gatepass.domain.keys import Mode
from gatepass.domain.mail import Mailer
from gatepass.domain.notice_letters import attention
from gatepass.domain.staff import Person, Role
from tests import factory
from tests.domain.staff.conftest import hire
from tests.studio.letters import letters_to

MAILER = Mailer(factory.VAULT, enabled=True)
ORIGIN = "https://studio.test"


async def proven(tenant: factory.Tenant, role: Role) -> Person:
    person = await hire(tenant.db, tenant.id, role)
    async with tenant.db.transaction() as tx:
        await staff.mark_proven(tx, person.id, at=factory.now())
    return person


async def write_of_endpoints(tenant: factory.Tenant, at: datetime, mailer: Mailer = MAILER) -> None:
    async with tenant.db.transaction() as tx:
        while await attention.write_of_endpoints(tx, mailer, origin=ORIGIN, at=at):
            pass


async def write_of_keys(tenant: factory.Tenant, at: datetime) -> None:
    async with tenant.db.transaction() as tx:
        while await attention.write_of_keys(tx, MAILER, origin=ORIGIN, at=at):
            pass


async def fail(tenant: factory.Tenant, endpoint_id: UUID, since: datetime | None) -> None:
    async with tenant.db.autocommit() as tx:
        await tx.run(
            "UPDATE webhook_endpoint SET failing_since = $3 WHERE organization_id = $1 AND id = $2",
            tenant.id,
            endpoint_id,
            since,
        )


async def test_a_failing_endpoint_is_told_once_in_each_period(tenant: factory.Tenant) -> None:
    at, owner = factory.now(), await proven(tenant, Role.OWNER)
    id, _ = await tenant.endpoint("https://hooks.example.com/in?secret=of-theirs")
    await fail(tenant, id, at - timedelta(minutes=14))
    await write_of_endpoints(tenant, at)
    assert await letters_to(tenant.db, owner.email) == [], "a restart is no reason for a letter"
    for _ in range(2):
        await write_of_endpoints(tenant, at + timedelta(minutes=2))
    (letter,) = await letters_to(tenant.db, owner.email)
    assert letter.kind == "endpoint_failing"
    assert letter.values["host"] == "hooks.example.com"
    assert "of-theirs" not in str(letter.values)
    assert letter.path == f"/studio/o/{tenant.id}/live/webhooks/{id}"
    await fail(tenant, id, None)
    await write_of_endpoints(tenant, at + timedelta(hours=1))
    await fail(tenant, id, at + timedelta(hours=1))
    await write_of_endpoints(tenant, at + timedelta(hours=2))
    assert len(await letters_to(tenant.db, owner.email)) == 2, "it failed again"


async def test_only_those_who_can_act_are_told(tenant: factory.Tenant) -> None:
    at = factory.now()
    people = {role: await proven(tenant, role) for role in Role}
    unproven = await hire(tenant.db, tenant.id, Role.OWNER)
    id, _ = await tenant.endpoint("https://hooks.example.com/")
    sandbox_id, _ = await tenant.endpoint("https://laptop.example.com/", mode=Mode.SANDBOX)
    for one in (id, sandbox_id):
        await fail(tenant, one, at - timedelta(hours=1))
    await write_of_endpoints(tenant, at)
    told = {role for role, person in people.items() if await letters_to(tenant.db, person.email)}
    assert told == {Role.OWNER, Role.ADMIN, Role.DEVELOPER}
    assert len(await letters_to(tenant.db, people[Role.OWNER].email)) == 1, "not of the sandbox"
    assert await letters_to(tenant.db, unproven.email) == []


async def test_without_a_mail_server_nothing_is_marked(tenant: factory.Tenant) -> None:
    at, owner = factory.now(), await proven(tenant, Role.OWNER)
    id, _ = await tenant.endpoint("https://hooks.example.com/")
    await fail(tenant, id, at - timedelta(hours=1))
    await write_of_endpoints(tenant, at, Mailer(factory.VAULT, enabled=False))
    await write_of_endpoints(tenant, at)
    assert len(await letters_to(tenant.db, owner.email)) == 1, "it still fails"


async def test_a_key_that_ends_is_told_two_weeks_and_a_day_before(tenant: factory.Tenant) -> None:
    at, owner = factory.now(), await proven(tenant, Role.OWNER)
    await tenant.key()
    ends = at + timedelta(days=20)
    async with tenant.db.autocommit() as tx:
        await tx.run(SET_END, tenant.id, ends, ends)
    counts: list[int] = []
    for left in (15, 14, 13.5, 2, 1, 0.5, -1):
        await write_of_keys(tenant, ends - timedelta(days=left))
        counts.append(len(await letters_to(tenant.db, owner.email)))
    assert counts == [0, 1, 1, 1, 2, 2, 2]
    early, late = await letters_to(tenant.db, owner.email)
    assert (early.kind, early.values["left"], late.values["left"]) == ("key_ending", "14 days", "1 day")
    async with tenant.db.autocommit() as tx:
        await tx.run(SET_END, tenant.id, ends + timedelta(days=30), ends + timedelta(days=30))
    await write_of_keys(tenant, ends + timedelta(days=20))
    assert len(await letters_to(tenant.db, owner.email)) == 3, "another end is told of anew"


async def test_a_key_that_nobody_uses_is_not_missed(tenant: factory.Tenant) -> None:
    at, owner = factory.now(), await proven(tenant, Role.OWNER)
    await tenant.key()
    async with tenant.db.autocommit() as tx:
        await tx.run(SET_END, tenant.id, at + timedelta(days=3), at - timedelta(days=31))
    await write_of_keys(tenant, at)
    assert await letters_to(tenant.db, owner.email) == []


SET_END = "UPDATE api_key SET expires_at = $2, last_used_at = $3 WHERE organization_id = $1"
