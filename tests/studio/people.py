"""People who can sign in: with a password, with codes, with a passkey."""

from base64 import b32decode
from dataclasses import dataclass

import httpx2

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Person, Role, one_time_code, passkey, password
from gatepass.domain.staff.password import HASHER
from gatepass.domain.staff.webauthn import RelyingParty
from tests import factory
from tests.authenticator import Authenticator
from tests.studio.browser_session import ORIGIN

US = RelyingParty("studio.test", ORIGIN)
GOOD = "three brown llamas"
# Hashed once: it takes a tenth of a second.
HASH = HASHER.hash(GOOD)


@dataclass
class Known:
    person: Person
    seed: bytes = b""
    recovery: tuple[str, ...] = ()

    def code(self, steps: int = 0) -> str:
        return one_time_code.code_of(self.seed, one_time_code.step_of(factory.now()) + steps)


async def somebody(tenant: factory.Tenant, *, codes: bool = False, role: Role = Role.OWNER) -> Known:
    """A member with a password, and with one-time codes if `codes`."""
    async with tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"{new_id()}@example.org", "Grace Hopper", at=factory.now())
        await staff.join(tx, tenant.id, person.id, role, by=factory.BY, at=factory.now())
        await password.keep(tx, person.id, HASH, at=factory.now())
        if not codes:
            return Known(person)
        begun = await one_time_code.begin_codes(tx, person.id, person.email, factory.VAULT, at=factory.now())
        seed = b32decode(begun.seed)
        # The code of the step before, so that the current code is still unused.
        first = one_time_code.code_of(seed, one_time_code.step_of(factory.now()) - 1)
        made = await one_time_code.turn_codes_on(tx, person.id, first, factory.VAULT, by=factory.BY, at=factory.now())
    return Known(person, seed, tuple(made))


async def with_passkey(tenant: factory.Tenant, person: Person, party: RelyingParty = US) -> Authenticator:
    device = Authenticator(origin=party.origin, rp_id=party.id)
    async with tenant.db.transaction() as tx:
        options = await passkey.begin_registration(tx, party, person.id, person.email, person.name, at=factory.now())
        assert await passkey.add(
            tx, party, person.id, device.create(options), "Laptop", by=factory.BY, at=factory.now()
        )
    return device


async def typed(client: httpx2.AsyncClient, email: str, password: str = GOOD, **more: str) -> httpx2.Response:
    return await client.post("/studio/sign-in", data={"email": email, "password": password, **more})


def asked(page: str) -> str:
    """The challenge in the page's hidden field."""
    return page.partition('name="asked" value="')[2].partition('"')[0]
