"""Passwords: what is refused as one, and hashing that neither stalls the loop nor tells who exists.

A password is hashed with no transaction open: it takes a tenth of a second. So signing in goes in three steps, which
the door makes visible: read the hash, compare, write what follows from it.
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
from gatepass.base.refusals import Overloaded, Refusal

T = TypeVar("T")

SHORTEST: Final = 12
# So that nobody makes us hash a novel.
LONGEST_BYTES: Final = 1024
# Argon2id with 46 MiB and two passes: twice what OWASP asks for, and a tenth of a second. One lane, because the gates
# share this machine. A hash says what it was made with, so a change here reaches everybody's at their next sign-in.
HASHER: Final = PasswordHasher(time_cost=2, memory_cost=47_104, parallelism=1, type=Type.ID)
# However many guess, a process gives them one core and 46 MiB, and never its loop.
AT_ONCE: Final = 1
# Some seconds of waiting; who comes after that is told to try again.
MOST_WAITING: Final = 20


class WeakPassword(Refusal):
    """Choose another password."""

    code = "weak_password"


class WrongPassword(Refusal):
    """The password is not right."""

    code = "wrong_password"


@dataclass(frozen=True, slots=True)
class Known:
    """A person's password as we keep it; `hash` is None for somebody who has none."""

    person_id: UUID
    hash: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Compared:
    """Whether it matched, and a new hash to keep if the old one was made with other parameters."""

    matches: bool
    rehashed: str | None = field(default=None, repr=False)


class Passwords:
    """Hashing in threads of its own: a few at once, and a short queue. One for a process; close it."""

    def __init__(self, hasher: PasswordHasher = HASHER, *, at_once: int = AT_ONCE, waiting: int = MOST_WAITING) -> None:
        self._hasher = hasher
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="password")
        self._most = at_once + waiting
        self._inside = 0
        self._decoy: str | None = None

    async def hash(self, password: str) -> str:
        return await self._run(lambda: self._hasher.hash(_canonical(password)))

    async def compare(self, password: str, hash: str | None) -> Compared:
        """Compare. Without a hash it takes as long, and never matches."""
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
        """A hash of nothing that anybody knows, to be compared with when there is none."""
        if self._decoy is None:
            self._decoy = self._hasher.hash(secrets.token_bytes(32))
        return self._decoy


def check(password: str, *, about: Sequence[str] = ()) -> None:
    """Refuse a password that would be guessed; `about` is what people know of its owner."""
    if len(password) < SHORTEST:
        raise WeakPassword(f"Use at least {SHORTEST} characters. A few words that only you would combine do well.")
    if len(_bytes(password)) > LONGEST_BYTES:
        raise WeakPassword(f"Use at most {LONGEST_BYTES} bytes.")
    if _is_guessable(password.casefold(), [word.casefold() for word in about]):
        raise WeakPassword("This one is among the first that somebody would try. Choose another.")


def _is_guessable(password: str, about: Sequence[str]) -> bool:
    letters = "".join(c for c in password if c.isalnum())
    if letters in WORST or len(set(password)) < 5 or password in about:
        return True
    return any(letters.strip("0123456789") == word for word in WORST_WORDS)


def _canonical(password: str) -> bytes:
    """One form for what keyboards write in several. Nothing longer than what could have been set is hashed."""
    return _bytes(unicodedata.normalize("NFKC", password[: LONGEST_BYTES + 1]))[: 4 * LONGEST_BYTES]


def _bytes(password: str) -> bytes:
    return password.encode(errors="surrogatepass")


async def known(tx: Tx, email: str) -> Known | None:
    """The password of whoever has this e-mail address."""
    return await tx.one(Known, KNOWN, email)


async def known_of(tx: Tx, person_id: UUID) -> Known | None:
    return await tx.one(Known, KNOWN_OF, person_id)


async def keep(tx: Tx, person_id: UUID, hash: str, *, at: datetime) -> None:
    """Keep the hash of a new password, or of the same one hashed anew."""
    await tx.run(KEEP, person_id, hash, at)


# Common ones of twelve characters and more, letters and digits only; those that are a word and a number are below.
WORST: Final = frozenset(
    """
    123456789012 1234567890123 12345678901234 123456123456 123123123123 098765432109 012345678901 111222333444
    1q2w3e4r5t6y 1q2w3e4r5t6y7u 1qaz2wsx3edc 1qaz2wsx3edc4rfv qazwsxedcrfv zaq12wsxcde3 q1w2e3r4t5y6 1a2b3c4d5e6f
    qwertyuiopas qwertyuiopasdf qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm asdfghjklzxc asdfghjklzxcvbnm
    qwertyqwerty qwerty123456 qwertyuiop123 azertyuiopqs azertyuiop123 abcdefghijkl abcdefghijklm abcd1234abcd
    abc123abc123 abcabcabcabc aaaabbbbcccc passw0rd1234 p4ssw0rd1234 pa55word1234 password12password
    letmeinletmein changemechangeme trustno1trustno1 correcthorsebatterystaple
    """.split()
)
WORST_WORDS: Final = frozenset(
    """
    password passwordpassword passwort motdepasse contrasena contraseña administrator administrateur admin adminadmin
    administration letmein letmeinnow welcome welcomehome changeme changethis changeit default iloveyou iloveyouforever
    sunshine princess football baseball liverpool superman dragondragon masterkey trustno qwerty qwertyuiop azerty
    azertyuiop abcdef abcdefgh secret secretsecret mysecret mypassword thisismypassword nevergonnagiveyouup gatepass
    gatepassstudio gatepassgatepass studio ticket tickets event events opensesame unknown summer winter spring autumn
    """.split()
)

KNOWN: Final = """
    SELECT p.id AS person_id, w.hash
      FROM person p
      LEFT JOIN password w ON w.person_id = p.id
     WHERE lower(p.email) = lower($1)
"""

KNOWN_OF: Final = """
    SELECT person_id, hash
      FROM password
     WHERE person_id = $1
"""

KEEP: Final = """
    INSERT INTO password (person_id, hash, set_at)
    VALUES ($1, $2, $3)
    ON CONFLICT (person_id) DO UPDATE SET hash = excluded.hash, set_at = excluded.set_at
"""
