"""People of the studio, made by the verbs of the domain."""

from collections.abc import Generator
from datetime import datetime, timedelta
from ipaddress import ip_address
from uuid import UUID

import pytest

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Person, Role
from gatepass.domain.staff.password import Passwords
from tests import factory

NOON = datetime.fromisoformat("2026-11-15T12:00:00+00:00")
HERE = ip_address("192.0.2.7")


def later(**delta: float) -> datetime:
    return NOON + timedelta(**delta)


async def hire(db: Database, organization_id: UUID, role: Role = Role.OWNER, name: str = "Ada") -> Person:
    """A person with an e-mail address of their own, who is a member of the organization."""
    async with db.transaction() as tx:
        person = await staff.enrol(tx, f"{name.lower()}.{new_id().hex[-12:]}@example.org", name, at=NOON)
        await staff.join(tx, organization_id, person.id, role, by=factory.BY, at=NOON)
    return person


@pytest.fixture
async def ada(tenant: factory.Tenant) -> Person:
    return await hire(tenant.db, tenant.id)


@pytest.fixture(scope="session")
def passwords() -> Generator[Passwords]:
    hashing = Passwords()
    yield hashing
    hashing.close()
