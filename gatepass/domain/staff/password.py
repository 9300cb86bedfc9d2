"""Passwords: a check for weak ones, and hashing that neither stalls the event loop nor discloses who has an account.

A password is hashed with no transaction open, because it takes a tenth of a second. So signing in has three steps,
which the studio makes visible: read the hash, compare, write the result.
"""

import asyncio
import secrets
import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeVar
from uuid import UUID

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from gatepass.base.database import Tx
from gatepass.base.errors import Overloaded, Refusal
from gatepass.domain.staff.person import folded
from gatepass.domain.staff.strength import is_guessable

T = TypeVar("T")

SHORTEST: Final = 12
# Bounds the work for one hash.
LONGEST_BYTES: Final = 1024
# Argon2id with 46 MiB and two passes: twice what OWASP asks for, and a tenth of a second. One thread, because the gates
# share this machine. A hash holds its parameters, so a change here reaches each password at the next sign-in.
HASHER: Final = PasswordHasher(time_cost=2, memory_cost=47_104, parallelism=1, type=Type.ID)
# Under any number of guesses a process spends one core and 46 MiB, and never its event loop.
AT_ONCE: Final = 1
# Some seconds of waiting; further calls are refused as overloaded.
MOST_WAITING: Final = 20


GUESSABLE: Final = (
    "This one is quickly guessed: it is on a list of stolen passwords, or near a common word, a date, a keyboard row, "
    "your name or your address. Take three or four words that have nothing to do with each other or with you."
)


class WeakPassword(Refusal):
    """Choose another password."""

    code = "weak_password"


@dataclass(frozen=True, slots=True)
class Known:
    """The stored password of a person; `hash` is None if there is none."""

    person_id: UUID
    hash: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Compared:
    """Whether it matched, and a new hash to store if the old one has other parameters."""

    matches: bool
    rehashed: str | None = field(default=None, repr=False)


class Passwords:
    """Hashing in threads of its own, with a short queue. One for each process; close it."""

    def __init__(self, hasher: PasswordHasher = HASHER, *, at_once: int = AT_ONCE, waiting: int = MOST_WAITING) -> None:
        self._hasher = hasher
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="password")
        self._most = at_once + waiting
        self._inside = 0
        self._decoy: str | None = None

    async def hash_new(self, password: str, about: Sequence[str]) -> str:
        """The hash of a new password; WeakPassword if it is easy to guess. See `check`."""
        return await self._run(lambda: self._hashed_new(password, about))

    async def hash(self, password: str) -> str:
        return await self._run(lambda: self._hasher.hash(_canonical(password)))

    async def compare(self, password: str, hash: str | None) -> Compared:
        """Compare. Without a hash it takes the same time, and never matches."""
        return await self._run(lambda: self._compared(password, hash))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, work: Callable[[], T]) -> T:
        if self._inside >= self._most:
            raise Overloaded
        self._inside += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._inside -= 1

    def _hashed_new(self, password: str, about: Sequence[str]) -> str:
        check(password, about=about)
        return self._hasher.hash(_canonical(password))

    def _compared(self, password: str, hash: str | None) -> Compared:
        if hash is None:
            self._matches(password, self._made_decoy())
            return Compared(matches=False)
        if not self._matches(password, hash):
            return Compared(matches=False)
        stale = self._hasher.check_needs_rehash(hash)
        return Compared(matches=True, rehashed=self._hasher.hash(_canonical(password)) if stale else None)

    def _matches(self, password: str, hash: str) -> bool:
        try:
            return self._hasher.verify(hash, _canonical(password))
        except (VerificationError, InvalidHashError):
            return False

    def _made_decoy(self) -> str:
        """A hash of random bytes, to compare with when there is no hash."""
        if self._decoy is None:
            self._decoy = self._hasher.hash(secrets.token_bytes(32))
        return self._decoy


def check(password: str, *, about: Sequence[str] = ()) -> None:
    """Refuse a password that is easy to guess; `about` is what others know of its owner. It takes up to 0.1 s."""
    if len(password) < SHORTEST:
        raise WeakPassword(f"Use at least {SHORTEST} characters. A few words that only you would combine do well.")
    if len(_bytes(password)) > LONGEST_BYTES:
        raise WeakPassword(f"Use at most {LONGEST_BYTES} bytes.")
    if is_guessable(password, about):
        raise WeakPassword(GUESSABLE)


def _canonical(password: str) -> bytes:
    """One form for texts that keyboards write in several. No text is hashed beyond the longest that could be set."""
    return _bytes(unicodedata.normalize("NFKC", password[: LONGEST_BYTES + 1]))[: 4 * LONGEST_BYTES]


def _bytes(password: str) -> bytes:
    return password.encode(errors="surrogatepass")


async def known(tx: Tx, email: str) -> Known | None:
    """The password of the person with this e-mail address."""
    return await tx.one(Known, KNOWN, folded(email))


async def known_of(tx: Tx, person_id: UUID) -> Known | None:
    return await tx.one(Known, KNOWN_OF, person_id)


async def is_still_set(tx: Tx, known: Known) -> bool:
    """Whether the person still has the password that was compared. It stays so until the transaction ends."""
    return await tx.value(LOCK, known.person_id, known.hash) is not None


async def keep(tx: Tx, person_id: UUID, hash: str, *, at: datetime) -> None:
    """Store the hash of a new password, or a new hash of the same one."""
    await tx.run(KEEP, person_id, hash, at)


KNOWN: Final = """
    SELECT p.id AS person_id, w.hash
      FROM person p
      LEFT JOIN password w ON w.person_id = p.id
     WHERE lower(p.email COLLATE "C") = $1
"""

KNOWN_OF: Final = """
    SELECT person_id, hash
      FROM password
     WHERE person_id = $1
"""

LOCK: Final = """
    SELECT true
      FROM password
     WHERE person_id = $1
       AND hash = $2
       FOR UPDATE
"""

KEEP: Final = """
    INSERT INTO password (person_id, hash, set_at)
    VALUES ($1, $2, $3)
    ON CONFLICT (person_id) DO UPDATE SET hash = excluded.hash, set_at = excluded.set_at
"""
