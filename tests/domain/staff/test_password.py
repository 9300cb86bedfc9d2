"""Passwords: weak ones are refused, hashes are stored, and nothing discloses who has an account."""

import asyncio
import threading
import time
from typing import Final

import pytest
from argon2 import PasswordHasher

from gatepass.base.database import Database
from gatepass.base.errors import Overloaded
from gatepass.domain.staff import Person, password
from gatepass.domain.staff.password import Compared, Passwords, WeakPassword, check
from tests.domain.staff.conftest import NOON

GOOD: Final = "three brown llamas"
CHEAP: Final = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)

WEAK: Final = [
    "", "short", "eleven char", "password1234", "Password-1234!", "PASSWORD 2026", "123456789012", "qwertyuiopas",
    "aaaaaaaaaaaa", "abababababab", "1q2w3e4r5t6y", "iloveyou123456", "gatepass2026", "Administrator1", "letmein123456",
    "correct horse battery staple", "x" * 1025, "é" * 600, "ada.lovelace@example.org",
]  # fmt: skip


@pytest.mark.parametrize("weak", WEAK)
def test_what_is_refused(weak: str) -> None:
    with pytest.raises(WeakPassword):
        check(weak, about=["Ada Lovelace", "ada.lovelace@example.org"])


@pytest.mark.parametrize("good", [GOOD, "lovelace engine 1843", "пароль-на-каждый-день", "🐐🎺🌲🚲🍋🐙🧦🎈🦉🧊🥁🌵"])
def test_what_is_taken(good: str) -> None:
    check(good, about=["Ada Lovelace"])


async def test_a_password_matches_itself_alone(passwords: Passwords) -> None:
    hash = await passwords.hash(GOOD)
    assert hash.startswith("$argon2id$v=19$m=47104,t=2,p=1$")
    assert await passwords.compare(GOOD, hash) == Compared(matches=True)
    assert await passwords.compare(GOOD + " ", hash) == Compared(matches=False)
    assert await passwords.compare("", hash) == Compared(matches=False)


async def test_however_a_keyboard_writes_it() -> None:
    cheap = Passwords(CHEAP)
    hash = await cheap.hash("café crème brûlée")
    assert (await cheap.compare("cafe\u0301 cre\u0300me bru\u0302le\u0301e", hash)).matches
    cheap.close()


async def test_what_nobody_could_have_set_is_compared_and_does_not_match() -> None:
    cheap = Passwords(CHEAP)
    hash = await cheap.hash(GOOD)
    for odd in ("x" * 5_000_000, "\ud800" * 12, "\0" * 12, GOOD + "\0"):
        assert not (await cheap.compare(odd, hash)).matches
    cheap.close()


async def test_other_parameters_are_replaced_at_the_next_sign_in(passwords: Passwords) -> None:
    old = CHEAP.hash(GOOD)
    compared = await passwords.compare(GOOD, old)
    assert compared.matches
    assert compared.rehashed is not None
    assert await passwords.compare(GOOD, compared.rehashed) == Compared(matches=True)
    assert (await passwords.compare("another one entirely", old)).rehashed is None


async def test_nobody_takes_as_long_as_somebody(passwords: Passwords) -> None:
    """The work is the same: one hash with the same parameters. Times are compared roughly, on a shared machine."""
    hash = await passwords.hash(GOOD)
    await passwords.compare(GOOD, None)
    somebody, nobody = [], []
    for _ in range(5):
        for times, known in ((somebody, hash), (nobody, None)):
            began = time.thread_time()
            async with asyncio.timeout(60):
                cpu = await passwords._run(lambda known=known: _cpu(passwords, known))
            assert time.thread_time() >= began
            times.append(cpu)
    assert 0.5 < min(nobody) / min(somebody) < 2


def _cpu(passwords: Passwords, hash: str | None) -> float:
    began = time.thread_time()
    passwords._compared("a wrong password", hash)
    return time.thread_time() - began


async def test_the_loop_goes_on_while_it_is_hashed(passwords: Passwords) -> None:
    hashing = asyncio.create_task(passwords.hash(GOOD))
    turns = 0
    while not hashing.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 100


async def test_the_loop_goes_on_while_a_new_one_is_checked(passwords: Passwords) -> None:
    """The check is pure Python, so the loop has its turn every few milliseconds only."""
    checking = asyncio.create_task(passwords.hash_new("b7!114b78787bb9{19878$9!917{9b9$", ()))
    turns = 0
    while not checking.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 5
    assert (await checking).startswith("$argon2id$")


async def test_a_weak_new_one_is_not_hashed(passwords: Passwords) -> None:
    with pytest.raises(WeakPassword, match="quickly guessed"):
        await passwords.hash_new("password1234", ())


async def test_a_few_at_once_and_a_short_queue() -> None:
    narrow = Passwords(CHEAP, at_once=1, waiting=2)
    gate = threading.Event()
    three = [asyncio.create_task(narrow._run(gate.wait)) for _ in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(Overloaded):
        await narrow.hash(GOOD)
    gate.set()
    assert await asyncio.gather(*three) == [True] * 3
    assert await narrow.hash(GOOD)
    narrow.close()


async def test_it_is_found_by_the_address_however_written(db: Database, ada: Person) -> None:
    async with db.transaction() as tx:
        assert await password.known(tx, "nobody@example.org") is None
        assert (found := await password.known(tx, ada.email)) is not None
        assert found.hash is None
        await password.keep(tx, ada.id, "a hash", at=NOON)
        await password.keep(tx, ada.id, "another", at=NOON)
        found = await password.known(tx, ada.email.upper())
    assert found is not None
    assert (found.person_id, found.hash) == (ada.id, "another")
    assert "another" not in repr(found)
