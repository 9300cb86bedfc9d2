"""The cache of API keys: calls that come together ask once, and a PostgreSQL that is away makes no key unknown."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from gatepass.api.key_cache import ApiKeyCache
from gatepass.base.database import Database, Tx
from gatepass.base.errors import Unavailable
from gatepass.domain import keys
from gatepass.domain.keys import InvalidKey, Mode, WrongCell, make_key
from tests import factory
from tests.api.conftest import Api, assert_error, scan_body
from tests.postgres import Cluster
from tests.postgres_proxy import Proxy


class CountingDatabase(Database):
    """A database that counts what it is asked."""

    asked = 0

    @asynccontextmanager
    async def autocommit(self, *, writes: bool = False, within: float | None = None) -> AsyncGenerator[Tx, None]:
        self.asked += 1
        async with super().autocommit(writes=writes, within=within) as tx:
            yield tx


@pytest.fixture
async def counting(database_url: str) -> AsyncGenerator[CountingDatabase]:
    database = CountingDatabase(database_url, connections=2)
    yield database
    await database.close()


async def test_a_database_that_is_away_makes_no_key_unknown(
    cluster: Cluster, database_url: str, tenant: factory.Tenant
) -> None:
    proxy, header = Proxy(), f"Bearer {(await tenant.key()).text}"
    async with proxy.running(cluster.port):
        database = factory.database(proxy.url(database_url), deadline=0.3)
        cache = ApiKeyCache(database, {"a"})
        known = await cache.load(header, None, factory.now())
        proxy.freeze()
        with pytest.raises(Unavailable):
            await cache.load(header, None, factory.now())
        assert cache.cached(header, None) == known
        proxy.thaw()
        assert await cache.load(header, None, factory.now()) == known
        await database.close()


async def test_calls_that_come_together_ask_once(counting: CountingDatabase, tenant: factory.Tenant) -> None:
    cache, header = ApiKeyCache(counting, {"a"}), f"Bearer {(await tenant.key()).text}"
    callers = await asyncio.gather(*(cache.load(header, None, factory.now()) for _ in range(100)))
    assert len(set(callers)) == 1
    assert counting.asked <= 2


async def test_different_keys_go_in_one_question(counting: CountingDatabase, tenant: factory.Tenant) -> None:
    cache = ApiKeyCache(counting, {"a"})
    made = [await tenant.key() for _ in range(5)]
    callers = await asyncio.gather(*(cache.load(f"Bearer {key.text}", None, factory.now()) for key in made))
    assert [caller.key_id for caller in callers] == [key.id for key in made]
    assert counting.asked <= 2


async def test_a_call_after_a_revocation_never_takes_an_answer_from_before_it(
    counting: CountingDatabase, tenant: factory.Tenant
) -> None:
    cache, made = ApiKeyCache(counting, {"a"}), await tenant.key()
    header = f"Bearer {made.text}"
    early = asyncio.ensure_future(cache.load(header, None, factory.now()))
    async with tenant.db.transaction() as tx:
        await keys.revoke(tx, tenant.id, made.id, by=factory.BY, at=factory.now())
    with pytest.raises(InvalidKey):
        await cache.load(header, None, factory.now())
    await asyncio.gather(early, return_exceptions=True)
    assert cache.cached(header, None) is None


async def test_a_key_of_another_cell_costs_no_question(counting: CountingDatabase) -> None:
    cache = ApiKeyCache(counting, {"a"})
    with pytest.raises(WrongCell):
        await cache.load(f"Bearer {make_key(Mode.LIVE, 'b')}", None, factory.now())
    assert counting.asked == 0


async def test_keys_that_were_read_ahead_cost_no_question(counting: CountingDatabase, tenant: factory.Tenant) -> None:
    cache, made = ApiKeyCache(counting, {"a"}), await tenant.key()
    async with tenant.db.transaction() as tx:
        await keys.mark_used(tx, {(tenant.id, made.id): (factory.now(), None)})
    await cache.read_ahead()
    caller = cache.cached(f"Bearer {made.text}", None)
    assert caller is not None
    assert caller.key_id == made.id
    assert cache.cached(f"bearer {made.text}", None) is caller
    assert cache.cached(f"Secret {made.text}", None) is None, "no other scheme opens it"
    assert counting.asked == 1


async def test_a_key_that_was_read_ahead_opens_its_own_cell_alone(
    counting: CountingDatabase, tenant: factory.Tenant
) -> None:
    cache, made = ApiKeyCache(counting, {"b"}), await tenant.key()
    await cache.read_ahead()
    for _ in range(2):
        with pytest.raises(WrongCell):
            cache.cached(f"Bearer {made.text}", None)


async def test_a_key_that_was_read_ahead_and_revoked_is_refused(api: Api, tenant: factory.Tenant) -> None:
    made = await tenant.key()
    await api.state.api_keys.read_ahead()
    async with tenant.db.transaction() as tx:
        await keys.revoke(tx, tenant.id, made.id, by=factory.BY, at=factory.now())
    async with api.client(made.text) as client:
        assert_error(await client.post("/scan", json=scan_body(tenant, "SVC-0000-0000-0000")), 401, "invalid_key")
    assert api.state.api_keys.cached(f"Bearer {made.text}", None) is None


async def test_a_database_that_is_away_is_no_reason_not_to_start(cluster: Cluster, database_url: str) -> None:
    proxy = Proxy()
    async with proxy.running(cluster.port):
        proxy.freeze()
        database = factory.database(proxy.url(database_url), deadline=0.3)
        cache = ApiKeyCache(database, {"a"})
        await cache.read_ahead()
        async with cache.reading_ahead():
            pass
        proxy.thaw()
        await database.close()
