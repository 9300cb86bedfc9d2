"""Signing keys: one signs, several verify, and one is always left."""

import pytest

from gatepass.base.errors import NotAllowedFromHere
from gatepass.base.ids import new_id
from gatepass.domain import cards
from gatepass.domain.cards import signing_keys
from tests import factory
from tests.factory import Tenant


async def test_keys_are_shown_newest_first_without_their_secret(tenant: Tenant) -> None:
    async with tenant.db.transaction() as tx:
        newer = await cards.rotate(tx, tenant.id, factory.VAULT, by="ada", at=factory.now())
        (first, second) = await cards.signing_keys_of(tx, tenant.id)
        assert first.id == newer
        await cards.retire(tx, tenant.id, second.id, by="ada", at=factory.now(), reason="old")
        shown = await cards.signing_keys_of(tx, tenant.id)
    assert [key.retired_at is None for key in shown] == [True, False]
    assert all(len(key.public_key) == 32 for key in shown)


async def test_the_last_key_stays(tenant: Tenant) -> None:
    async with tenant.db.autocommit() as tx:
        (only,) = await cards.signing_keys_of(tx, tenant.id)
    with pytest.raises(NotAllowedFromHere):
        async with tenant.db.transaction() as tx:
            await cards.retire(tx, tenant.id, only.id, by="ada", at=factory.now(), reason="leaked")
    async with tenant.db.autocommit() as tx:
        assert [key.id for key in await cards.verifying_keys(tx, tenant.id)] == [only.id]


async def test_a_gate_never_has_to_try_too_many(tenant: Tenant) -> None:
    async with tenant.db.transaction() as tx:
        for _ in range(signing_keys.MOST_VERIFYING - 1):
            await cards.rotate(tx, tenant.id, factory.VAULT, by="ada", at=factory.now())
        with pytest.raises(NotAllowedFromHere):
            await cards.rotate(tx, tenant.id, factory.VAULT, by="ada", at=factory.now())


async def test_another_organizations_key_is_not_retired(tenant: Tenant) -> None:
    other = await factory.tenant(tenant.db)
    async with tenant.db.transaction() as tx:
        (theirs,) = await cards.signing_keys_of(tx, other.id)
        for key_id in (theirs.id, new_id()):
            with pytest.raises(cards.NoSigningKey):
                await cards.retire(tx, tenant.id, key_id, by="eve", at=factory.now(), reason="mine")
