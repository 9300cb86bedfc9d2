"""Letters are counted: for an address in any spelling, for a network, and one by one when they come at once."""

import asyncio
from datetime import timedelta
from ipaddress import ip_address

import pytest

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain.staff.mail import allowance
from gatepass.domain.staff.mail.allowance import TooManyLetters
from tests import factory
from tests.domain.staff.conftest import NOON, later


async def take(db: Database, email: str, *, address: str | None = None, **delta: float) -> bool:
    try:
        async with db.transaction(ip_address(address) if address else None) as tx:
            await allowance.take_for_sign_in(tx, email, at=later(**delta))
    except TooManyLetters:
        return False
    return True


async def test_three_an_hour_and_ten_a_day_in_any_spelling(db: Database) -> None:
    email = f"{new_id()}@example.org"
    spellings = (email, email.upper(), f" {email} ")
    assert [await take(db, one) for one in (*spellings, email)] == [True, True, True, False]
    counts = [await take(db, email, hours=hour, seconds=1) for hour in range(1, 4) for _ in range(3)]
    assert counts == [True] * 7 + [False] * 2
    assert await take(db, email, hours=24, seconds=2)


async def test_a_network_asks_for_few(db: Database) -> None:
    network = f"2001:db8:{new_id().hex[-4:]}:{new_id().hex[-4:]}::"
    taken = [await take(db, f"{new_id()}@example.org", address=f"{network}{n:x}") for n in range(1, 25)]
    assert sum(taken) == 20
    assert await take(db, f"{new_id()}@example.org", address="2001:db8:ffff:ffff::1")


async def test_a_thousand_at_once_are_counted_one_by_one(db: Database) -> None:
    email = f"{new_id()}@example.org"
    assert sum(await asyncio.gather(*(take(db, email) for _ in range(40)))) == 3


async def test_no_organization_keeps_another_from_inviting(db: Database, tenant: factory.Tenant) -> None:
    email, other = f"{new_id()}@example.org", new_id()
    async with db.transaction() as tx:
        for _ in range(3):
            await allowance.take_for_invitation(tx, tenant.id, email, at=NOON)
        with pytest.raises(TooManyLetters) as refused:
            await allowance.take_for_invitation(tx, tenant.id, email, at=NOON + timedelta(minutes=20))
        assert refused.value.retry_after == 40 * 60
        await allowance.take_for_invitation(tx, other, email, at=NOON)


async def test_old_counts_are_deleted(db: Database) -> None:
    await take(db, f"{new_id()}@example.org")
    for _ in range(60):
        await take(db, f"{new_id()}@example.org", days=400)
    async with db.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM mail_allowance WHERE ends_at < $1", later(days=30)) == 0
