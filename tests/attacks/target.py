"""The organization that attacks and the one that is to suffer, on one running server."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx2

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain.keys import Mode
from gatepass.studio.services.templates import root_of
from tests import factory
from tests.attacks.studio_client import browser, session_token
from tests.factory import Tenant
from tests.processes import GatepassProcess
from tests.scan_probe import ScanProbe

# The sandbox has one event.
SANDBOX_EVENT = "00000000-0000-0000-0000-00000000e7e7"


@dataclass
class Target:
    """`session` is the cookie of the attacker's owner; the keys have rates that are never reached."""

    server: GatepassProcess
    tenant: Tenant
    session: str
    key: str
    sandbox_key: str
    other: Tenant
    other_key: str
    other_card: str

    def studio(self) -> httpx2.AsyncClient:
        """A client that is signed in as the owner."""
        return browser(self.server, self.session, timeout=120)

    def api(self, *, sandbox: bool = False) -> httpx2.AsyncClient:
        return self.server.client(self.sandbox_key if sandbox else self.key)

    def page(self, rest: str) -> str:
        return f"{root_of(self.tenant.id, Mode.LIVE)}/{rest}"

    def event_page(self, rest: str = "", event_id: UUID | None = None) -> str:
        return self.page(f"events/{event_id or self.tenant.event_id}{rest}")

    def probe(self, server: GatepassProcess | None = None) -> ScanProbe:
        """A gate of the other organization."""
        return ScanProbe((server or self.server).port, self.other_key, self.other.event_id, self.other_card)

    async def upload(self, client: httpx2.AsyncClient, content: Any, *, name: str = "guests.csv") -> httpx2.Response:
        files = {"file": (name, content, "text/csv")}
        path = self.page(f"events/{self.tenant.event_id}/imports")
        return await client.post(path, data={"upload_key": str(new_id())}, files=files)


async def make_target(db: Database, server: GatepassProcess) -> Target:
    tenant, other = await factory.tenant(db), await factory.tenant(db)
    key = await tenant.key(rate=1_000_000)
    sandbox_key = await tenant.key(mode=Mode.SANDBOX, rate=1_000_000)
    other_key = await other.key(rate=1_000_000)
    session = await session_token(tenant)
    card = await other.card()
    return Target(server, tenant, session, key.text, sandbox_key.text, other, other_key.text, card.number)
