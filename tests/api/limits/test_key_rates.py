"""The operator changes the rate of a key: a process that has the key cached notices it."""

from datetime import timedelta
from uuid import UUID

import pytest

from gatepass.api.state import ApiState
from gatepass.domain import keys
from gatepass.domain.keys import Scope
from tests import factory
from tests.factory import Tenant


async def choose(tenant: Tenant, key_id: UUID, per_second: int | None, burst: int | None) -> None:
    async with tenant.db.transaction() as tx:
        found = await keys.key_of_operator(tx, key_id)
        await keys.choose_rate(tx, found, per_second, burst, by="operator", at=factory.now())


@pytest.mark.parametrize(("per_second", "burst"), [(7, 9), (9_000, 9_000), (None, None)])
async def test_a_cached_key_is_read_again_after_a_minute_of_use(
    tenant: Tenant, database_url: str, per_second: int | None, burst: int | None
) -> None:
    key, at = await tenant.key(Scope.TICKETS_ACTIVATE), factory.now()
    state = ApiState(factory.settings(database_url))
    bearer = f"Bearer {key.text}"
    try:
        caller = await state.api_keys.load(bearer, None, at)
        state.request_log.use(caller, at, None)
        await choose(tenant, key.id, per_second, burst)
        state.request_log.use(caller, at + timedelta(seconds=59), None)
        assert state.api_keys.cached(bearer, None) is caller, "it is compared once a minute"
        state.request_log.use(caller, at + timedelta(seconds=60), None)
    finally:
        await state.close()
    assert state.api_keys.cached(bearer, None) is None
    async with tenant.db.autocommit() as tx:
        again = await keys.authenticate(tx, key.text, None, at=at)
    assert (again.rate_per_second, again.burst) == (per_second, burst)


async def test_a_key_whose_rate_is_the_same_stays_cached(tenant: Tenant, database_url: str) -> None:
    key, at = await tenant.key(Scope.TICKETS_ACTIVATE), factory.now()
    state = ApiState(factory.settings(database_url))
    try:
        caller = await state.api_keys.load(f"Bearer {key.text}", None, at)
        state.request_log.use(caller, at, None)
    finally:
        await state.close()
    assert state.api_keys.cached(f"Bearer {key.text}", None) is caller


async def test_what_the_operator_chose_is_in_the_audit_log(tenant: Tenant) -> None:
    key = await tenant.key(rate=None)
    await choose(tenant, key.id, 7, 9)
    async with tenant.db.autocommit() as tx:
        (entry,) = await tx.rows(
            "SELECT actor, was, becomes FROM audit_log WHERE organization_id = $1 AND action = 'rate_chosen'", tenant.id
        )
    assert tuple(entry) == ("operator", "100 a second, burst 200", "7 a second, burst 9")
