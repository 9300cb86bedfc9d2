"""How long the studio's search takes: each kind of question, in one large organization.

    python -m bench.search --people 1000000 --tickets 10000000

Names are drawn as in a town: a few are common. Each question is about somebody who is there, and asked through the
statements of the domain, one after the other.
"""

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from statistics import quantiles
from uuid import UUID

import psycopg

from bench.console import wide_console
from bench.report import empty_table
from bench.stack import migrated_database
from gatepass.base.database import Database, Tx
from gatepass.domain import events, maintenance, organizations, search, tickets
from gatepass.domain.events import EventStatus
from gatepass.domain.staff import SEES, Role

BY = "bench"
EVENTS = 10
LIMIT = 50
# In milliseconds, at the 99th percentile.
WANTED = 100.0
Ask = Callable[[Tx, dict[str, str]], Awaitable[object]]


async def _organization(db: Database) -> tuple[UUID, list[tuple[UUID, UUID]]]:
    """An organization with events, each of which has a category."""
    at, made = datetime.now(UTC), list[tuple[UUID, UUID]]()
    await maintenance.run_due(db, at=at)
    async with db.transaction() as tx:
        id = (await organizations.create(tx, "Bench", at=at)).id
        for n in range(EVENTS):
            event_id = await events.create(tx, id, f"Summer night {n}", at, at + timedelta(hours=9), by=BY, at=at)
            category_id = await events.add_category(
                tx, id, event_id, "General", Decimal(25), "EUR", 10_000_000, by=BY, at=at
            )
            await events.change_status(tx, id, event_id, EventStatus.PUBLISHED, by=BY, at=at)
            made.append((event_id, category_id))
    return id, made


def _load(url: str, organization_id: UUID, of_events: list[tuple[UUID, UUID]], people: int, ticket_count: int) -> None:
    """Without triggers, which would check each of ten million references."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("SELECT setseed(0.5)")
        connection.execute(PEOPLE, {"people": people, "digits": "0123456789abcdef"})
        connection.execute(CARDS, {"organization": organization_id})
        connection.execute(HOLDERS, {"organization": organization_id})
        for event_id, category_id in of_events:
            here = {"organization": organization_id, "event": event_id, "category": category_id}
            connection.execute(TICKETS, here | {"count": ticket_count // len(of_events)})
        connection.execute(REFERENCES, {"organization": organization_id, "event": of_events[0][0]})
        connection.execute("VACUUM ANALYZE")


def _sample(url: str, count: int) -> list[dict[str, str]]:
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT first, last, number, n FROM bench_person ORDER BY hashint8(n) LIMIT %s", (count,)
        )
        return [{"first": row[0], "last": row[1], "number": row[2], "n": str(row[3])} for row in rows]


def _questions(organization_id: UUID, event_id: UUID) -> dict[str, Ask]:
    def anywhere(text: Callable[[dict[str, str]], str]) -> Ask:
        return lambda tx, one: search.by_text(tx, organization_id, text(one), sight=SEES[Role.OWNER])

    def in_event(text: Callable[[dict[str, str]], str]) -> Ask:
        return lambda tx, one: tickets.search_in_event(
            tx, organization_id, event_id, text(one), sight=SEES[Role.OWNER], limit=LIMIT
        )

    return {
        "a last name": anywhere(lambda one: one["last"]),
        "a first name": anywhere(lambda one: one["first"]),
        "three letters": anywhere(lambda one: one["last"][:3]),
        "both names": anywhere(lambda one: f"{one['last']} {one['first']}"),
        "part of an address": anywhere(lambda one: f"{one['first']}.{one['last']}{one['n']}@"),
        "four digits": anywhere(lambda one: one["number"][-4:]),
        "a card number": anywhere(lambda one: one["number"].lower()),
        "an external id": anywhere(lambda one: f"order-{one['n']}"),
        "an event": anywhere(lambda one: f"night {int(one['n']) % EVENTS}"),
        "in an event: a last name": in_event(lambda one: one["last"]),
        "in an event: a first name": in_event(lambda one: one["first"]),
        "in an event: four digits": in_event(lambda one: one["number"][-4:]),
        "in an event: an external id": in_event(lambda one: f"ORDER-{one['n']}"),
    }


async def _ask(url: str, questions: dict[str, Ask], sample: list[dict[str, str]]) -> dict[str, list[float]]:
    db, taken = Database(url, connections=1, deadline=60), {name: list[float]() for name in questions}
    order = [(name, one) for one in sample for name in questions]
    random.Random(17).shuffle(order)
    async with db.autocommit() as tx:
        for name, one in order:
            began = time.perf_counter()
            await questions[name](tx, one)
            taken[name].append(1000 * (time.perf_counter() - began))
    await db.close()
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--tickets", type=int, default=10_000_000)
    parser.add_argument("--questions", type=int, default=200, help="of each kind")
    wanted = parser.parse_args()
    with migrated_database(18) as (_, url):
        organization_id, of_events = asyncio.run(_prepared(url))
        _load(url, organization_id, of_events, wanted.people, wanted.tickets)
        asked = _questions(organization_id, of_events[0][0])
        taken = asyncio.run(_ask(url, asked, _sample(url, wanted.questions)))
    title = f"{wanted.people:,} people and {wanted.tickets:,} tickets in one organization"
    table = empty_table(title, "question", "p50 ms", "p99 ms", f"at most {WANTED:.0f} ms")
    missed = 0
    for name, times in taken.items():
        p99 = quantiles(times, n=100)[98]
        missed += p99 > WANTED
        table.add_row(name, f"{quantiles(times, n=2)[0]:.1f}", f"{p99:.1f}", "yes" if p99 <= WANTED else "NO")
    wide_console().print(table)
    return 1 if missed else 0


async def _prepared(url: str) -> tuple[UUID, list[tuple[UUID, UUID]]]:
    db = Database(url, deadline=60)
    try:
        return await _organization(db)
    finally:
        await db.close()


# The square of a random number makes some names common: the first one of 3,000 is on one card in 55.
PEOPLE = """
    CREATE TABLE bench_person AS
    SELECT n, gen_random_uuid() AS id,
           initcap(translate(to_hex(4096 + floor(power(random(), 2) * 3000)::int), %(digits)s, 'aeioulnrstmkdvjb'))
               AS first,
           initcap(translate(to_hex(65536 + floor(power(random(), 2) * 60000)::int), %(digits)s, 'rotinaleskumbdhv'))
               AS last,
           'SVC ' || to_char(n / 10000, 'FM0000') || ' ' || to_char(n %% 10000, 'FM0000') || ' '
               || to_char((n::bigint * 7919) %% 10000, 'FM0000') AS number
      FROM generate_series(1, %(people)s) n
"""
CARDS = """
    INSERT INTO card (organization_id, id, number, issued_at)
    SELECT %(organization)s, id, number, now() FROM bench_person
"""
HOLDERS = """
    INSERT INTO card_holder (organization_id, card_id, name, email)
    SELECT %(organization)s, id, first || ' ' || last, lower(first || '.' || last || n || '@example.org')
      FROM bench_person
"""
TICKETS = """
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at)
    SELECT %(organization)s, gen_random_uuid(), %(event)s, %(category)s, id, now()
      FROM bench_person ORDER BY n LIMIT %(count)s
"""
REFERENCES = """
    INSERT INTO ticket_reference (organization_id, reference, event_id, ticket_id)
    SELECT t.organization_id, 'Order-' || p.n, t.event_id, t.id
      FROM ticket t
      JOIN bench_person p ON p.id = t.card_id
     WHERE t.organization_id = %(organization)s
       AND t.event_id = %(event)s
"""

if __name__ == "__main__":
    sys.exit(main())
