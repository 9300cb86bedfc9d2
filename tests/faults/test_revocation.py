"""A key that is revoked, has expired, or calls from another network is refused at the next call, by every process."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from itertools import count

import httpx2
import pytest

from gatepass.domain import keys
from gatepass.domain.keys import IssuedKey, Mode
from tests import factory
from tests.api.endpoints import ALL, ENDPOINTS
from tests.factory import Tenant
from tests.faults.conftest import Pair
from tests.faults.gates import client_of, wait_for

# Failed calls are limited by address, so each test calls from its own.
_addresses = count(2)


@asynccontextmanager
async def clients_of(pair: Pair, key: str, address: str | None = None) -> AsyncGenerator[list[httpx2.AsyncClient]]:
    """A client for each process, with the same key."""
    address = address or f"127.0.7.{next(_addresses)}"
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(client_of(server, key, address=address)) for server in pair]


async def revoke(tenant: Tenant, key: IssuedKey) -> None:
    async with tenant.db.transaction() as tx:
        await keys.revoke(tx, tenant.id, key.id, by=factory.BY, at=factory.now())


def assert_refused(answer: httpx2.Response, code: str = "invalid_key") -> None:
    assert answer.status_code == 401, answer.text
    assert answer.json()["code"] == code
    assert "RateLimit" not in answer.headers


@pytest.mark.parametrize("mode", Mode)
async def test_a_revoked_key_is_refused_everywhere(pair: Pair, tenant: Tenant, mode: Mode) -> None:
    key = await tenant.key(rate=None, mode=mode)
    async with clients_of(pair, key.text) as clients:
        for endpoint in ALL:
            assert [(await endpoint.call(client)).status_code for client in clients].count(401) == 0
        await revoke(tenant, key)
        for endpoint in ALL:
            for client in clients:
                assert_refused(await endpoint.call(client))


async def test_nothing_is_remembered_of_a_key(pair: Pair, tenant: Tenant) -> None:
    """Fifty times: a key is issued, works at both processes, is revoked, and works at neither."""
    async with clients_of(pair, "a key in each call") as clients:
        for n in range(50):
            endpoint, key = ENDPOINTS[n % len(ENDPOINTS)], await tenant.key(rate=None)
            headers = {"Authorization": f"Bearer {key.text}"}
            before = await asyncio.gather(*(endpoint.call(client, headers=headers) for client in clients))
            await revoke(tenant, key)
            after = await asyncio.gather(*(endpoint.call(client, headers=headers) for client in clients))
            assert 401 not in {answer.status_code for answer in before}
            for answer in after:
                assert_refused(answer)


async def test_a_key_is_refused_once_it_has_expired(pair: Pair, tenant: Tenant) -> None:
    key = await tenant.key(rate=None, expires_at=factory.now() + timedelta(seconds=1))
    over = await tenant.key(rate=None, expires_at=factory.now())
    async with clients_of(pair, key.text) as clients:
        assert [(await client.get("/events")).status_code for client in clients] == [200, 200]

        async def has_expired() -> bool:
            return 401 in [(await client.get("/events")).status_code for client in clients]

        await wait_for(has_expired, within=60)
        for client in clients:
            assert_refused(await client.get("/events"))
    async with clients_of(pair, over.text) as clients:
        for endpoint in ALL:
            for client in clients:
                assert_refused(await endpoint.call(client))


async def test_a_key_works_only_from_its_networks(pair: Pair, tenant: Tenant) -> None:
    key = await tenant.key(rate=None, networks="127.0.9.0/24")
    async with clients_of(pair, key.text, "127.0.9.1") as inside, clients_of(pair, key.text, "127.0.10.1") as outside:
        for endpoint in ALL:
            for client in inside:
                assert (await endpoint.call(client)).status_code != 401
            for client in outside:
                assert_refused(await endpoint.call(client))


async def test_a_proxy_that_is_not_trusted_is_not_believed(pair: Pair, tenant: Tenant) -> None:
    key = await tenant.key(rate=None, networks="127.0.9.0/24")
    async with clients_of(pair, key.text) as clients:
        for client in clients:
            assert_refused(await client.get("/events", headers={"X-Forwarded-For": "127.0.9.1"}))
            assert_refused(await client.get("/events", headers={"Forwarded": "for=127.0.9.1"}))
