"""A key that is revoked, has expired, or calls from elsewhere is refused by the very next request to every process."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from itertools import count

import httpx2
import pytest

from gatepass.domain import keys
from gatepass.domain.keys import IssuedKey, Mode
from tests import make
from tests.api.endpoints import ALL, ENDPOINTS
from tests.faults.conftest import Pair
from tests.faults.gates import client_of, wait_for
from tests.make import House

# Failed calls are counted by address, and too many are told so; each test calls from its own.
_addresses = count(2)


@asynccontextmanager
async def doors(pair: Pair, key: str, address: str | None = None) -> AsyncGenerator[list[httpx2.AsyncClient]]:
    """A client for each process, with the same key."""
    address = address or f"127.0.7.{next(_addresses)}"
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(client_of(serving, key, address=address)) for serving in pair]


async def revoke(house: House, key: IssuedKey) -> None:
    async with house.db.transaction() as tx:
        await keys.revoke(tx, house.id, key.id, by=make.BY, at=make.now())


def assert_refused(answer: httpx2.Response) -> None:
    assert answer.status_code == 401, answer.text
    assert answer.json()["code"] == "invalid_key"
    assert "RateLimit" not in answer.headers


@pytest.mark.parametrize("mode", Mode)
async def test_a_revoked_key_is_refused_everywhere(pair: Pair, house: House, mode: Mode) -> None:
    key = await house.key(rate=None, mode=mode)
    async with doors(pair, key.text) as clients:
        for endpoint in ALL:
            assert [(await endpoint.call(client)).status_code for client in clients].count(401) == 0
        await revoke(house, key)
        for endpoint in ALL:
            for client in clients:
                assert_refused(await endpoint.call(client))


async def test_nothing_is_remembered_of_a_key(pair: Pair, house: House) -> None:
    """Fifty times: a key is issued, works at both doors, is revoked, and works at neither."""
    async with doors(pair, "a key in each call") as clients:
        for n in range(50):
            endpoint, key = ENDPOINTS[n % len(ENDPOINTS)], await house.key(rate=None)
            headers = {"Authorization": f"Bearer {key.text}"}
            before = await asyncio.gather(*(endpoint.call(client, headers=headers) for client in clients))
            await revoke(house, key)
            after = await asyncio.gather(*(endpoint.call(client, headers=headers) for client in clients))
            assert 401 not in {answer.status_code for answer in before}
            for answer in after:
                assert_refused(answer)


async def test_a_key_is_refused_once_it_has_expired(pair: Pair, house: House) -> None:
    key = await house.key(rate=None, expires_at=make.now() + timedelta(seconds=1))
    over = await house.key(rate=None, expires_at=make.now())
    async with doors(pair, key.text) as clients:
        assert [(await client.get("/events")).status_code for client in clients] == [200, 200]

        async def has_expired() -> bool:
            return 401 in [(await client.get("/events")).status_code for client in clients]

        await wait_for(has_expired, within=3)
        for client in clients:
            assert_refused(await client.get("/events"))
    async with doors(pair, over.text) as clients:
        for endpoint in ALL:
            for client in clients:
                assert_refused(await endpoint.call(client))


async def test_a_key_works_only_from_its_networks(pair: Pair, house: House) -> None:
    key = await house.key(rate=None, networks="127.0.9.0/24")
    async with doors(pair, key.text, "127.0.9.1") as inside, doors(pair, key.text, "127.0.10.1") as outside:
        for endpoint in ALL:
            for client in inside:
                assert (await endpoint.call(client)).status_code != 401
            for client in outside:
                assert_refused(await endpoint.call(client))


async def test_no_proxy_is_believed_that_was_not_named(pair: Pair, house: House) -> None:
    key = await house.key(rate=None, networks="127.0.9.0/24")
    async with doors(pair, key.text) as clients:
        for client in clients:
            assert_refused(await client.get("/events", headers={"X-Forwarded-For": "127.0.9.1"}))
            assert_refused(await client.get("/events", headers={"Forwarded": "for=127.0.9.1"}))
