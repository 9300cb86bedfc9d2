"""A browser over the wire: a session cookie, an address, and the log lines of the server that it caused."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import UUID

import httpx2

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Person, Role
from gatepass.studio.web import cookies
from tests import factory
from tests.faults.gates import wait_for
from tests.processes import CERTIFICATES, GatepassProcess

_addresses = count(1)


def fresh_address() -> str:
    """Lines are bounded by address, so each attempt has one of its own."""
    number = next(_addresses)
    return f"198.18.{number // 250}.{number % 250 + 1}"


@dataclass
class StudioClient:
    """`http://` sends no `__Host-` cookie, so the session is kept here."""

    server: GatepassProcess
    http: httpx2.AsyncClient
    address: str
    session: str | None = None
    browser: str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

    async def request(
        self, method: str, path: str, *, headers: dict[str, str] | None = None, **options: Any
    ) -> httpx2.Response:
        sent = {"Sec-Fetch-Site": "same-origin", "X-Forwarded-For": self.address, "User-Agent": self.browser}
        if self.session:
            sent["Cookie"] = f"{cookies.SESSION}={self.session}"
        answer = await self.http.request(method, path, headers={**sent, **(headers or {})}, **options)
        for line in answer.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            if name == cookies.SESSION:
                self.session = value.strip('"') or None
        return answer

    async def get(self, path: str, **options: Any) -> httpx2.Response:
        return await self.request("GET", path, **options)

    async def first_message(self, path: str) -> str:
        """Of a stream of events, up to the end of the first that has data; of any other answer, all of it."""
        headers = {"X-Forwarded-For": self.address, "Cookie": f"{cookies.SESSION}={self.session}"}
        read = ""
        async with self.http.stream("GET", path, headers=headers) as answer:
            async for line in answer.aiter_lines():
                read += line + "\n"
                if line.startswith("data:"):
                    break
        return read

    async def post(self, path: str, **options: Any) -> httpx2.Response:
        return await self.request("POST", path, **options)

    def lines(self) -> list[dict[str, Any]]:
        """The lines of the server's log that name this client's address."""
        return [line for line in entries(self.server.lines) if line.get("address") == self.address]

    async def line(self, name: str, **fields: Any) -> dict[str, Any]:
        """The first line with this name and these fields, once it is there."""
        return await line_in(self.server, name, address=self.address, **fields)


async def line_in(server: GatepassProcess, name: str, **fields: Any) -> dict[str, Any]:
    def matching() -> list[dict[str, Any]]:
        wanted = {"event": name, **fields}
        return [line for line in entries(server.lines) if wanted.items() <= line.items()]

    async def is_there() -> bool:
        return bool(matching())

    await wait_for(is_there)
    return matching()[0]


def entries(lines: list[str]) -> list[dict[str, Any]]:
    """Each line of the log as JSON; a forged line would be none, or would have no `timestamp`."""
    found = [json.loads(line) for line in list(lines) if not line.startswith("Gatepass ")]
    assert all("timestamp" in line and "level" in line for line in found)
    return found


def browser(
    server: GatepassProcess, session: str | None = None, *, timeout: float = 60, **headers: str
) -> httpx2.AsyncClient:
    """A plain client that sends what our own page would; it keeps no session that it is given."""
    sent = {"Sec-Fetch-Site": "same-origin", **headers}
    if session is not None:
        sent["Cookie"] = f"{cookies.SESSION}={session}"
    return httpx2.AsyncClient(base_url=server.url, headers=sent, timeout=timeout, verify=CERTIFICATES)


@asynccontextmanager
async def visiting(server: GatepassProcess, session: str | None = None) -> AsyncGenerator[StudioClient]:
    async with httpx2.AsyncClient(base_url=server.url, timeout=60, verify=CERTIFICATES) as http:
        yield StudioClient(server, http, fresh_address(), session)


async def member(tenant: factory.Tenant, role: Role = Role.OWNER, *, second_factor: bool = True) -> tuple[Person, str]:
    """A new person with this role, and a confirmed session of theirs."""
    async with tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"{new_id()}@example.org", f"The {role.spoken}", at=factory.now())
        await staff.join(tx, tenant.id, person.id, role, by=factory.BY, at=factory.now())
        token = await staff.begin(
            tx, person.id, at=factory.now(), address=None, browser="tests", second_factor=second_factor
        )
    return person, token


async def session_token(tenant: factory.Tenant) -> str:
    """The session of a new owner."""
    _, token = await member(tenant)
    return token


async def audited(tenant: factory.Tenant, person_id: UUID) -> list[dict[str, Any]]:
    """The security events of this person in the audit log, the oldest first."""
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows(
            "SELECT actor, action, becomes, reason, host(address) AS address FROM audit_log"
            " WHERE organization_id = $1 AND subject = 'person' AND subject_id = $2 ORDER BY at, id",
            tenant.id,
            person_id,
        )
    return [dict(row) for row in rows]
