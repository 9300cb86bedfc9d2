"""API keys: their format, and authentication with them."""

import string
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import keys
from gatepass.domain.keys import (
    Caller,
    DeadKey,
    InsufficientScope,
    InvalidKey,
    IssuedKey,
    KeyNotFound,
    Mode,
    Scope,
    WrongCell,
    bearer_key,
    is_well_formed,
    make_key,
    mode_of,
)
from gatepass.domain.keys.key import ALPHABET, digest
from tests import factory

HERE = ip_address("127.0.0.1")

shapes = st.tuples(st.sampled_from(Mode), st.sampled_from(string.ascii_lowercase))


@given(shapes)
def test_a_key_tells_its_mode_and_its_cell(shape: tuple[Mode, str]) -> None:
    mode, cell = shape
    key = make_key(mode, cell)
    assert key[:10] == ("svc_live_" if mode is Mode.LIVE else "svc_test_") + cell
    assert len(key) == 9 + 1 + 30 + 6
    assert is_well_formed(key)
    assert mode_of(key) is mode


def test_every_mistyped_character_is_noticed_without_a_query() -> None:
    key = make_key(Mode.LIVE, "a")
    for place, right in enumerate(key):
        for wrong in (ALPHABET + "_- é\n").replace(right, ""):
            assert not is_well_formed(key[:place] + wrong + key[place + 1 :])


def test_neighbours_that_change_places_are_noticed() -> None:
    key = make_key(Mode.SANDBOX, "z")
    for place in range(len(key) - 1):
        if key[place] != key[place + 1]:
            assert not is_well_formed(key[:place] + key[place + 1] + key[place] + key[place + 2 :])


def test_the_checksum_is_what_notices() -> None:
    """The pattern alone would accept a mistyped key, and every typo would cost a query."""
    key = make_key(Mode.LIVE, "a")
    wrong = key[:20] + ("A" if key[20] != "A" else "B") + key[21:]
    assert len(wrong) == len(key)
    assert set(wrong[10:]) <= set(ALPHABET)
    assert not is_well_formed(wrong)


@given(st.text())
def test_nothing_else_is_a_key(text: str) -> None:
    assert not is_well_formed(text)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_written_as_one_likes(scheme: str) -> None:
    key = make_key(Mode.LIVE, "a")
    assert bearer_key(f"{scheme} {key}", {"a"}) == key


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Basic {}", "{}", "Bearer  {}", "Bearer {} ", "Bearer {}\n"]
)
def test_any_other_header_is_no_key(header: str | None) -> None:
    with pytest.raises(InvalidKey):
        bearer_key(header and header.format(make_key(Mode.LIVE, "a")), {"a"})


@pytest.mark.parametrize("mode", Mode)
def test_a_key_of_another_cell_is_named_as_such(mode: Mode) -> None:
    key = make_key(mode, "b")
    with pytest.raises(WrongCell, match="This API key belongs to cell b, and the call has reached another cell"):
        bearer_key(f"Bearer {key}", {"a", "c"})
    assert bearer_key(f"Bearer {key}", {"a", "b"}) == key, "organizations of cell b have moved here"


def test_admin_implies_every_scope_and_nothing_else_implies_any() -> None:
    for granted in Scope:
        caller = Caller(new_id(), new_id(), Mode.LIVE, frozenset({granted}))
        for wanted in Scope:
            if granted in (wanted, Scope.ADMIN):
                caller.require(wanted)
            else:
                with pytest.raises(InsufficientScope):
                    caller.require(wanted)


async def shown(db: Database, key: IssuedKey, *, address: str = "127.0.0.1", after: timedelta = timedelta()) -> Caller:
    async with db.autocommit() as tx:
        return await keys.authenticate(tx, key.text, ip_address(address), at=factory.now() + after)


async def test_a_key_leads_to_its_organization_and_no_other(tenant: factory.Tenant, db: Database) -> None:
    other = await factory.tenant(db)
    for owner in (tenant, other):
        key = await owner.key(Scope.EVENTS_READ)
        caller = await shown(db, key)
        assert (caller.organization_id, caller.key_id, caller.mode) == (owner.id, key.id, Mode.LIVE)
        assert caller.scopes == {Scope.EVENTS_READ}


async def test_an_unknown_key_is_invalid_and_nobodys(db: Database) -> None:
    with pytest.raises(InvalidKey) as refusal:
        await shown(db, IssuedKey(new_id(), make_key(Mode.LIVE, "a")))
    assert not isinstance(refusal.value, DeadKey)


async def test_a_revoked_key_is_refused_at_once_and_known(tenant: factory.Tenant, db: Database) -> None:
    key = await tenant.key()
    await shown(db, key)
    for _ in range(2):
        async with db.transaction() as tx:
            await keys.revoke(tx, tenant.id, key.id, by=factory.BY, at=factory.now())
    with pytest.raises(DeadKey) as refusal:
        await shown(db, key)
    assert refusal.value.caller
    assert refusal.value.caller.key_id == key.id


async def test_nobody_revokes_the_key_of_another_organization(tenant: factory.Tenant, db: Database) -> None:
    key = await (await factory.tenant(db)).key()
    with pytest.raises(KeyNotFound):
        async with db.transaction() as tx:
            await keys.revoke(tx, tenant.id, key.id, by=factory.BY, at=factory.now())
    await shown(db, key)


async def test_a_key_ends_when_it_expires(tenant: factory.Tenant, db: Database) -> None:
    key = await tenant.key(expires_at=factory.now() + timedelta(hours=1))
    await shown(db, key)
    with pytest.raises(DeadKey):
        await shown(db, key, after=timedelta(hours=1))


@pytest.mark.parametrize(
    ("address", "allowed"),
    [("10.1.2.3", True), ("::ffff:10.1.2.3", True), ("2001:db8::1", True), ("10.2.0.1", False), ("2001:db9::1", False)],
)
async def test_a_key_is_good_only_within_its_networks(
    tenant: factory.Tenant, db: Database, address: str, allowed: bool
) -> None:
    async with db.transaction() as tx:
        key = await keys.issue(
            tx,
            tenant.id,
            "from the venue",
            Mode.LIVE,
            [Scope.ADMIN],
            cell="a",
            by=factory.BY,
            at=factory.now(),
            allowed_networks=[ip_network("10.1.0.0/16"), ip_network("2001:db8::/32")],
        )
    if allowed:
        await shown(db, key, address=address)
    else:
        with pytest.raises(DeadKey):
            await shown(db, key, address=address)


async def test_only_the_hash_of_a_key_is_kept(tenant: factory.Tenant, db: Database) -> None:
    key = await tenant.key()
    async with db.autocommit() as tx:
        (row,) = await tx.rows("SELECT * FROM api_key WHERE organization_id = $1 AND id = $2", tenant.id, key.id)
    assert row["hash"] == digest(key.text)
    assert row["last_four"] == key.text[-4:]
    assert key.text[:-4] not in str(dict(row))


async def test_the_last_use_only_goes_forward(tenant: factory.Tenant, db: Database) -> None:
    key, now = await tenant.key(), factory.now()
    for at in (now, now - timedelta(hours=1)):
        async with db.transaction() as tx:
            await keys.mark_used(tx, {(tenant.id, key.id): (at, HERE)})
    async with db.autocommit() as tx:
        (row,) = await tx.rows(
            "SELECT last_used_at, last_used_from FROM api_key WHERE organization_id = $1 AND id = $2", tenant.id, key.id
        )
    assert (row["last_used_at"], row["last_used_from"]) == (now, HERE)


async def test_a_use_that_another_process_has_just_marked_is_not_written_again(
    tenant: factory.Tenant, db: Database
) -> None:
    key, now = await tenant.key(), factory.now()
    later = [now + timedelta(seconds=seconds) for seconds in (0, 29, 31)]
    found: list[datetime] = []
    for at in later:
        async with db.transaction() as tx:
            await keys.mark_used(tx, {(tenant.id, key.id): (at, HERE)})
            find = "SELECT last_used_at FROM api_key WHERE organization_id = $1 AND id = $2"
            found.append(await tx.value(find, tenant.id, key.id))
    assert found == [now, now, later[2]]
