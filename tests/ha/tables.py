"""The rows that a run has left in the database, read for the cards of its journal."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from gatepass.base.database import Database, Tx
from gatepass.base.errors import NotNow
from gatepass.domain import idempotency
from gatepass.domain.keys import Mode
from tests.faults import records
from tests.faults.records import Tables, TicketKey
from tests.ha.world import World

# Longer than the lease of a delivery that a killed worker had.
DRAINED_WITHIN = 120.0
ASKED_EVERY = 0.2


@dataclass(frozen=True)
class Rows:
    """`missing` are cards of the journal without a ticket. `messages` are all ticket.activated, in the feed's order."""

    tables: Tables
    missing: list[str]
    messages: list[UUID]
    # Deliveries that still wait.
    queued: int


async def read(db: Database, world: World, cards: Sequence[str], keys: Sequence[str]) -> Rows:
    """Wait until the queue of webhooks is empty, for a bounded time, then read."""
    queued = await _drained(db, world)
    async with db.autocommit() as tx:
        tickets, card_ids = await _tickets(tx, world, cards)
        ticket_ids = [ticket.id for ticket in tickets.values()]
        tables = Tables(
            tickets,
            await _scans(tx, world, cards),
            await _stored(tx, world, ticket_ids, keys),
            [(row["id"], row["status"]) for row in await tx.rows(REQUEST_LOG, world.organization, card_ids)],
        )
        messages = [row["id"] for row in await tx.rows(MESSAGES, world.organization)]
    found = {number for _, _, number in tickets}
    return Rows(tables, [card for card in cards if card not in found], messages, queued)


async def _drained(db: Database, world: World) -> int:
    """How many deliveries wait at the end. The database may be away for a moment, if it was just broken."""
    ends = time.monotonic() + DRAINED_WITHIN
    while True:
        try:
            async with db.autocommit() as tx:
                queued = int(await tx.value(QUEUED, world.organization))
        except NotNow:
            if time.monotonic() > ends:
                raise
        else:
            if not queued or time.monotonic() > ends:
                return queued
        await asyncio.sleep(ASKED_EVERY)


async def _tickets(tx: Tx, world: World, cards: Sequence[str]) -> tuple[dict[TicketKey, records.Ticket], list[UUID]]:
    rows = await tx.rows(TICKETS, world.organization, list(cards))
    found = {
        (world.organization, row["event_id"], row["number"]): records.Ticket(
            row["id"], row["activated_at"], row["activated_by"], row["activated_gate"], row["activated_scanner_id"]
        )
        for row in rows
    }
    return found, [row["card_id"] for row in rows]


async def _scans(tx: Tx, world: World, cards: Sequence[str]) -> list[records.Scan]:
    return [
        records.Scan(
            row["id"],
            (world.organization, row["event_id"], row["card_number"]),
            row["verdict"],
            row["gate"],
            row["scanner_id"],
        )
        for row in await tx.rows(SCANS, world.organization, list(cards))
    ]


async def _stored(
    tx: Tx, world: World, tickets: Sequence[UUID], keys: Sequence[str]
) -> list[tuple[records.IdempotencyKey, str]]:
    # Keys are stored as digests; one that no gate has sent is named by its digest.
    names = {idempotency.key_digest(Mode.LIVE, key): key for key in keys}
    return [
        ((world.organization, names.get(row["idempotency_key"], str(row["idempotency_key"]))), row["verdict"])
        for row in await tx.rows(STORED, world.organization, list(tickets))
    ]


QUEUED = "SELECT count(*) FROM webhook_queue WHERE organization_id = $1"

TICKETS = """
    SELECT t.id, t.event_id, t.card_id, t.activated_at, t.activated_by, t.activated_gate, t.activated_scanner_id,
           c.number
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
     WHERE t.organization_id = $1
       AND c.number = ANY ($2)
"""

SCANS = """
    SELECT id, event_id, card_number, verdict, gate, scanner_id
      FROM scan
     WHERE organization_id = $1
       AND card_number = ANY ($2)
"""

STORED = """
    SELECT idempotency_key, verdict
      FROM idempotency
     WHERE organization_id = $1
       AND ticket_id = ANY ($2)
"""

REQUEST_LOG = """
    SELECT id, status
      FROM logged_call
     WHERE organization_id = $1
       AND path = '/scan'
       AND card_id = ANY ($2)
"""

MESSAGES = """
    SELECT id
      FROM webhook_event
     WHERE organization_id = $1
       AND type = 'ticket.activated'
     ORDER BY txid, id
"""
