"""A browser session: a person with a role, signed in to the studio of one organization."""

from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

import httpx2

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Person, Role
from gatepass.studio.middleware import Middleware
from gatepass.studio.services.templates import root_of
from gatepass.studio.web import cookies
from tests import factory
from tests.server.asgi import TaskTransport

ORIGIN = "https://studio.test"


def browser(studio: Middleware, address: str = "127.0.0.1") -> httpx2.AsyncClient:
    """A client that behaves like a browser: it keeps cookies, and sends Sec-Fetch-Site."""
    return httpx2.AsyncClient(
        transport=TaskTransport(app=studio, client=(address, 1)),
        base_url=ORIGIN,
        headers={"Sec-Fetch-Site": "same-origin", "User-Agent": "a browser of the tests"},
    )


@dataclass
class BrowserSession:
    tenant: factory.Tenant
    person: Person
    role: Role
    client: httpx2.AsyncClient
    mode: str = "live"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.aclose()

    def url(self, rest: str) -> str:
        """`rest` is a path in the mode, unless it begins with a slash."""
        return rest if rest.startswith("/") else self.root() + rest

    def root(self, mode: str | None = None) -> str:
        """The beginning of the addresses of the organization's pages."""
        return root_of(self.tenant.id, mode or self.mode) + "/"

    async def see(self, rest: str, *, status: int = 200) -> str:
        """The text of a page."""
        answer = await self.client.get(self.url(rest))
        assert answer.status_code == status, (answer.status_code, answer.headers.get("location"), answer.text[:2000])
        return answer.text

    async def send(self, rest: str, *, status: Any = 303, files: Any = None, **fields: Any) -> httpx2.Response:
        """Post a form. A change redirects; `follow` loads that page."""
        answer = await self.client.post(self.url(rest), data=fields, files=files)
        assert answer.status_code == status, (answer.status_code, answer.headers.get("location"), answer.text[:2000])
        return answer

    async def follow(self, answer: httpx2.Response) -> str:
        return await self.see(answer.headers["location"])


async def sign_in(
    studio: Middleware,
    tenant: factory.Tenant,
    role: Role = Role.OWNER,
    *,
    mode: str = "live",
    confirmed: bool = True,
    second_factor: bool = True,
) -> BrowserSession:
    """A new person with this role, signed in."""
    async with tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"{new_id()}@example.org", f"The {role.spoken}", at=factory.now())
        await staff.join(tx, tenant.id, person.id, role, by=factory.BY, at=factory.now())
        token = await staff.begin(
            tx, person.id, at=factory.now(), address=None, browser="tests", confirmed=confirmed,
            second_factor=second_factor,
        )  # fmt: skip
    client = browser(studio)
    client.cookies.set(cookies.SESSION, token, domain="studio.test")
    return BrowserSession(tenant, person, role, client, mode)


async def another_person(tenant: factory.Tenant, role: Role) -> UUID:
    async with tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"{new_id()}@example.org", "Somebody else", at=factory.now())
        await staff.join(tx, tenant.id, person.id, role, by=factory.BY, at=factory.now())
    return person.id
