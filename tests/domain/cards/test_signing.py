"""Signing keys: one signs, several verify, and never none."""

import pytest

from gatepass.base.ids import new_id
from gatepass.base.refusals import NotAllowedFromHere
from gatepass.domain import cards
from gatepass.domain.cards import signing
from tests import make
from tests.make import House


async def test_keys_are_shown_newest_first_without_their_secret(house: House) -> None:
    async with house.db.transaction() as tx:
        newer = await cards.rotate(tx, house.id, make.VAULT, by="ada", at=make.now())
        (first, second) = await cards.signing_keys_of(tx, house.id)
        assert first.id == newer
        await cards.retire(tx, house.id, second.id, by="ada", at=make.now(), reason="old")
        shown = await cards.signing_keys_of(tx, house.id)
    assert [key.retired_at is None for key in shown] == [True, False]
    assert all(len(key.public_key) == 32 for key in shown)


async def test_the_last_key_stays(house: House) -> None:
    async with house.db.reading() as tx:
        (only,) = await cards.signing_keys_of(tx, house.id)
    with pytest.raises(NotAllowedFromHere):
        async with house.db.transaction() as tx:
            await cards.retire(tx, house.id, only.id, by="ada", at=make.now(), reason="leaked")
    async with house.db.reading() as tx:
        assert [key.id for key in await cards.verifying_keys(tx, house.id)] == [only.id]


async def test_a_gate_never_has_to_try_too_many(house: House) -> None:
    async with house.db.transaction() as tx:
        for _ in range(signing.MOST_VERIFYING - 1):
            await cards.rotate(tx, house.id, make.VAULT, by="ada", at=make.now())
        with pytest.raises(NotAllowedFromHere):
            await cards.rotate(tx, house.id, make.VAULT, by="ada", at=make.now())


async def test_another_organizations_key_is_not_retired(house: House) -> None:
    other = await make.house(house.db)
    async with house.db.transaction() as tx:
        (theirs,) = await cards.signing_keys_of(tx, other.id)
        for key_id in (theirs.id, new_id()):
            with pytest.raises(cards.NoSigningKey):
                await cards.retire(tx, house.id, key_id, by="eve", at=make.now(), reason="mine")
