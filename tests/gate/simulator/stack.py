"""The real service on a PostgreSQL of its own, and an organization in which each scenario has an event."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from gatepass.domain import maintenance
from gatepass.domain.keys import Scope
from tests import factory
from tests.factory import Tenant
from tests.gate.simulator.calls import Calls, open_session
from tests.postgres import free_port, start_cluster
from tests.processes import GatepassProcess, serve


@dataclass(frozen=True)
class Stack:
    database_url: str
    tenant: Tenant
    calls: Calls
    reading_key: str
    server: GatepassProcess


@asynccontextmanager
async def started() -> AsyncGenerator[Stack]:
    async with AsyncExitStack() as opened:
        cluster = start_cluster()
        opened.callback(cluster.stop)
        url = cluster.create_migrated("gatepass_gates")
        server = serve(environment(url), free_port())
        opened.callback(server.stop)
        database = factory.database(url, connections=16, deadline=60)
        opened.push_async_callback(database.close)
        await maintenance.run_due(database, at=factory.now())
        tenant = await factory.tenant(database)
        key = await tenant.key(Scope.TICKETS_READ)
        session = await opened.enter_async_context(open_session())
        yield Stack(url, tenant, Calls(session, server.url), key.text, server)


def environment(url: str) -> dict[str, str]:
    return {
        "GATEPASS_DATABASE_URL": url,
        # What is compared is what a call says, not how soon.
        "GATEPASS_DATABASE_DEADLINE": "30",
        "GATEPASS_ENCRYPTION_KEYS": factory.KEY,
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_LOG_LEVEL": "error",
    }
