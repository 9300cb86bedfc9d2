"""Deltas read the new scans and little more, at ten million scans; a full count reads its event and no other."""

import json
from collections.abc import Generator
from datetime import timedelta
from typing import Any, Final

import psycopg
import pytest

from gatepass.domain import maintenance
from gatepass.domain.live import deltas, full_count, recent_scans
from tests import factory
from tests.domain.plans.explain import SCALE, Link, Plan, nodes
from tests.postgres import Cluster

ORGANIZATION: Final = "00000000-0000-0000-0000-000000000001"
EVENT: Final = "00000000-0000-0000-0000-0000000000e1"
OTHER: Final = "00000000-0000-0000-0000-0000000000e2"
ROWS: Final = 30_000
BELIEVED: Final = 10_000_000
# One scan a second; one in five is of the event.
SECONDS: Final = 60
OF_EVENT: Final = 5

LOAD: Final = f"""
    INSERT INTO organization (id, name, created_at) VALUES ('{ORGANIZATION}', 'Largest', now());
    INSERT INTO event (organization_id, id, title, starts_at, ends_at, status, created_at)
        SELECT '{ORGANIZATION}', id::uuid, 'Event', now(), now() + interval '3 hours', 'published', now()
          FROM unnest(ARRAY['{EVENT}', '{OTHER}']) id;
    INSERT INTO ticket_category (organization_id, id, event_id, name, price_minor, currency, quantity_total)
        SELECT organization_id, id, id, 'General', 1000, 'EUR', 100000 FROM event;
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at, activated_at)
        SELECT '{ORGANIZATION}', md5(n::text)::uuid, e::uuid, e::uuid, gen_random_uuid(), now(), now()
          FROM generate_series(1, {ROWS}) n
         CROSS JOIN LATERAL (SELECT CASE WHEN n % {OF_EVENT} = 0 THEN '{EVENT}' ELSE '{OTHER}' END) x (e);
    INSERT INTO scan (organization_id, at, id, mode, key_id, event_id, card_number, ticket_id, verdict, gate)
        SELECT '{ORGANIZATION}', now() - n * interval '1 second', gen_random_uuid(), 'live', gen_random_uuid(),
               t.event_id, 'SVC 1', t.id, 'activated', 'Gate ' || n % 7
          FROM generate_series(0, {ROWS} - 1) n
          JOIN ticket t ON t.organization_id = '{ORGANIZATION}' AND t.id = md5((n + 1)::text)::uuid;
    INSERT INTO audit_log (organization_id, at, id, actor, subject, subject_id, action)
        SELECT organization_id, at, id, 'test', 'ticket', ticket_id, 'issued' FROM scan;
    ANALYZE
"""


@pytest.fixture(scope="module")
async def history(cluster: Cluster) -> str:
    url = cluster.create_migrated("gatepass_live_plans")
    database = factory.database(url, deadline=60)
    for weeks in (5, 4, 3, 2, 1, 0):
        await maintenance.run_due(database, at=factory.now() - timedelta(weeks=weeks))
    await database.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")  # tickets without cards
        for statement in LOAD.split(";\n"):
            connection.execute(statement.encode())
        pieces = connection.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits JOIN pg_class ON oid = inhrelid"
            " WHERE inhparent IN ('scan'::regclass, 'audit_log'::regclass) AND reltuples > 0"
        ).fetchall()
        for (table,) in [*pieces, ("ticket",)]:
            connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)".encode())
            connection.execute(SCALE, {"table": table, "rows": BELIEVED})
    return url


@pytest.fixture
def link(history: str) -> Generator[Link]:
    with psycopg.connect(history, autocommit=True) as connection:
        yield connection


def run(link: Link, text: str, mode: str, *values: object) -> Plan:
    """The plan of a statement, with the row counts of its execution."""
    given = ", ".join(f"'{value}'" for value in values)
    link.execute("SET jit = off")
    link.execute(f"SET plan_cache_mode = force_{mode}_plan".encode())
    link.execute(f"PREPARE look AS {text}".encode())
    (row,) = link.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE look ({given})".encode()).fetchall()
    link.execute("DEALLOCATE look")
    plan: Any = row[0] if isinstance(row[0], list) else json.loads(row[0])
    return plan[0]["Plan"]


def rows_read(plan: Plan, table: str) -> int:
    """Rows read from a table or its partitions. A sequential scan of a partition with rows fails."""
    read = 0
    for node in nodes(plan):
        name = node.get("Relation Name", "")
        if name != table and not name.startswith(table + "_2"):
            continue
        rows = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        assert node["Node Type"] != "Seq Scan" or not rows, node
        read += rows
    return int(read)


@pytest.fixture(params=["generic", "custom"])
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


def test_a_look_reads_the_window_alone(link: Link, mode: str) -> None:
    """Without new scans: the index finds the scans of the window, and no ticket is looked up."""
    ((seen,),) = link.execute("SELECT pg_current_snapshot()::text").fetchall()
    since = factory.now() - timedelta(seconds=SECONDS)
    plan = run(link, deltas.DELTAS, mode, ORGANIZATION, "live", EVENT, seen, since)
    assert rows_read(plan, "scan") <= SECONDS // OF_EVENT + 1
    assert rows_read(plan, "audit_log") <= SECONDS + 1
    assert rows_read(plan, "ticket") == 0


def test_a_look_reads_the_ticket_of_each_scan_that_came(link: Link, mode: str) -> None:
    """With a snapshot older than every row, all scans of the window are new."""
    since = factory.now() - timedelta(seconds=SECONDS)
    plan = run(link, deltas.DELTAS, mode, ORGANIZATION, "live", EVENT, "3:3:", since)
    scans = rows_read(plan, "scan")
    assert 0 < scans <= SECONDS // OF_EVENT + 1
    assert rows_read(plan, "ticket") == scans


def test_a_count_reads_the_event_and_no_other(link: Link, mode: str) -> None:
    at = factory.now()
    values = (at - timedelta(days=400), at - full_count.CHART, at - full_count.ON_DUTY)
    plan = run(link, full_count.COUNT, mode, ORGANIZATION, "live", EVENT, *values, 1000, 2000, "other")
    assert rows_read(plan, "ticket") == ROWS // OF_EVENT
    # All of them, those of the last 12 hours, and those of the last hour.
    assert ROWS // OF_EVENT <= rows_read(plan, "scan") <= 2 * ROWS // OF_EVENT + 61 * 60 // OF_EVENT


def test_the_last_scans_are_read_from_the_end(link: Link, mode: str) -> None:
    plan = run(link, recent_scans.RECENT, mode, ORGANIZATION, "live", EVENT, recent_scans.SHOWN)
    assert rows_read(plan, "scan") <= recent_scans.SHOWN + 20
