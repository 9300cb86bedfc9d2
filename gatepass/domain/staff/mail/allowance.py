"""How many letters go to one address, and how many one network may ask for: nobody uses us to fill somebody's mailbox.

Letters are counted before it is known whether there is an account, so that a refusal discloses nothing. Each count is
one row that a conditional UPDATE raises, so a thousand requests at once get no more than one after another. A request
that is refused counts nothing, and no refusal lasts longer than its window.
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

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
# How many old counts each request deletes: more than it can add, so that the table stays small.
CLEARED_AT_ONCE: Final = 10


class TooManyLetters(Refusal):
    """There were too many letters already."""

    code = "too_many_letters"

    def __init__(self, seconds: int) -> None:
        minutes = -(-seconds // 60)
        super().__init__(
            "There were several letters already. Look into the mailbox, also where unwanted mail is kept, or ask again "
            f"in {minutes} minute{'' if minutes == 1 else 's'}.",
            param="email",
        )
        self.retry_after = seconds


@dataclass(frozen=True, slots=True)
class _Count:
    subject: bytes
    most: int
    window: timedelta


async def take_for_sign_in(tx: Tx, email: str, *, at: datetime) -> None:
    """Before a letter that anybody may ask for. Three an hour are enough for whoever does not find the first."""
    address = folded(email)
    counts = [_count("sign in", address, most=3, window=HOUR), _count("sign in", address, most=10, window=DAY)]
    await _take(tx, [*counts, *_network(tx)], at)


async def take_for_proof(tx: Tx, email: str, *, person_id: UUID, at: datetime) -> None:
    """Before a letter that proves an address, which a person may mistype. One person reaches few addresses a day."""
    counts = [
        _count("proof", folded(email), most=3, window=HOUR),
        _count("proof", folded(email), most=6, window=DAY),
        _count("proof by", str(person_id), most=10, window=DAY),
    ]
    await _take(tx, counts, at)


async def take_for_invitation(tx: Tx, organization_id: UUID, email: str, *, at: datetime) -> None:
    """Before an invitation. Most of it is counted for each organization: none can keep another from inviting somebody.

    The bound over all of them is what one address gets on the worst day.
    """
    address = folded(email)
    counts = [
        _count("invitation", f"{organization_id} {address}", most=3, window=HOUR),
        _count("invitation", f"{organization_id} {address}", most=6, window=DAY),
        _count("any invitation", address, most=30, window=DAY),
    ]
    await _take(tx, counts, at)


async def _take(tx: Tx, counts: list[_Count], at: datetime) -> None:
    """Always in the same order, the network last, so that two requests cannot deadlock."""
    await tx.run(CLEAR, at, CLEARED_AT_ONCE)
    for one in counts:
        if await tx.value(TAKE, one.subject, at, at + one.window, one.most) is None:
            ends_at: datetime = await tx.value(ENDS_AT, one.subject) or at
            raise TooManyLetters(max(1, -int((at - ends_at).total_seconds() // 1)))


def _network(tx: Tx) -> list[_Count]:
    """An office shares one address, and on the first morning everybody there has forgotten their password."""
    return [_count("network", network_of(tx.address), most=20, window=HOUR)] if tx.address else []


def _count(kind: str, text: str, *, most: int, window: timedelta) -> _Count:
    named = f"mail {kind} {int(window.total_seconds())} {text}"
    return _Count(hashlib.sha256(named.encode(errors="replace")).digest(), most, window)


TAKE: Final = """
    INSERT INTO mail_allowance AS a (subject, began_at, ends_at, letters)
    VALUES ($1, $2, $3, 1)
    ON CONFLICT (subject) DO UPDATE
       SET letters = CASE WHEN a.ends_at <= $2 THEN 1 ELSE a.letters + 1 END,
           began_at = CASE WHEN a.ends_at <= $2 THEN $2 ELSE a.began_at END,
           ends_at = CASE WHEN a.ends_at <= $2 THEN $3 ELSE a.ends_at END
     WHERE a.ends_at <= $2
        OR a.letters < $4
    RETURNING letters
"""

ENDS_AT: Final = """
    SELECT ends_at
      FROM mail_allowance
     WHERE subject = $1
"""

CLEAR: Final = """
    DELETE FROM mail_allowance
     WHERE subject = ANY (ARRAY(SELECT subject FROM mail_allowance WHERE ends_at < $1 ORDER BY ends_at LIMIT $2
                                   FOR UPDATE SKIP LOCKED))
"""
