"""One-time codes and recovery codes: each works once, in its time, and only after the first one was typed."""

import asyncio
from base64 import b32decode
from datetime import datetime
from typing import Final

import pytest

from gatepass.base.database import Database
from gatepass.domain import audit_log
from gatepass.domain.staff import Person, one_time_code, recovery_codes
from gatepass.domain.staff.one_time_code import CodesAlreadyOn, WrongCode, code_of, step_of
from tests import factory
from tests.domain.staff.conftest import NOON, later

VAULT: Final = factory.VAULT

# RFC 6238, appendix B, SHA-1; the last six of eight digits.
VECTORS: Final = [
    (59, "287082"), (1111111109, "081804"), (1111111111, "050471"), (1234567890, "005924"), (2000000000, "279037"),
    (20000000000, "353130"),
]  # fmt: skip


@pytest.mark.parametrize(("seconds", "code"), VECTORS)
def test_the_vectors_of_the_rfc(seconds: int, code: str) -> None:
    assert code_of(b"12345678901234567890", seconds // 30) == code


async def enrolled(db: Database, person: Person) -> tuple[bytes, list[str]]:
    """One-time codes turned on at noon: the seed, and the recovery codes."""
    async with db.transaction() as tx:
        begun = await one_time_code.begin_codes(tx, person.id, person.email, VAULT, at=NOON)
        seed = b32decode(begun.seed)
        code = code_of(seed, step_of(NOON))
        codes = await one_time_code.turn_codes_on(tx, person.id, code, VAULT, by=factory.BY, at=NOON)
    return seed, codes


async def accepts(db: Database, person: Person, code: str, at: datetime) -> bool:
    async with db.transaction() as tx:
        return await one_time_code.accept_code(tx, person.id, code, VAULT, at=at)


async def test_nothing_asks_for_a_code_before_the_first_was_typed(db: Database, ada: Person) -> None:
    async with db.transaction() as tx:
        begun = await one_time_code.begin_codes(tx, ada.id, ada.email, VAULT, at=NOON)
        assert not await one_time_code.wants_code(tx, ada.id)
        assert await one_time_code.pending_enrolment(tx, ada.id, ada.email, VAULT) == begun
    assert not await accepts(db, ada, code_of(b32decode(begun.seed), step_of(NOON)), NOON)
    with pytest.raises(WrongCode):
        async with db.transaction() as tx:
            await one_time_code.turn_codes_on(tx, ada.id, "000000", VAULT, by=factory.BY, at=NOON)
    seed, codes = await enrolled(db, ada)
    assert seed != b32decode(begun.seed)
    assert len(set(codes)) == 10
    async with db.transaction() as tx:
        assert await one_time_code.wants_code(tx, ada.id)
        assert await one_time_code.pending_enrolment(tx, ada.id, ada.email, VAULT) is None
        with pytest.raises(CodesAlreadyOn):
            await one_time_code.begin_codes(tx, ada.id, ada.email, VAULT, at=NOON)


async def test_a_code_of_now_is_accepted_once(db: Database, ada: Person) -> None:
    seed, _ = await enrolled(db, ada)
    at = later(minutes=1)
    code = code_of(seed, step_of(at))
    assert await accepts(db, ada, f" {code[:3]} {code[3:]} ", at)
    assert not await accepts(db, ada, code, at)
    assert not await accepts(db, ada, code, later(seconds=75)), "nor in the next step"


async def test_the_code_that_turned_it_on_is_used_up(db: Database, ada: Person) -> None:
    seed, _ = await enrolled(db, ada)
    assert not await accepts(db, ada, code_of(seed, step_of(NOON)), NOON)


async def test_of_two_at_once_one_is_accepted(db: Database, ada: Person) -> None:
    seed, _ = await enrolled(db, ada)
    at = later(minutes=5)
    both = await asyncio.gather(*[accepts(db, ada, code_of(seed, step_of(at)), at) for _ in range(2)])
    assert sorted(both) == [False, True]


@pytest.mark.parametrize(("off", "accepted"), [(-61, False), (-30, True), (0, True), (30, True), (61, False)])
async def test_a_clock_may_be_half_a_minute_off(db: Database, ada: Person, off: int, accepted: bool) -> None:
    seed, _ = await enrolled(db, ada)
    assert await accepts(db, ada, code_of(seed, step_of(later(minutes=9, seconds=off))), later(minutes=9)) is accepted


@pytest.mark.parametrize("odd", ["", "12345", "1234567", "abcdef", "\0" * 6, "١٢٣٤٥٦", "\ud800", "9" * 100_000])
async def test_odd_codes_are_wrong(db: Database, ada: Person, odd: str) -> None:
    await enrolled(db, ada)
    assert not await accepts(db, ada, odd, later(minutes=3))


async def test_the_seed_is_sealed_and_shown_as_a_picture(db: Database, ada: Person) -> None:
    async with db.transaction() as tx:
        begun = await one_time_code.begin_codes(tx, ada.id, ada.email, VAULT, at=NOON)
        row = (await tx.rows("SELECT id, sealed_seed FROM one_time_code WHERE person_id = $1", ada.id))[0]
    assert b32decode(begun.seed) not in row["sealed_seed"]
    # Written out: with another context, seeds that were sealed before would not open.
    assert VAULT.open(row["sealed_seed"], f"one_time_code {ada.id} {row['id']}") == b32decode(begun.seed)
    assert begun.seed not in repr(begun)
    assert (
        begun.address
        == f"otpauth://totp/Gatepass%3A{ada.email.replace('@', '%40')}?secret={begun.seed}&issuer=Gatepass"
    )
    picture = begun.picture()
    assert picture.startswith("<svg ")
    assert "style" not in picture


async def test_a_recovery_code_works_once_however_it_is_typed(db: Database, ada: Person) -> None:
    _, codes = await enrolled(db, ada)
    async with db.transaction() as tx:
        assert not await recovery_codes.accept_recovery_code(tx, ada.id, "aaaa-bbbb-cccc-dddd", at=NOON)
        assert await recovery_codes.accept_recovery_code(tx, ada.id, codes[0].upper().replace("-", " "), at=NOON)
        assert not await recovery_codes.accept_recovery_code(tx, ada.id, codes[0], at=NOON)
        assert await recovery_codes.recovery_codes_left(tx, ada.id) == 9
        again = await recovery_codes.make_recovery_codes(tx, ada.id, by=factory.BY, at=NOON)
        assert not await recovery_codes.accept_recovery_code(tx, ada.id, codes[1], at=NOON)
        assert await recovery_codes.accept_recovery_code(tx, ada.id, again[1], at=NOON)
        kept = await tx.rows("SELECT hash FROM recovery_code WHERE person_id = $1", ada.id)
    assert not {code.encode() for code in again} & {row["hash"] for row in kept}


async def test_one_persons_recovery_code_is_not_anothers(tenant: factory.Tenant, ada: Person) -> None:
    from tests.domain.staff.conftest import hire

    _, codes = await enrolled(tenant.db, ada)
    bob = await hire(tenant.db, tenant.id, name="Bob")
    async with tenant.db.transaction() as tx:
        assert not await recovery_codes.accept_recovery_code(tx, bob.id, codes[0], at=NOON)


async def test_turning_it_off_takes_the_recovery_codes_too(tenant: factory.Tenant, ada: Person) -> None:
    _, codes = await enrolled(tenant.db, ada)
    async with tenant.db.transaction() as tx:
        await one_time_code.turn_codes_off(tx, ada.id, by=factory.BY, at=later(minutes=1))
        assert not await one_time_code.wants_code(tx, ada.id)
        assert not await recovery_codes.accept_recovery_code(tx, ada.id, codes[0], at=NOON)
        noted = await audit_log.of_subject(tx, tenant.id, ada.id)
    assert {change.action for change in noted} >= {"one_time_codes_on", "recovery_codes_made", "one_time_codes_off"}
