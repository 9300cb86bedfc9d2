"""People who can sign in: with a password, with codes, with a passkey."""

from base64 import b32decode
from dataclasses import dataclass

import httpx2

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Person, Role, one_time_code, passkey, password
from gatepass.domain.staff.party import Party
from gatepass.domain.staff.password import HASHER
from tests import make
from tests.authenticator import Authenticator
from tests.studio.desk import ORIGIN

US = Party("studio.test", ORIGIN)
GOOD = "three brown llamas"
# Hashed once: it takes a tenth of a second.
HASH = HASHER.hash(GOOD)


@dataclass
class Known:
    person: Person
    seed: bytes = b""
    recovery: tuple[str, ...] = ()

    def code(self, steps: int = 0) -> str:
        return one_time_code.code_of(self.seed, one_time_code.step_of(make.now()) + steps)


async def somebody(house: make.House, *, codes: bool = False, role: Role = Role.OWNER) -> Known:
    """A member with a password, and codes from an app if asked for."""
    async with house.db.transaction() as tx:
        person = await staff.enrol(tx, f"{new_id()}@example.org", "Grace Hopper", at=make.now())
        await staff.join(tx, house.id, person.id, role, by=make.BY, at=make.now())
        await password.keep(tx, person.id, HASH, at=make.now())
        if not codes:
            return Known(person)
        begun = await one_time_code.begin_codes(tx, person.id, person.email, make.VAULT, at=make.now())
        seed = b32decode(begun.seed)
        # The step before this one, so that the code of now is still to be had.
        first = one_time_code.code_of(seed, one_time_code.step_of(make.now()) - 1)
        made = await one_time_code.turn_codes_on(tx, person.id, first, make.VAULT, by=make.BY, at=make.now())
    return Known(person, seed, tuple(made))


async def with_passkey(house: make.House, person: Person) -> Authenticator:
    device = Authenticator(origin=ORIGIN, rp_id="studio.test")
    async with house.db.transaction() as tx:
        options = await passkey.ask_to_create(tx, US, person.id, person.email, person.name, at=make.now())
        assert await passkey.add(tx, US, person.id, device.create(options), "Laptop", by=make.BY, at=make.now())
    return device


async def typed(client: httpx2.AsyncClient, email: str, password: str = GOOD, **more: str) -> httpx2.Response:
    return await client.post("/studio/sign-in", data={"email": email, "password": password, **more})


def asked(page: str) -> str:
    """The question that stands hidden in the page."""
    return page.partition('name="asked" value="')[2].partition('"')[0]
