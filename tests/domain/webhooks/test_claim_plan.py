"""The cost of a claim: it grows with the lanes and the due rows, however many rows are due later.

The statement inside `claim_deliveries` is run under EXPLAIN ANALYZE, with 200,000 retries of dead endpoints in the
queue; all rows of the queue that are read are counted, also those that are not used.
"""

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Final

import pglast
import psycopg
import pytest

import gatepass
from gatepass.migrations.sql import statements
from tests.postgres import Cluster

Link = psycopg.Connection[tuple[Any, ...]]
Plan = dict[str, Any]

QUEUE: Final = Path(gatepass.__file__).parent / "domain" / "webhooks" / "queue.sql"
DEAD_LANES: Final = 10
FUTURE: Final = 200_000
LIVE_LANES: Final = 20
DUE_EACH: Final = 50
ROOM: Final = 4

ENDPOINTS: Final = """
    INSERT INTO organization (id, name, created_at)
        SELECT lpad(to_hex(n), 32, '0')::uuid, 'Organization', now() FROM generate_series(1, 3) n;
    INSERT INTO webhook_endpoint (organization_id, id, mode, url, types, sealed_secret, created_at, created_by)
        SELECT lpad(to_hex(1 + n %% 3), 32, '0')::uuid, lpad(to_hex(n), 32, '0')::uuid, 'live', 'https://example.com/',
               '{ticket.activated}', '', now(), 'test'
          FROM generate_series(1, %(lanes)s) n
"""
# Each delivery belongs to an event, as in production; deliveries about one ticket have the same key.
FILL: Final = """
    WITH made AS (
        SELECT e.organization_id, e.id AS endpoint_id, gen_random_uuid() AS id, now() AS at, n
          FROM (SELECT * FROM webhook_endpoint ORDER BY id OFFSET %(first)s LIMIT %(lanes)s) e
         CROSS JOIN generate_series(1, %(each)s) n
    ),
    events AS (
        INSERT INTO webhook_event (organization_id, mode, txid, id, at, type, body)
        SELECT organization_id, 'live', 1, id, at, 'ticket.activated', '{}' FROM made
    ),
    deliveries AS (
        INSERT INTO webhook_delivery (organization_id, endpoint_id, at, id, event_txid, event_id, event_at, type,
                                      ordering_key)
        SELECT organization_id, endpoint_id, at, id, 1, id, at, 'ticket.activated', id FROM made
    )
    INSERT INTO webhook_queue (organization_id, endpoint_id, ordering_key, next_at, delivery_at, delivery_id)
    SELECT organization_id, endpoint_id, CASE WHEN %(same)s THEN endpoint_id ELSE id END,
           now() + n * %(step)s::interval, at, id
      FROM made
"""


@pytest.fixture(scope="module")
def piled(cluster: Cluster) -> Generator[Link]:
    url = cluster.create_migrated("gatepass_claim_plan")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER TABLE webhook_queue SET (autovacuum_enabled = off)")
        for statement in ENDPOINTS.split(";\n"):
            connection.execute(statement.encode(), {"lanes": DEAD_LANES + LIVE_LANES})
        fill(connection, 0, DEAD_LANES, FUTURE // DEAD_LANES, step="1 hour")
        connection.execute("ANALYZE")
        yield connection


def fill(connection: Link, first: int, lanes: int, each: int, *, step: str = "0 s", same: bool = False) -> None:
    values = {"first": first, "lanes": lanes, "each": each, "step": step, "same": same}
    connection.execute(FILL.encode(), values)


def the_statement() -> str:
    """The one statement of the routine, with its parameters and variables in the order of VALUES."""
    (text,) = (one for one in statements(QUEUE.read_text()) if "FUNCTION claim_deliveries" in one)
    (query,) = (one for one in _queries(pglast.parse_plpgsql(text)[0]) if "RECURSIVE" in one)
    for place, name in enumerate(VALUES, 1):
        query = re.sub(rf"\b{name}\b", f"${place}", query)
    return query


VALUES: Final = {
    "p_rooms": ("jsonb", "'{}'"),
    "p_elsewhere": ("integer", str(ROOM)),
    "p_lanes": ("integer", "64"),
    "p_most": ("integer", "1000"),
    "p_lease": ("interval", "'45 s'"),
    "p_failing": ("integer", "5"),
    "this_moment": ("timestamptz", "clock_timestamp()"),
}


def _queries(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        if "PLpgSQL_expr" in tree:
            yield tree["PLpgSQL_expr"]["query"]
        for one in tree.values():
            yield from _queries(one)
    elif isinstance(tree, list):
        for one in tree:
            yield from _queries(one)


def claimed(connection: Link) -> tuple[int, Plan]:
    """Run a claim as the routine does; return how many it took, and the plan with its row counts."""
    (row,) = connection.execute("SELECT proconfig FROM pg_proc WHERE proname = 'claim_deliveries'").fetchall()
    with connection.transaction():
        for setting in row[0]:
            name, _, value = setting.partition("=")
            connection.execute(f"SET LOCAL {name} = '{value}'".encode())
        types, values = zip(*VALUES.values(), strict=True)
        connection.execute(f"PREPARE claim ({', '.join(types)}) AS {the_statement()}".encode())
        execute = f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE claim ({', '.join(values)})"
        (plan,) = connection.execute(execute.encode()).fetchall()
        connection.execute("DEALLOCATE claim")
    plan = plan[0][0]["Plan"]
    return int(plan["Actual Rows"]), plan


def nodes(plan: Plan) -> Iterator[Plan]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def read_of_queue(plan: Plan) -> int:
    """Rows of the queue that were read, including those that were not used."""
    seen = 0
    for node in nodes(plan):
        if node.get("Relation Name") == "webhook_queue" and "Scan" in node["Node Type"]:
            assert node["Node Type"] in ("Index Scan", "Index Only Scan", "Tid Scan"), node["Node Type"]
            in_vain = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
            seen += round((node["Actual Rows"] + in_vain) * node["Actual Loops"])
    return seen


# A lane is found by reading one row, and the search ends with a read that finds none. A claimed row is read three
# times: to choose it, to look for an earlier one, and to update it.
A_LANE: Final = 2
A_CLAIM: Final = 4


def bound(lanes: int, taken: int) -> int:
    return A_LANE * (lanes + 1) + A_CLAIM * taken


def test_the_future_is_not_looked_at(piled: Link) -> None:
    taken, plan = claimed(piled)
    assert taken == 0
    assert read_of_queue(plan) <= bound(DEAD_LANES, 0)


def test_a_claim_reads_the_lanes_and_what_it_takes(piled: Link) -> None:
    fill(piled, DEAD_LANES, LIVE_LANES, DUE_EACH)
    taken, plan = claimed(piled)
    assert taken == LIVE_LANES * ROOM
    assert read_of_queue(plan) <= bound(DEAD_LANES + LIVE_LANES, taken)
    assert not [node for node in nodes(plan) if node["Node Type"] in ("Seq Scan", "Bitmap Heap Scan", "Sort Heap")]


def test_what_must_wait_for_an_earlier_one_is_looked_at_once(piled: Link) -> None:
    """Thousands are due and all but the first must wait: each is put off when it is read, and then not read again."""
    forget_the_due(piled)
    fill(piled, DEAD_LANES, 1, WAITING, same=True)
    met = 0
    while (found_and_plan := claimed(piled))[0]:
        met += found_and_plan[0]
        assert read_of_queue(found_and_plan[1]) <= bound(DEAD_LANES + LIVE_LANES, 2 * ROOM)
    assert value(piled, "SELECT count(*) FROM webhook_queue WHERE attempt = 1") == 1
    assert WAITING <= met <= WAITING + 50, "the next in line alone is looked at again soon"


def test_one_that_has_ended_lets_the_next_alone_go(piled: Link) -> None:
    """However many wait, each is updated only when it is next in line."""
    forget_the_due(piled)
    fill(piled, DEAD_LANES, 1, WAITING, same=True)
    piled.execute(
        "UPDATE webhook_queue SET attempt = 1, next_at = now() + interval '40 s' WHERE ordering_key = endpoint_id"
    )
    changed = "SELECT n_tup_upd FROM pg_stat_xact_user_tables WHERE relname = 'webhook_queue'"
    with piled.transaction():
        before = value(piled, changed)
        piled.execute(RECORD_FIRST)
        assert value(piled, changed) - before == 1
    assert value(piled, "SELECT count(*) FROM webhook_queue WHERE next_at <= now()") == 1


def test_what_was_sent_and_not_yet_swept_is_passed_over(piled: Link) -> None:
    """Autovacuum runs once a minute; until then the index entries of sent rows are before those that are due."""
    forget_the_due(piled)
    fill(piled, DEAD_LANES, 1, SENT)
    fill(piled, DEAD_LANES, 1, 2 * ROOM, step="1 us")
    newest = value(piled, "SELECT max(id) FROM webhook_queue")
    piled.execute("DELETE FROM webhook_queue WHERE next_at <= now() AND id <= %s", (newest - 2 * ROOM,))
    claimed(piled)  # the first read marks them as dead
    found, plan = claimed(piled)
    assert found == ROOM
    assert read_of_queue(plan) <= bound(DEAD_LANES + LIVE_LANES, ROOM)
    # A page of the index has about a hundred entries.
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < SENT // 25


def forget_the_due(connection: Link) -> None:
    connection.execute("DELETE FROM webhook_queue WHERE next_at <= now() + interval '1 minute'")
    connection.execute("VACUUM webhook_queue")


def value(connection: Link, text: str) -> int:
    return connection.execute(text.encode()).fetchall()[0][0]


WAITING: Final = 1_000
SENT: Final = 50_000

RECORD_FIRST: Final = """
    SELECT record_attempts(ARRAY[q.organization_id], ARRAY[q.endpoint_id], ARRAY[q.ordering_key], ARRAY[q.id],
                           ARRAY[q.attempt], ARRAY[q.delivery_at], ARRAY[q.delivery_id], ARRAY['delivered'],
                           ARRAY[NULL::float8], ARRAY[now()], ARRAY[200::smallint], ARRAY[NULL::text],
                           ARRAY['192.0.2.1'], ARRAY[NULL::real], ARRAY[NULL::real], ARRAY[1::real], ARRAY[1::real],
                           ARRAY[NULL::text])
      FROM webhook_queue q WHERE ordering_key = endpoint_id ORDER BY id LIMIT 1
"""


def test_a_claim_that_looked_at_the_future_would_be_noticed(piled: Link) -> None:
    """A mutant: without the index of due rows."""
    with piled.transaction(force_rollback=True):
        piled.execute("DROP INDEX webhook_queue_due")
        _, plan = claimed(piled)
        assert read_of_queue(plan) > FUTURE
