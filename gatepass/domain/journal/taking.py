"""Taking entries: each is judged as a scan is, in one transaction for a batch. What was admitted is never refused.

An entry activates a ticket only if `POST /scan` would now. Otherwise what happened at the door opens an incident. An
entry that is sent again gets the result that it had.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import asyncpg
import msgspec

from gatepass.base.database import Tx
from gatepass.domain.journal.reading import ReadEntry

# A row rarely changes between two statements of a batch; three times in a row is a fault of ours.
ATTEMPTS: Final = 3


class Outcome(StrEnum):
    ACTIVATED = "activated"
    RECORDED = "recorded"
    REJECTED = "rejected"


class OpenedIncident(msgspec.Struct, frozen=True):
    id: UUID
    kind: str


class EntryResult(msgspec.Struct, frozen=True):
    """What became of an entry. `code` is that of the refusal that a scan would have got, or of the rejection."""

    outcome: Outcome
    code: str | None
    ticket_id: UUID | None
    incidents: list[OpenedIncident]


async def take(tx: Tx, entries: Sequence[ReadEntry], *, at: datetime) -> list[EntryResult | None]:
    """Take these entries; a result for each, in their order. None: the API key of the device has ended.

    Each statement is a transaction of its own, so `tx` must not be inside one. Entries that share a sequence or a key
    are taken one after the other: the second finds what the first has written.
    """
    results: dict[UUID, EntryResult] = {}
    for some in _apart(entries):
        results |= await _take(tx, some, at)
    return [results.get(entry.id) for entry in entries]


async def _take(tx: Tx, entries: Sequence[ReadEntry], at: datetime) -> dict[UUID, EntryResult]:
    columns = [{"n": n, **msgspec.structs.asdict(entry)} for n, entry in enumerate(entries)]
    text = msgspec.json.encode(columns).decode()
    for attempt in range(1, ATTEMPTS + 1):
        try:
            rows = await tx.rows(TAKE, at, text)
        except (asyncpg.SerializationError, asyncpg.DeadlockDetectedError):
            if attempt == ATTEMPTS:
                raise
        else:
            return {
                row["id"]: EntryResult(
                    Outcome(row["outcome"]), row["code"], row["ticket_id"], INCIDENTS.decode(row["incidents"])
                )
                for row in rows
            }
    raise AssertionError


def _apart(entries: Sequence[ReadEntry]) -> Iterable[list[ReadEntry]]:
    """The entries in as few lists as possible, so that in none two share a sequence of one device, or a key."""
    waiting = list(entries)
    while waiting:
        taken: list[ReadEntry] = []
        later: list[ReadEntry] = []
        seen: set[tuple[UUID, object]] = set()
        for entry in waiting:
            names = {(entry.device_id, entry.sequence), (entry.tenant_id, entry.idempotency_key)}
            (later if names & seen else taken).append(entry)
            seen |= names
        yield taken
        waiting = later


async def missing(tx: Tx, organization_id: UUID, device_id: UUID) -> list[tuple[int, int]]:
    """Gaps in the device's sequence, as first and last number that never came: the oldest hundred."""
    rows = await tx.rows(MISSING, organization_id, device_id, LOOKED_THROUGH)
    return [(row["first"], row["last"]) for row in rows]


# More entries than a device writes at one event. A gap before them was shown long ago.
LOOKED_THROUGH: Final = 20_000
INCIDENTS: Final = msgspec.json.Decoder(list[OpenedIncident])

TAKE: Final = "SELECT id, outcome, code, ticket_id, incidents FROM take_entries($1, $2)"

MISSING: Final = """
    SELECT x.before + 1 AS first, x.sequence - 1 AS last
      FROM (SELECT y.sequence,
                   coalesce(lag(y.sequence) OVER (ORDER BY y.sequence),
                            CASE WHEN count(*) OVER () < $3 THEN 0 END) AS before
              FROM (SELECT j.sequence
                      FROM journal_entry j
                     WHERE j.organization_id = $1
                       AND j.device_id = $2
                     ORDER BY j.sequence DESC
                     LIMIT $3) y) x
     WHERE x.sequence > x.before + 1
     ORDER BY x.sequence
     LIMIT 100
"""
