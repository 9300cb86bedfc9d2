"""A desk: somebody with a role, signed in to the studio of one organization."""

from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

import httpx2

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Person, Role
from gatepass.studio import cookies
from gatepass.studio.reception import Reception
from tests import make

ORIGIN = "https://studio.test"


def browser(studio: Reception) -> httpx2.AsyncClient:
    """A client that behaves as a browser does: it keeps cookies, and says where a request comes from."""
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=studio, client=("127.0.0.1", 1)),
        base_url=ORIGIN,
        headers={"Sec-Fetch-Site": "same-origin", "User-Agent": "a browser of the tests"},
    )


@dataclass
class Desk:
    house: make.House
    person: Person
    role: Role
    client: httpx2.AsyncClient
    mode: str = "live"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.aclose()

    def url(self, rest: str) -> str:
        """`rest` is a place in the mode, unless it begins with a slash."""
        return rest if rest.startswith("/") else f"/studio/{self.mode}/{rest}"

    async def see(self, rest: str, *, status: int = 200) -> str:
        """The text of a page."""
        answer = await self.client.get(self.url(rest))
        assert answer.status_code == status, (answer.status_code, answer.headers.get("location"), answer.text[:2000])
        return answer.text

    async def send(self, rest: str, *, status: Any = 303, files: Any = None, **fields: Any) -> httpx2.Response:
        """Post a form. After a change one is sent on; `follow` reads where to."""
        answer = await self.client.post(self.url(rest), data=fields, files=files)
        assert answer.status_code == status, (answer.status_code, answer.headers.get("location"), answer.text[:2000])
        return answer

    async def follow(self, answer: httpx2.Response) -> str:
        return await self.see(answer.headers["location"])


async def sit_down(
    studio: Reception, house: make.House, role: Role = Role.OWNER, *, mode: str = "live", confirmed: bool = True
) -> Desk:
    """Somebody new with this role, signed in."""
    async with house.db.transaction() as tx:
        person = await staff.enrol(tx, f"{new_id()}@example.org", f"The {role.spoken}", at=make.now())
        await staff.join(tx, house.id, person.id, role, by=make.BY, at=make.now())
        token = await staff.begin(tx, person.id, at=make.now(), address=None, browser="tests", confirmed=confirmed)
    client = browser(studio)
    client.cookies.set(cookies.SESSION, token, domain="studio.test")
    return Desk(house, person, role, client, mode)


async def another_person(house: make.House, role: Role) -> UUID:
    async with house.db.transaction() as tx:
        person = await staff.enrol(tx, f"{new_id()}@example.org", "Somebody else", at=make.now())
        await staff.join(tx, house.id, person.id, role, by=make.BY, at=make.now())
    return person.id
