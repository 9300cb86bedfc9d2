"""Rolling: a new key like the old one, and both are good until the overlap ends."""

from datetime import timedelta
from ipaddress import ip_address

import pytest

from gatepass.base.refusals import NotAllowedFromHere
from gatepass.domain import changes, keys
from gatepass.domain.keys import DURATIONS, Caller, IssuedKey, Mode, Overlap, Scope
from tests import make
from tests.make import House

DAY = timedelta(days=1)
NOW = make.now()
HOME = ip_address("10.1.2.3")


async def rolled(house: House, key: IssuedKey, overlap: Overlap, mode: Mode = Mode.LIVE) -> IssuedKey:
    async with house.db.transaction() as tx:
        return await keys.roll(
            tx, house.id, mode, key.id, overlap=overlap, expires_at=NOW + 90 * DAY, cell="a", by="ada", at=NOW
        )


async def caller(house: House, key: IssuedKey, after: timedelta) -> Caller:
    async with house.db.reading() as tx:
        return await keys.authenticate(tx, key.text, HOME, at=NOW + after)


@pytest.mark.parametrize("overlap", Overlap)
async def test_both_are_good_until_the_overlap_ends(house: House, overlap: Overlap) -> None:
    old = await house.key(Scope.EVENTS_READ, Scope.CARDS_VERIFY, networks="10.0.0.0/8", rate=7)
    new = await rolled(house, old, overlap)
    moment = timedelta(seconds=1)
    if overlap is not Overlap.NONE:
        before = await caller(house, old, DURATIONS[overlap] - moment)
        after = await caller(house, new, DURATIONS[overlap] - moment)
        assert (before.scopes, before.allowed_networks) == (after.scopes, after.allowed_networks)
        assert (before.rate_per_second, before.burst) == (after.rate_per_second, after.burst) == (7, 14)
    with pytest.raises(keys.DeadKey):
        await caller(house, old, DURATIONS[overlap])
    assert (await caller(house, new, 89 * DAY)).key_id == new.id


async def test_each_key_gets_its_change(house: House) -> None:
    old = await house.key()
    new = await rolled(house, old, Overlap.DAY)
    async with house.db.reading() as tx:
        of_old = await changes.of_subject(tx, house.id, old.id)
        of_new = await changes.of_subject(tx, house.id, new.id)
        shown = await keys.find_key(tx, house.id, Mode.LIVE, new.id)
    assert sorted(change.action for change in of_old) == ["issued", "rolled"]
    (change,) = (change for change in of_old if change.action == "rolled")
    assert (change.actor, change.was) == ("ada", "no expiry")
    assert str(new.id) in (change.becomes or "")
    assert [change.action for change in of_new] == ["issued"]
    assert (shown.name, shown.expires_at) == ("test key", NOW + 90 * DAY)


async def test_rolling_never_makes_a_key_live_longer(house: House) -> None:
    soon = NOW + timedelta(hours=2)
    old = await house.key(expires_at=soon)
    await rolled(house, old, Overlap.WEEK)
    async with house.db.reading() as tx:
        assert (await keys.find_key(tx, house.id, Mode.LIVE, old.id)).expires_at == soon


async def test_what_has_ended_is_not_rolled(house: House) -> None:
    expired, revoked = await house.key(expires_at=NOW - DAY), await house.key()
    async with house.db.transaction() as tx:
        await keys.revoke(tx, house.id, revoked.id, by="x", at=NOW)
    for key in (expired, revoked):
        with pytest.raises(NotAllowedFromHere):
            await rolled(house, key, Overlap.DAY)


async def test_another_mode_or_organization_is_not_rolled(house: House) -> None:
    other = await make.house(house.db)
    for key in (await house.key(mode=Mode.SANDBOX), await other.key()):
        with pytest.raises(keys.KeyNotFound):
            await rolled(house, key, Overlap.DAY)
