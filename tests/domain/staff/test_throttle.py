"""Backoff after failures: it grows, all processes share it, it ends, and it does not disclose who has an account."""

import asyncio
import subprocess
import sys
from datetime import timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

import pytest

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain.staff import throttle
from gatepass.domain.staff.throttle import ADDRESS_BACKOFF, PERSON_BACKOFF, MustWait
from tests.domain.staff.conftest import NOON, later

FIRST_WAITS: Final = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


def anybody() -> str:
    return f"{new_id().hex}@example.org"


def anywhere() -> IPv4Address:
    return IPv4Address(int(new_id().hex[-8:], 16))


async def attempt(db: Database, email: str, at=NOON, address: IPv4Address | IPv6Address | None = None) -> int:
    """Try once; the wait in seconds if it was refused, 0 if it was counted."""
    try:
        async with db.transaction(address) as tx:
            await throttle.count_try(tx, throttle.password_of(email), at=at)
    except MustWait as wait:
        return wait.retry_after or -1
    return 0


async def test_a_few_tries_then_waits_that_double_up_to_five_minutes(db: Database) -> None:
    email, at, waits = anybody(), NOON, []
    for _ in range(PERSON_BACKOFF.free):
        assert await attempt(db, email, at) == 0
    for _ in FIRST_WAITS:
        wait = await attempt(db, email, at)
        waits.append(wait)
        at += timedelta(seconds=wait)
        assert await attempt(db, email, at) == 0
    assert waits == FIRST_WAITS


async def test_knocking_meanwhile_makes_it_no_longer(db: Database) -> None:
    email = anybody()
    for _ in range(PERSON_BACKOFF.free):
        await attempt(db, email)
    for _ in range(20):
        assert await attempt(db, email) == 1
    assert await attempt(db, email, later(seconds=1)) == 0


async def test_whoever_is_right_is_forgiven(db: Database) -> None:
    email, address = anybody(), anywhere()
    for _ in range(PERSON_BACKOFF.free):
        await attempt(db, email, address=address)
    async with db.transaction(address) as tx:
        await throttle.reset(tx, throttle.password_of(email))
    for _ in range(PERSON_BACKOFF.free):
        assert await attempt(db, email, address=address) == 0
    assert await attempt(db, email, address=address) == 1


async def test_a_day_later_it_is_forgotten(db: Database) -> None:
    email = anybody()
    for second in range(PERSON_BACKOFF.free):
        await attempt(db, email, later(seconds=second))
    assert [await attempt(db, email, later(hours=25)) for _ in range(PERSON_BACKOFF.free)] == [0] * PERSON_BACKOFF.free


async def test_an_address_that_tries_many_people_waits_too(db: Database) -> None:
    address = anywhere()
    for _ in range(ADDRESS_BACKOFF.free):
        assert await attempt(db, anybody(), address=address) == 0
    refused = anybody()
    assert await attempt(db, refused, address=address) == 1
    assert await attempt(db, refused, address=anywhere()) == 0, "and what it tried is not counted against the person"


async def test_being_right_once_does_not_clear_an_address(db: Database) -> None:
    """Otherwise the owner of an account could reset the count, and guess at others for ever."""
    address, own = anywhere(), anybody()
    for _ in range(ADDRESS_BACKOFF.free - 1):
        await attempt(db, anybody(), address=address)
    assert await attempt(db, own, address=address) == 0
    async with db.transaction(address) as tx:
        await throttle.reset(tx, throttle.password_of(own))
    assert await attempt(db, anybody(), address=address) == 0
    assert await attempt(db, anybody(), address=address) == 1


async def test_a_household_is_one_address_in_ipv6(db: Database) -> None:
    network = 0x20010DB8 << 96 | int(new_id().hex[-8:], 16) << 64
    for host in range(ADDRESS_BACKOFF.free):
        assert await attempt(db, anybody(), address=ip_address(network + host + 1)) == 0
    assert await attempt(db, anybody(), address=ip_address(network + 99_999)) == 1


async def test_a_hundred_at_once_are_a_hundred(db: Database) -> None:
    email = anybody()
    waits = await asyncio.gather(*[attempt(db, email) for _ in range(12)])
    assert waits.count(0) == PERSON_BACKOFF.free


@pytest.mark.processes
async def test_every_process_counts_together(db: Database, database_url: str) -> None:
    email = anybody()
    processes = [
        subprocess.Popen(  # noqa: ASYNC220  it only starts
            [sys.executable, "-c", TRY_THREE_TIMES, database_url, email], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    let_in = [int(process.communicate(timeout=60)[0]) for process in processes]
    assert sum(let_in) == PERSON_BACKOFF.free
    assert max(let_in) == 3


TRY_THREE_TIMES: Final = """
import asyncio, sys
from datetime import datetime
from gatepass.base.database import Database
from gatepass.domain.staff import throttle

NOON = datetime.fromisoformat("2026-11-15T12:00:00+00:00")

async def attempt(url, email):
    db, let_in = Database(url, connections=1, deadline=20), 0
    for _ in range(3):
        try:
            async with db.transaction() as tx:
                await throttle.count_try(tx, throttle.password_of(email), at=NOON)
            let_in += 1
        except throttle.MustWait:
            pass
    await db.close()
    print(let_in)

asyncio.run(attempt(*sys.argv[1:]))
"""


async def test_codes_are_counted_apart_and_wait_up_to_an_hour(db: Database) -> None:
    subject, at, wait = throttle.code_of(new_id()), NOON, 0
    for _ in range(40):
        try:
            async with db.transaction() as tx:
                await throttle.count_try(tx, subject, at=at)
        except MustWait as refused:
            wait = refused.retry_after or -1
            at += timedelta(seconds=wait)
    assert wait == 3_600


async def test_forgotten_counts_are_cleared_away(db: Database) -> None:
    old = later(days=-400)
    for _ in range(3):
        await attempt(db, anybody(), old)
    await attempt(db, anybody(), later(days=-390))
    async with db.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM failed_try WHERE last_at = $1", old) == 0


@pytest.mark.parametrize(("seconds", "words"), [(1, "1 second"), (119, "119 seconds"), (300, "5 minutes")])
def test_a_wait_is_told_in_words(seconds: int, words: str) -> None:
    assert str(MustWait(seconds)) == f"There were too many failed tries. Try again in {words}."
