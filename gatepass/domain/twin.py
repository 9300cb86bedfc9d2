"""The sandbox twin of an organization: a tenant of its own, which a sandbox key works on.

Its events, cards, tickets and scans are rows of another organization, so that live and sandbox data never meet. Keys,
webhook endpoints, idempotency keys and the request log stay its owner's. The row is made by the first change, and is
erased with everything in it when its owner empties the sandbox, or after 30 days without a call.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import Busy, Refusal
from gatepass.base.ids import id_of
from gatepass.domain import audit_log

# The four bits of a UUID's version: 7 becomes 8, and back. `organization_twin` in the schema says the same.
VERSION: Final = 0xF << 76
HIGHEST_BIT: Final = 1 << 79

MOST_EVENTS: Final = 50
MOST_CARDS: Final = 10_000
MOST_TICKETS: Final = 20_000
# A rehearsal a month before an event is still there when the next one comes. One day is for a clock that was wrong.
UNUSED: Final = timedelta(days=31)


class SandboxFull(Refusal):
    """The sandbox is full."""

    code = "sandbox_full"


def twin_id(organization_id: UUID) -> UUID:
    return id_of((organization_id.int ^ VERSION).to_bytes(16, "big"))


def is_twin(organization_id: UUID) -> bool:
    return bool(organization_id.int & HIGHEST_BIT)


def owner_of(organization_id: UUID) -> UUID:
    """The organization that has the keys and endpoints: a twin's owner, and every other is its own."""
    return twin_id(organization_id) if is_twin(organization_id) else organization_id


async def open_for_changes(tx: Tx, organization_id: UUID, *, at: datetime) -> None:
    """Before the first change in a transaction: make the twin of this organization if there is none.

    Changes in one twin take turns from here on, so that its bounds hold. While it is emptied, nothing is added.
    """
    if await tx.value(OPEN, twin_id(organization_id), organization_id, at) is not None:
        raise Busy("The sandbox is being emptied. Try again in a few seconds.", cause="lock")


async def require_room(tx: Tx, organization_id: UUID) -> None:
    """After events, cards or tickets were made: refuse if a twin holds too many now. Others hold any number."""
    if not is_twin(organization_id):
        return
    await tx.run(LOCK, organization_id)
    (row,) = await tx.rows(HELD, organization_id, MOST_EVENTS + 1, MOST_CARDS + 1, MOST_TICKETS + 1)
    for what, most in (("events", MOST_EVENTS), ("cards", MOST_CARDS), ("tickets", MOST_TICKETS)):
        if row[what] > most:
            raise SandboxFull(f"The sandbox holds {most:,} {what} at most. Its owner can empty it in the studio.")


async def held(tx: Tx, organization_id: UUID) -> Mapping[str, int]:
    """How many events, cards and tickets the twin of this organization holds."""
    (row,) = await tx.rows(HELD, twin_id(organization_id), MOST_EVENTS, MOST_CARDS, MOST_TICKETS)
    return dict(row)


async def empty(tx: Tx, organization_id: UUID, *, by: str, at: datetime) -> bool:
    """Let maintenance erase everything in the twin of this organization; whether there is any."""
    if not await tx.run(EMPTY, twin_id(organization_id), at):
        return False
    await audit_log.record(tx, organization_id, "organization", organization_id, "sandbox emptied", by=by, at=at)
    return True


async def empty_unused(tx: Tx, *, at: datetime) -> int:
    """Let maintenance erase the twins that nobody has used for a while; how many there were."""
    return await tx.run(EMPTY_UNUSED, at, at - UNUSED)


# The twin has its owner's name, prefix and time zone, whenever they change.
OPEN: Final = """
    INSERT INTO organization (id, name, card_prefix, time_zone, demo, created_at, twin_of, used_at)
    SELECT $1, o.name, o.card_prefix, o.time_zone, o.demo, $3, o.id, $3
      FROM organization o
     WHERE o.id = $2
    ON CONFLICT (id) DO UPDATE
       SET name = excluded.name, card_prefix = excluded.card_prefix, time_zone = excluded.time_zone,
           used_at = greatest(organization.used_at, excluded.used_at)
    RETURNING erase_at
"""

LOCK: Final = "SELECT true FROM organization WHERE id = $1 FOR NO KEY UPDATE"

HELD: Final = """
    SELECT (SELECT count(*) FROM (SELECT FROM event WHERE organization_id = $1 LIMIT $2) x) AS events,
           (SELECT count(*) FROM (SELECT FROM card WHERE organization_id = $1 LIMIT $3) x) AS cards,
           (SELECT count(*) FROM (SELECT FROM ticket WHERE organization_id = $1 LIMIT $4) x) AS tickets
"""

EMPTY: Final = """
    UPDATE organization
       SET erase_at = $2
     WHERE id = $1
       AND twin_of IS NOT NULL
       AND erase_at IS NULL
"""

# The last call of a key is stored within a minute.
EMPTY_UNUSED: Final = """
    -- every organization: maintenance looks after all of this cell
    UPDATE organization t
       SET erase_at = $1
     WHERE t.twin_of IS NOT NULL
       AND t.erase_at IS NULL
       AND t.used_at <= $2
       AND NOT EXISTS (SELECT FROM api_key k
                        WHERE k.organization_id = t.twin_of
                          AND k.mode = 'sandbox'
                          AND k.last_used_at > $2)
"""
