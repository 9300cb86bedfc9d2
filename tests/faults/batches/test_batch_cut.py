"""A batch whose connection to PostgreSQL is cut at any step: sent again with its key, each item is made once."""

import asyncio
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit
from uuid import uuid4

import httpx2
import pytest

from gatepass.api.app import create_app
from tests import factory
from tests.api.conftest import Api
from tests.api.routes.test_tickets import wish
from tests.factory import Tenant
from tests.postgres_proxy import Proxy

ITEMS = 3
# More than a batch sends to PostgreSQL; the last cut must not be reached, or steps would go untested.
MOST_STEPS = 200


class CuttingProxy(Proxy):
    """Cuts everything when PostgreSQL is sent something for the n-th time; 0 for never."""

    left: int = 0
    postgres: int = 0

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_postgres = writer.get_extra_info("peername")[1] == self.postgres
        while data := await reader.read(65536):
            if to_postgres and self.left:
                self.left -= 1
                if not self.left:
                    self.strike()
                    break
            await self.flowing.wait()
            writer.write(data)
            await writer.drain()
        writer.close()

    def strike(self) -> None:
        self.cut()


@pytest.fixture
async def proxied(database_url: str) -> AsyncGenerator[tuple[Api, CuttingProxy]]:
    proxy = CuttingProxy()
    proxy.postgres = urlsplit(database_url).port or 5432
    async with proxy.running(proxy.postgres):
        settings = factory.settings(proxy.url(database_url), database_deadline=20)
        app = create_app(settings)
        app.state.open()
        yield Api(app, "10.9.9.9"), proxy
        await app.state.close()


async def test_each_item_is_made_once(proxied: tuple[Api, CuttingProxy], tenant: Tenant) -> None:
    api, proxy = proxied
    async with api.client((await tenant.key()).text) as client:
        for step in range(1, MOST_STEPS):
            items = [
                wish(tenant, holder={"email": f"{step}-{n}@example.org"}, external_id=f"{step}-{n}")
                for n in range(ITEMS)
            ]
            proxy.left = step
            answer = await sent(client, items, key := str(uuid4()))
            was_cut, proxy.left = proxy.left == 0, 0
            while answer.status_code == 503:
                answer = await sent(client, items, key)
            assert answer.status_code == 200, answer.text
            assert {result["status"] for result in answer.json()["data"]} == {201}
            assert await counted(tenant) == (step * ITEMS,) * 4
            if not was_cut:
                return
    raise AssertionError("the batch has more steps")


async def sent(client: httpx2.AsyncClient, items: list[dict[str, object]], key: str) -> httpx2.Response:
    return await client.post("/tickets/batch", json={"tickets": items}, headers={"Idempotency-Key": key})


async def counted(tenant: Tenant) -> tuple[int, ...]:
    """Tickets, cards, external ids and the places that are sold."""
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows(COUNT, tenant.id)
    return tuple(rows[0])


COUNT = """
    SELECT (SELECT count(*) FROM ticket WHERE organization_id = $1),
           (SELECT count(*) FROM card WHERE organization_id = $1),
           (SELECT count(*) FROM ticket_reference WHERE organization_id = $1),
           (SELECT sum(quantity_sold) FROM ticket_category WHERE organization_id = $1)
"""
