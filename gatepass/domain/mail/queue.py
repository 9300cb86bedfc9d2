"""The queue of letters: a worker claims them, sends them without an open transaction, and records what became of them.

A claim is a lease that the worker renews while it sends. The letters of a worker that was killed are due again when
their leases have expired. Nobody knows whether such a letter had left, so it is sent again with the same Message-ID,
and counted as doubtful. The attempt number is the fencing token: a result with an older one changes nothing.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.language import Language
from gatepass.domain.mail.kinds import LetterKind

# A worker renews its leases four times as often: a slow mail server may take minutes to answer.
LEASE: Final = timedelta(seconds=20)
RENEWED_EVERY: Final = 5.0
LONGEST_ANSWER: Final = 500
# Seconds until the next try. Greylisting servers take a letter again after one to five minutes.
PUT_OFF: Final = (60.0, 300.0, 900.0, 1_800.0, 3_600.0, 7_200.0)
# A connection that broke says little about the letter.
DROPPED: Final = (2.0, 10.0, 60.0)


class LetterState(StrEnum):
    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    REFUSED = "refused"
    BOUNCED = "bounced"
    EXPIRED = "expired"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claimed letter. `lapsed`: the lease of an earlier claim has expired, so that it may have been sent.

    `due_seconds` is for how long it had been due: one that is given back keeps its place.
    """

    organization_id: UUID
    id: UUID
    kind: LetterKind
    language: Language
    address: str
    urgent: bool
    sealed_values: bytes
    attempt: int
    tries: int
    written_at: datetime
    expires_at: datetime
    lapsed: bool
    due_seconds: float


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a claimed letter. One that waits is due again after `again` seconds.

    `tried`: the mail server has put it off. `doubtful`: it may have taken it all the same.
    """

    claimed: Claimed
    state: LetterState
    answer: str | None = None
    again: float = 0
    tried: bool = False
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many letters are due, and for how long the first of them has been."""

    due: int
    seconds: float


def again_in(tries: int, *, dropped: bool = False) -> float:
    """Seconds until the next try, up to a fifth more, so that letters put off together do not come back together."""
    delays = DROPPED + PUT_OFF[1:] if dropped else PUT_OFF
    return delays[min(tries, len(delays) - 1)] * (1 + random.random() / 5)  # noqa: S311  not a secret


async def claim(tx: Tx, most: int) -> list[Claimed]:
    """Claim at most so many due letters for LEASE: the urgent ones first."""
    claimed = await tx.all(Claimed, CLAIM, most, LEASE)
    return sorted(claimed, key=lambda one: (not one.urgent, one.written_at, one.id))


async def renew(tx: Tx, claimed: Sequence[Claimed]) -> None:
    await tx.run(RENEW, *_fences(claimed), LEASE)


async def record(tx: Tx, results: Sequence[Result]) -> int:
    """Write results; for how many letters the claim was still valid."""
    return await tx.run(
        RECORD,
        *_fences([result.claimed for result in results]),
        [result.state.value for result in results],
        [_printable(result.answer) for result in results],
        [result.again for result in results],
        [result.tried for result in results],
        [result.doubtful for result in results],
    )


async def waiting(tx: Tx) -> Waiting:
    (row,) = await tx.rows(DUE)
    return Waiting(row["due"], row["seconds"])


def _fences(claimed: Sequence[Claimed]) -> tuple[list[UUID], list[UUID], list[int]]:
    return [one.organization_id for one in claimed], [one.id for one in claimed], [one.attempt for one in claimed]


def _printable(answer: str | None) -> str | None:
    """A mail server may say anything."""
    if answer is None:
        return None
    return "".join(one if one.isprintable() else " " for one in answer)[:LONGEST_ANSWER]


CLAIM: Final = """
    -- every organization: a worker serves all of them
    WITH due AS MATERIALIZED (
        SELECT found.organization_id, found.id, found.state, found.next_at
          FROM (VALUES (true), (false)) AS first (urgent)
         CROSS JOIN LATERAL (SELECT l.organization_id, l.id, l.state, l.next_at
                               FROM letter l
                              WHERE l.urgent = first.urgent
                                AND l.state IN ('waiting', 'sending')
                                AND l.next_at <= now()
                              ORDER BY l.next_at
                              LIMIT $1
                                FOR UPDATE SKIP LOCKED) found
         LIMIT $1
    )
    UPDATE letter l
       SET state = 'sending', attempt = l.attempt + 1, next_at = now() + $2::interval,
           doubtful = l.doubtful + CASE WHEN due.state = 'sending' THEN 1 ELSE 0 END
      FROM due
     WHERE l.organization_id = due.organization_id
       AND l.id = due.id
    RETURNING l.organization_id, l.id, l.kind, l.language, l.address, l.urgent, l.sealed_values, l.attempt, l.tries,
              l.written_at, l.expires_at, due.state = 'sending' AS lapsed,
              extract(epoch FROM now() - due.next_at)::float8 AS due_seconds
"""

RENEW: Final = """
    UPDATE letter l
       SET next_at = now() + $4::interval
      FROM unnest($1::uuid[], $2::uuid[], $3::integer[]) AS n (organization_id, id, attempt)
     WHERE l.organization_id = n.organization_id
       AND l.id = n.id
       AND l.attempt = n.attempt
       AND l.state = 'sending'
"""

# A letter of a mailing that was stopped is not tried again.
RECORD: Final = """
    UPDATE letter l
       SET state = became.state,
           answer = coalesce(n.answer, l.answer),
           next_at = now() + make_interval(secs => n.again),
           tries = l.tries + n.tried::integer,
           doubtful = l.doubtful + n.doubtful::integer,
           ended_at = CASE WHEN became.state = 'waiting' THEN NULL ELSE now() END,
           sealed_values = CASE WHEN became.state = 'waiting' THEN l.sealed_values ELSE '' END
      FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[], $5::text[], $6::float8[], $7::boolean[],
                  $8::boolean[]) AS n (organization_id, id, attempt, state, answer, again, tried, doubtful)
     CROSS JOIN LATERAL (SELECT CASE WHEN n.state = 'waiting'
                                      AND EXISTS (SELECT FROM letter w
                                                    JOIN mailing m ON m.organization_id = w.organization_id
                                                                  AND m.id = w.mailing_id
                                                   WHERE w.organization_id = n.organization_id
                                                     AND w.id = n.id
                                                     AND m.state = 'stopped')
                                     THEN 'stopped' ELSE n.state END AS state) became
     WHERE l.organization_id = n.organization_id
       AND l.id = n.id
       AND l.attempt = n.attempt
       AND l.state = 'sending'
"""

DUE: Final = """
    -- every organization: a worker serves all of them
    SELECT count(*) AS due, coalesce(extract(epoch FROM now() - min(next_at)), 0)::float8 AS seconds
      FROM letter
     WHERE state = 'waiting'
       AND next_at <= now()
"""
