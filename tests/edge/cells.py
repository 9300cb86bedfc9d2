"""Two cells behind an edge: each with a database, a process and an organization of its own."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from gatepass.base.settings import BASE_PATH
from gatepass.domain import maintenance
from tests import factory
from tests.edge.proxy import Edge, start_edge
from tests.factory import Tenant
from tests.postgres import Cluster, free_port
from tests.processes import CERTIFICATES, GatepassProcess
from tests.warm.processes import serve

LETTERS = ("a", "b")


@dataclass
class RunningCell:
    letter: str
    server: GatepassProcess
    tenant: Tenant
    key: str


@dataclass
class Cells:
    edge: Edge
    a: RunningCell
    b: RunningCell

    def client(self, key: str | None = None, *, cell: str | None = None) -> httpx2.AsyncClient:
        """A client of the API through the edge, at the host of no cell or of this one."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        headers |= {"Host": self.edge.host(cell)} if cell else {}
        return httpx2.AsyncClient(base_url=self.edge.url + BASE_PATH, headers=headers, timeout=60, verify=CERTIFICATES)

    def browser(self, cell: str | None = None) -> httpx2.AsyncClient:
        """A visitor of a cell's studio, or of the host of no cell."""
        headers = {"Sec-Fetch-Site": "same-origin"} | ({"Host": self.edge.host(cell)} if cell else {})
        return httpx2.AsyncClient(base_url=self.edge.url, headers=headers, timeout=60, verify=CERTIFICATES)


@asynccontextmanager
async def two_cells(cluster: Cluster, folder: Path) -> AsyncGenerator[Cells]:
    port, made = free_port(), list[RunningCell]()
    async with AsyncExitStack() as stack:
        for letter in LETTERS:
            url = cluster.create_migrated(f"gatepass_cell_{letter}")
            db = factory.database(url, connections=4)
            stack.push_async_callback(db.close)
            await maintenance.run_due(db, at=factory.now())
            environment = {
                "GATEPASS_DATABASE_URL": url,
                "GATEPASS_ENCRYPTION_KEYS": factory.KEY,
                "GATEPASS_METRICS_PORT": "0",
                "GATEPASS_CELL": letter,
                "GATEPASS_PUBLIC_URL": f"http://{letter}.localhost:{port}",
                "GATEPASS_TRUSTED_PROXIES": "127.0.0.1",
            }
            server = serve(environment, free_port())
            stack.callback(server.stop)
            tenant = await factory.tenant(db, cell=letter)
            made.append(RunningCell(letter, server, tenant, (await tenant.key()).text))
        edge = start_edge(folder, port, {one.letter: [one.server.port] for one in made})
        stack.callback(edge.stop)
        yield Cells(edge, *made)
