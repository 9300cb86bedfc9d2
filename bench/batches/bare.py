"""The rows of a batch by one bare statement: what PostgreSQL alone needs for them, with its indexes and constraints.

It writes what `POST /tickets/batch` writes: cards, holders, addresses, tickets, external ids, entries of the audit log,
the places, the kept answer and the row of the request log. It looks nothing up and locks nothing but what it changes.
"""

import asyncio
import json
from typing import Any, Self

import asyncpg

from bench.batches.shop import SIZE, Shop
from gatepass.base.ids import new_id
from gatepass.domain.cards import SERIALS, format_number

# 0.618 of all serials: each is far from those before it, as random ones are, and none comes twice.
STEP = 61_803_398_875


class BareClient:
    """A connection to PostgreSQL that inserts the batches of one shop."""

    def __init__(self, url: str, shop: Shop) -> None:
        self._shop = shop
        self._loop = asyncio.new_event_loop()
        self._connection = self._loop.run_until_complete(asyncpg.connect(url))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run_until_complete(self._connection.close())
        self._loop.close()

    def batch(self) -> list[Any]:
        """The values of the next batch, in the order of the parameters, made before the clock starts."""
        guests = self._shop.guests()
        serials = [int(one.external_id.removeprefix("ORDER-")) * STEP % SERIALS for one in guests]
        tickets = [new_id() for _ in guests]
        kept = json.dumps({"status": 200, "items": [{"status": 201, "id": str(id)} for id in tickets]})
        shop = self._shop
        return [
            shop.organization_id, shop.event_id, shop.category_id, shop.key_id, new_id(), SIZE,
            [new_id() for _ in guests], [format_number("SVC", serial) for serial in serials],
            [one.name for one in guests], [one.email for one in guests],
            tickets, [one.external_id for one in guests], [new_id() for _ in guests],
            [new_id() for _ in guests], [new_id() for _ in guests], kept,
        ]  # fmt: skip

    def insert(self, values: list[Any]) -> None:
        """One statement, one transaction."""
        self._loop.run_until_complete(self._connection.execute(INSERT, *values))


INSERT = """
    WITH row AS MATERIALIZED (
        SELECT *
          FROM unnest($7::uuid[], $8::text[], $9::text[], $10::text[],
                      $11::uuid[], $12::text[], $13::uuid[], $14::uuid[],
                      $15::uuid[])
               u (card_id, number, name, email, ticket_id, reference, fingerprint, card_entry, ticket_entry)
    ),
    card AS (
        INSERT INTO card (organization_id, id, number, issued_at)
        SELECT $1::uuid, card_id, number, now() FROM row
    ),
    holder AS (
        INSERT INTO card_holder (organization_id, card_id, name, email)
        SELECT $1, card_id, name, email FROM row
    ),
    address AS (
        INSERT INTO holder_email (organization_id, card_id, email, current, companion)
        SELECT $1, card_id, email, true, false FROM row
    ),
    ticket AS (
        INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at)
        SELECT $1, ticket_id, $2, $3, card_id, now() FROM row
    ),
    reference AS (
        INSERT INTO ticket_reference (organization_id, event_id, reference, ticket_id, fingerprint)
        SELECT $1, $2, reference, ticket_id, fingerprint FROM row
    ),
    entry AS (
        INSERT INTO audit_log (organization_id, at, id, actor, subject, subject_id, action, becomes, address)
        SELECT $1, now(), card_entry, 'key ' || $4::uuid, 'card', card_id, 'issued', 'active',
               '127.0.0.1'::inet
          FROM row
         UNION ALL
        SELECT $1, now(), ticket_entry, 'key ' || $4::uuid, 'ticket', ticket_id, 'issued', 'issued',
               '127.0.0.1'::inet
          FROM row
    ),
    places AS (
        UPDATE ticket_category
           SET quantity_sold = quantity_sold + $6
         WHERE organization_id = $1
           AND id = $3
    ),
    kept AS (
        INSERT INTO idempotency (organization_id, idempotency_key, generation, fingerprint, at, verdict, kept)
        SELECT $1, $5, g.current, $5, now(), 'answered', $16::json
          FROM idempotency_generation g
    )
    INSERT INTO request_log (organization_id, at, id, mode, key_id, method, path, status, address, duration_us)
    VALUES ($1, now(), $5, 'live', $4, 'POST', '/tickets/batch', 200, '127.0.0.1', 0)
"""
