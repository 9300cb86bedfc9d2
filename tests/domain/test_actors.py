"""Actors of the audit log by name."""

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.actors import Actor, find_actors
from tests import factory
from tests.factory import Tenant


async def test_people_and_keys_are_named_and_others_called_by_what_they_are(tenant: Tenant) -> None:
    key = await tenant.key()
    other = await (await factory.tenant(tenant.db)).key()
    async with tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"ada-{new_id()}@example.org", "Ada Byron", at=factory.now())
        texts = [
            f"person {person.id}",
            f"key {key.id}",
            f"key {other.id}",
            f"person {new_id()}",
            "worker",
            "key x",
            None,
        ]
        named = await find_actors(tx, tenant.id, texts)
    assert named[f"person {person.id}"] == Actor(f"person {person.id}", "Ada Byron", person.email)
    assert named[f"key {key.id}"].name == "API key test key"
    assert named[f"key {key.id}"].detail == f"…{key.text[-4:]}"
    for text in (f"key {other.id}", texts[3], "worker", "key x"):
        assert text is not None
        assert named[text] == Actor(text, text), "another organization's, nobody's, or no id at all"


async def test_nobody_is_asked_for_nobody(tenant: Tenant) -> None:
    async with tenant.db.autocommit() as tx:
        assert await find_actors(tx, tenant.id, [None]) == {}
