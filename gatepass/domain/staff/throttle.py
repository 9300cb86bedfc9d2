"""Exponential backoff after failed tries: per person and per address, shared by every process.

A try is counted before it is checked, so that a thousand concurrent ones count as a thousand, and taken back if it was
right. A try that comes too early is refused and does not count, so nobody can lock a person out by trying. The longest
wait for a password is five minutes, so nobody is locked out for good. E-mail addresses are counted whether they are
known or not, so the response does not disclose it. Passkeys cannot be guessed and are never throttled.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.client_ip import network_of
from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.domain.staff.person import folded


class MustWait(Refusal):
    """There were too many failed tries."""

    code = "must_wait"

    def __init__(self, seconds: int) -> None:
        super().__init__(f"There were too many failed tries. Try again in {_duration(seconds)}.")
        self.retry_after = seconds


@dataclass(frozen=True, slots=True)
class Backoff:
    """`free` tries without a wait; then one second, two, four, up to the longest wait."""

    free: int
    longest: timedelta


@dataclass(frozen=True, slots=True)
class Subject:
    """A person, a code or an address whose tries are counted."""

    hash: bytes
    backoff: Backoff


# A person mistypes a few times. One guess in five minutes is a hundred thousand guesses a year: too few against twelve
# characters, and a bearable wait for a person.
PERSON_BACKOFF: Final = Backoff(free=5, longest=timedelta(minutes=5))
# Three in a million codes are right at any moment, so somebody with the password ends at one guess an hour.
CODE_BACKOFF: Final = Backoff(free=5, longest=timedelta(hours=1))
# An office shares one address.
ADDRESS_BACKOFF: Final = Backoff(free=30, longest=timedelta(minutes=5))
# A count without a failure for this long is forgotten.
FORGOTTEN_AFTER: Final = timedelta(hours=24)
# How many forgotten counts each try deletes: more than it can add, so that the table stays small.
CLEARED_AT_ONCE: Final = 10


def password_of(email: str) -> Subject:
    """All spellings of one address are one subject: it is folded as the account is looked up."""
    return Subject(_hash("person", folded(email)), PERSON_BACKOFF)


def code_of(person_id: UUID) -> Subject:
    return Subject(_hash("code", str(person_id)), CODE_BACKOFF)


async def count_try(tx: Tx, subject: Subject, *, at: datetime) -> None:
    """Count a try before it is checked, or refuse it because it comes too early. Commit this in any case."""
    await tx.run(CLEAR, at - FORGOTTEN_AFTER, CLEARED_AT_ONCE)
    for one in (subject, *_address_of(tx)):
        await _count(tx, one, at)


async def reset(tx: Tx, subject: Subject) -> None:
    """After a right try: delete the failures of this subject, and take this try back from the address."""
    await tx.run(DELETE, subject.hash)
    for one in _address_of(tx):
        await tx.run(TAKE_BACK, one.hash)


async def _count(tx: Tx, subject: Subject, at: datetime) -> None:
    backoff = subject.backoff
    counted = await tx.value(COUNT, subject.hash, at, backoff.free, backoff.longest, at - FORGOTTEN_AFTER)
    if counted is None:
        until: datetime = await tx.value(WAITS_UNTIL, subject.hash) or at
        raise MustWait(max(1, -int((at - until).total_seconds() // 1)))


def _address_of(tx: Tx) -> list[Subject]:
    """The address, always counted after the other subject, so that two tries cannot deadlock."""
    return [Subject(_hash("address", network_of(tx.address)), ADDRESS_BACKOFF)] if tx.address else []


def _hash(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"{kind} {text}".encode(errors="replace")).digest()


def _duration(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} second{'' if seconds == 1 else 's'}"
    return f"{-(-seconds // 60)} minutes"


COUNT: Final = """
    INSERT INTO failed_try AS f (subject, failures, last_at, waits_until)
    VALUES ($1, 1, $2, $2)
    ON CONFLICT (subject) DO UPDATE
       SET failures = CASE WHEN f.last_at < $5 THEN 1 ELSE f.failures + 1 END,
           last_at = $2,
           waits_until = CASE
               WHEN f.last_at < $5 OR f.failures + 1 < $3 THEN $2
               ELSE $2 + least($4::interval, power(2, least(f.failures + 1 - $3, 20)) * interval '1 second')
           END
     WHERE f.waits_until <= $2
    RETURNING failures
"""

WAITS_UNTIL: Final = """
    SELECT waits_until
      FROM failed_try
     WHERE subject = $1
"""

DELETE: Final = """
    DELETE FROM failed_try
     WHERE subject = $1
"""

TAKE_BACK: Final = """
    UPDATE failed_try
       SET failures = greatest(failures - 1, 0), waits_until = last_at
     WHERE subject = $1
"""

CLEAR: Final = """
    DELETE FROM failed_try
     WHERE subject = ANY (ARRAY(SELECT subject FROM failed_try WHERE last_at < $1 ORDER BY last_at LIMIT $2
                                   FOR UPDATE SKIP LOCKED))
"""
