"""A real `gatepass serve`, the organization that attacks it, and the one that must not notice."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from gatepass.domain import maintenance
from tests import factory
from tests.attacks.target import Target, make_target
from tests.fuzz.corpus import Facts
from tests.postgres import free_port, start_cluster
from tests.processes import GatepassProcess, memory, serve


@dataclass
class Stack:
    server: GatepassProcess
    target: Target
    facts: Facts

    @property
    def memory(self) -> float:
        return memory(self.server)

    async def good_scan(self) -> tuple[int, str]:
        """The answer to a scan as it should be, of a new card each time."""
        card = await self.target.other.card()
        async with self.server.client(self.target.other_key) as gate:
            body = {"event_id": str(self.target.other.event_id), "card_number": card.number}
            answer = await gate.post("/scan", json=body)
        return answer.status_code, answer.json()["data"]["category_name"]


@asynccontextmanager
async def running_stack() -> AsyncGenerator[Stack]:
    cluster = start_cluster()
    try:
        url = cluster.create_migrated("fuzz")
        db = factory.database(url, connections=4, deadline=60)
        await maintenance.run_due(db, at=factory.now())
        server = serve(
            {
                "GATEPASS_DATABASE_URL": url,
                "GATEPASS_ENCRYPTION_KEYS": factory.KEY,
                "GATEPASS_METRICS_PORT": "0",
                "GATEPASS_LOG_LEVEL": "error",
                # Each request comes from an address of its own, so that no limit hides what is behind it.
                "GATEPASS_TRUSTED_PROXIES": "127.0.0.1",
            },
            free_port(),
        )
        try:
            target = await make_target(db, server)
            yield Stack(server, target, await _facts(target))
        finally:
            server.stop()
            await db.close()
    finally:
        cluster.stop()


async def _facts(target: Target) -> Facts:
    tenant = target.tenant
    card = await tenant.card()
    webhook_id, _ = await tenant.endpoint("https://example.com/hook")
    await tenant.event(starts_in=timedelta(days=2))
    async with target.api() as client:
        cursor = (await client.get("/events", params={"limit": 1})).json()["next_cursor"]
    return Facts(
        port=target.server.port,
        key=target.key,
        sandbox_key=target.sandbox_key,
        session=target.session,
        organization_id=str(target.tenant.id),
        event_id=str(tenant.event_id),
        category_id=str(tenant.category_id),
        card_id=str(card.id),
        card_number=card.number,
        token=tenant.token(card, valid_for=timedelta(days=30)),
        webhook_id=str(webhook_id),
        cursor=cursor,
    )
