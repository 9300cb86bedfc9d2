"""Telling phones that their pass has changed: an empty push, after which the phone fetches the pass anew.

A pass changes with its card, its tickets, its events and the clock. Nothing of that writes here, so that no scan and no
import pays for wallets. Instead the worker looks through the passes in turn and compares what each would say now with
what its phones were told of. A worker that is killed in between leaves a phone that is due, and another one tells it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.wallets.registrations import FORGET_UNUSED
from gatepass.domain.wallets.subject import period_of

# Passes that are compared at once, each second: about 100 ms of PostgreSQL on a busy machine.
BATCH: Final = 1000
# Phones that are told at once.
CLAIMED: Final = 200
# Longer than a push may take, so that a phone is told twice only if a worker is killed.
LEASE: Final = timedelta(seconds=60)
# A phone that could not be told is tried again after 2, 4, 8 … minutes, for 17 hours.
MOST_TRIES: Final = 9
BEGINNING: Final = (UUID(int=0), b"")

Place = tuple[UUID, bytes]


@dataclass(frozen=True, slots=True)
class DuePush:
    organization_id: UUID
    link_hash: bytes
    device: str
    push_token: str
    push_at: datetime
    push_tries: int


async def compare_some(tx: Tx, after: Place, *, at: datetime) -> tuple[Place | None, int]:
    """Look through the passes behind this place; return the next one, None at the end, and how many have changed."""
    rows = await tx.rows(COMPARE, *after, BATCH, at, period_of(at))
    if not rows or rows[0]["seen"] < BATCH:
        return None, rows[0]["changed"] if rows else 0
    return (rows[0]["organization_id"], rows[0]["link_hash"]), rows[0]["changed"]


async def claim(tx: Tx, *, at: datetime) -> list[DuePush]:
    """Phones that are due; for as long as the lease they are this worker's."""
    return await tx.all(DuePush, CLAIM, at, at + LEASE, CLAIMED)


async def told(tx: Tx, push: DuePush) -> None:
    """The phone was told. If the pass changed again meanwhile, it stays due."""
    await tx.run(TOLD, push.organization_id, push.link_hash, push.device, push.push_at)


async def put_off(tx: Tx, push: DuePush, *, at: datetime) -> None:
    """Try again later. After the last try the phone has to ask by itself."""
    if push.push_tries >= MOST_TRIES:
        await told(tx, push)
        return
    later = at + LEASE * 2**push.push_tries
    await tx.run(PUT_OFF, push.organization_id, push.link_hash, push.device, push.push_at, later)


async def forget(tx: Tx, push: DuePush) -> None:
    """Apple does not know this push token any more: the phone has deleted the pass, or registers again."""
    await tx.run(FORGET, push.organization_id, push.link_hash, push.device, push.push_token)
    await tx.run(FORGET_UNUSED, push.organization_id, push.link_hash)


# `seen` tells whether there may be more.
COMPARE: Final = """
    -- every organization: one worker looks through the passes of all
    WITH batch AS MATERIALIZED (
        SELECT p.organization_id, p.link_hash, p.fingerprint,
               md5(wallet_document(p.organization_id, p.card_id, p.link_hash, $4, $5)::text) AS now
          FROM wallet_pass p
         WHERE (p.organization_id, p.link_hash) > ($1, $2)
         ORDER BY p.organization_id, p.link_hash
         LIMIT $3),
    changed AS (
        UPDATE wallet_pass p
           SET fingerprint = b.now, changed_at = $4
          FROM batch b
         WHERE p.organization_id = b.organization_id
           AND p.link_hash = b.link_hash
           AND p.fingerprint = b.fingerprint
           AND b.now <> b.fingerprint
        RETURNING p.organization_id, p.link_hash),
    due AS (
        UPDATE wallet_registration r
           SET push_at = $4, push_tries = 0
          FROM changed c
         WHERE r.organization_id = c.organization_id
           AND r.link_hash = c.link_hash)
    SELECT b.organization_id, b.link_hash, count(*) OVER () AS seen, (SELECT count(*) FROM changed) AS changed
      FROM batch b
     ORDER BY b.organization_id DESC, b.link_hash DESC
     LIMIT 1
"""

CLAIM: Final = """
    -- every organization: a worker serves all of them
    WITH due AS MATERIALIZED (
        SELECT r.organization_id, r.link_hash, r.device
          FROM wallet_registration r
         WHERE r.push_at <= $1
         ORDER BY r.push_at
         LIMIT $3
           FOR UPDATE SKIP LOCKED)
    UPDATE wallet_registration r
       SET push_at = $2, push_tries = r.push_tries + 1
      FROM due d
     WHERE r.organization_id = d.organization_id
       AND r.link_hash = d.link_hash
       AND r.device = d.device
    RETURNING r.organization_id, r.link_hash, r.device, r.push_token, r.push_at, r.push_tries
"""

TOLD: Final = """
    UPDATE wallet_registration
       SET push_at = NULL, push_tries = 0
     WHERE organization_id = $1
       AND link_hash = $2
       AND device = $3
       AND push_at = $4
"""

PUT_OFF: Final = """
    UPDATE wallet_registration
       SET push_at = $5
     WHERE organization_id = $1
       AND link_hash = $2
       AND device = $3
       AND push_at = $4
"""

FORGET: Final = """
    DELETE FROM wallet_registration
     WHERE organization_id = $1
       AND link_hash = $2
       AND device = $3
       AND push_token = $4
"""
