"""Waiting after failures, longer each time: per person and per address, shared by every process.

A try is counted before it is looked at, so that a thousand at once are a thousand, and taken back when it was right.
A try that comes too early is refused and counts nothing: nobody can keep a person out by knocking. The longest wait is
minutes, so nobody is locked out for good. What is typed is counted, known or not: the answer never tells which.
Passkeys cannot be guessed and are never made to wait.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.refusals import Refusal


class MustWait(Refusal):
    """There were too many failed tries."""

    code = "must_wait"

    def __init__(self, seconds: int) -> None:
        super().__init__(f"There were too many failed tries. Try again in {spoken(seconds)}.")
        self.retry_after = seconds


@dataclass(frozen=True, slots=True)
class Patience:
    """So many tries at once; then one second, two, four, up to the longest wait."""

    free: int
    longest: timedelta


@dataclass(frozen=True, slots=True)
class Subject:
    """What is guessed at, or from where."""

    hash: bytes
    patience: Patience


# A person mistypes a few times. Five minutes a guess are a hundred thousand guesses a year: against twelve characters
# they are nothing, against a person who waits for them they are bearable.
OF_PERSON: Final = Patience(free=5, longest=timedelta(minutes=5))
# Three in a million codes are right at any moment, so whoever has the password gets one guess an hour in the end.
OF_CODE: Final = Patience(free=5, longest=timedelta(hours=1))
# An office shares one address.
OF_ADDRESS: Final = Patience(free=30, longest=timedelta(minutes=5))
# A count without a failure for this long is forgotten.
FORGOTTEN_AFTER: Final = timedelta(hours=24)
# How many forgotten counts one try clears away: more than it can add, so that the table stays small.
CLEARED_AT_ONCE: Final = 10


def password_of(email: str) -> Subject:
    return Subject(_hash("person", email.strip().lower()), OF_PERSON)


def code_of(person_id: UUID) -> Subject:
    return Subject(_hash("code", str(person_id)), OF_CODE)


async def count_try(tx: Tx, subject: Subject, *, at: datetime) -> None:
    """Count a try before it is looked at, or refuse it because it comes too early. Commit this, whatever follows."""
    await tx.run(CLEAR, at - FORGOTTEN_AFTER, CLEARED_AT_ONCE)
    for one in (subject, *_address_of(tx)):
        await _count(tx, one, at)


async def forgive(tx: Tx, subject: Subject) -> None:
    """It was right: forget the failures at this subject, and take this try back from the address."""
    await tx.run(FORGET, subject.hash)
    for one in _address_of(tx):
        await tx.run(TAKE_BACK, one.hash)


async def _count(tx: Tx, subject: Subject, at: datetime) -> None:
    patience = subject.patience
    counted = await tx.value(COUNT, subject.hash, at, patience.free, patience.longest, at - FORGOTTEN_AFTER)
    if counted is None:
        until: datetime = await tx.value(WAITS_UNTIL, subject.hash) or at
        raise MustWait(max(1, -int((at - until).total_seconds() // 1)))


def _address_of(tx: Tx) -> list[Subject]:
    """Counted after the other one, always, so that two tries never wait for each other in a circle."""
    return [Subject(_hash("address", _network(tx.address)), OF_ADDRESS)] if tx.address else []


def _network(address: IPv4Address | IPv6Address) -> str:
    """An IPv6 network is one household; its addresses are as many as anybody likes."""
    return str(ip_network((address, 64), strict=False)) if address.version == 6 else str(address)


def _hash(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"{kind} {text}".encode(errors="replace")).digest()


def spoken(seconds: int) -> str:
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

FORGET: Final = """
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
