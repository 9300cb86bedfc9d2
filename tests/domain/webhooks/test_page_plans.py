"""Pages of deliveries, of the feed and of a replay read the rows that they show and little more, of any number."""

import json
from collections.abc import Generator
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest

from gatepass.domain import maintenance
from gatepass.domain.webhooks import deliveries, feed, health, replays
from tests import factory
from tests.domain.plans.explain import Link, Plan, nodes
from tests.postgres import Cluster

ORGANIZATION: Final = "00000000-0000-0000-0000-000000000001"
ENDPOINT: Final = "00000000-0000-0000-0000-0000000000e1"
BUSY: Final = "00000000-0000-0000-0000-0000000000e2"
REPLAY: Final = "00000000-0000-0000-0000-0000000000aa"
ROWS: Final = 30_000
# The newest rows end in the middle of a week. Where a page crosses the edge of a partition, PostgreSQL before 18 tells
# rows of many loops as a rounded average, and a count of them is wrong by half a row a loop.
NEWEST: Final = factory.now() - timedelta(days=(factory.now().weekday() - 3) % 7)
# Past weeks, weeks ahead, and the default partition: a page reads each of them once.
PARTITIONS: Final = 20
LIMIT: Final = 101
# On some days the oldest week has only a few rows, and reading all of them is as quick as an index scan.
FEW: Final = 500

# The id of an organization is of version 7.
ANOTHER: Final = "overlay(md5(n::text) PLACING '7' FROM 13)::uuid"

LOAD: Final = f"""
    INSERT INTO organization (id, name, created_at) VALUES ('{ORGANIZATION}', 'Largest', now());
    INSERT INTO webhook_endpoint (organization_id, id, mode, url, types, sealed_secret, created_at, created_by)
        SELECT '{ORGANIZATION}', id::uuid, 'live', 'https://example.com', '{{ticket.activated}}', '', now(), 'test'
          FROM unnest(ARRAY['{ENDPOINT}', '{BUSY}']) id;
    INSERT INTO webhook_event (organization_id, mode, txid, id, at, type, body)
        SELECT '{ORGANIZATION}', 'live', n, md5(n::text)::uuid,
               timestamptz '{NEWEST}' - ({ROWS} - n) * interval '80 seconds',
               'ticket.activated', 'body'
          FROM generate_series(1, {ROWS}) n;
    INSERT INTO webhook_delivery (organization_id, endpoint_id, at, id, event_txid, event_id, event_at, type,
                                  ordering_key, state, attempts)
        SELECT e.organization_id, x.id, e.at, md5(e.id::text || x.id::text)::uuid, e.txid, e.id, e.at, e.type, e.id,
               'delivered', 1
          FROM webhook_event e, webhook_endpoint x;
    INSERT INTO organization (id, name, created_at)
        SELECT {ANOTHER}, 'Another', now() FROM generate_series(1, 3000) n;
    INSERT INTO webhook_endpoint (organization_id, id, mode, url, types, sealed_secret, created_at, created_by)
        SELECT {ANOTHER}, md5(n::text)::uuid, 'live', 'https://example.com', '{{ticket.activated}}', '', now(),
               'test'
          FROM generate_series(1, 3000) n;
    INSERT INTO webhook_attempt (organization_id, at, delivery_id, n, status, total_ms)
        SELECT organization_id, at + interval '1 second', id, 1, 200, 10 FROM webhook_delivery;
    INSERT INTO webhook_queue (organization_id, endpoint_id, ordering_key, lane, next_at, delivery_at, delivery_id)
        SELECT '{ORGANIZATION}', CASE WHEN n < 5000 THEN '{BUSY}'::uuid ELSE md5((n % 1000)::text)::uuid END,
               gen_random_uuid(), n % 2, now(), now(), gen_random_uuid()
          FROM generate_series(1, 15000) n;
    INSERT INTO webhook_replay (organization_id, id, endpoint_id, since, until, states, total, created_at, created_by)
        SELECT '{ORGANIZATION}', CASE n WHEN 1 THEN '{REPLAY}'::uuid ELSE gen_random_uuid() END, '{ENDPOINT}',
               now() - interval '40 days', now(), '{{delivered}}', 1, now(), 'test'
          FROM generate_series(1, 3000) n;
    UPDATE webhook_replay SET ended_at = now() WHERE id <> '{REPLAY}';
    ANALYZE
"""


@pytest.fixture(scope="module")
async def history(cluster: Cluster) -> str:
    """A database with four weeks of deliveries."""
    url = cluster.create_migrated("gatepass_page_plans")
    database = factory.database(url, deadline=60)
    for weeks in range(6, -1, -1):
        await maintenance.run_due(database, at=factory.now() - timedelta(weeks=weeks))
    await database.close()
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in LOAD.split(";\n"):
            connection.execute(statement.encode())
    return url


@pytest.fixture
def link(history: str) -> Generator[Link]:
    with psycopg.connect(history, autocommit=True) as connection:
        yield connection


def run(link: Link, text: str, *values: object) -> Plan:
    """The generic plan of a statement, with the row counts of its execution."""
    given = ", ".join("NULL" if value is None else f"'{value}'" for value in values)
    link.execute("SET plan_cache_mode = force_generic_plan")
    link.execute(f"PREPARE page AS {text}".encode())
    with link.transaction(force_rollback=True):
        (row,) = link.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE page ({given})".encode()).fetchall()
    link.execute("DEALLOCATE page")
    plan: Any = row[0] if isinstance(row[0], list) else json.loads(row[0])
    return plan[0]["Plan"]


def scanned(plan: Plan) -> list[Plan]:
    """Tables that were read without an index, except partitions of a few pages."""
    scans = [node for node in nodes(plan) if node["Node Type"] in ("Seq Scan", "Bitmap Heap Scan")]
    return [node for node in scans if node["Actual Rows"] + node.get("Rows Removed by Filter", 0) > FEW]


def assert_little_is_read(plan: Plan, rows: int) -> None:
    """Only by index, in its order, and at most these rows and one more of each partition."""
    assert scanned(plan) == []
    assert [node for node in nodes(plan) if node["Node Type"] == "Sort" and node["Actual Rows"] > rows] == []
    scans = [node for node in nodes(plan) if node.get("Index Name") and node.get("Relation Name") != "webhook_queue"]
    read = sum((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"] for node in scans)
    assert 0 < read <= rows + PARTITIONS, [(node["Index Name"], node["Actual Rows"]) for node in scans]


FIRST: Final = "0001-01-01"
LAST: Final = ("9999-12-31", UUID(int=2**128 - 1))


def middle(link: Link) -> tuple[Any, UUID]:
    find = "SELECT at, id FROM webhook_delivery WHERE endpoint_id = %s AND event_txid = %s"
    row = link.execute(find, (ENDPOINT, ROWS // 2)).fetchone()
    assert row is not None
    return row[0], row[1]


@pytest.mark.parametrize("page", ["first", "next"])
def test_a_page_of_deliveries(link: Link, page: str) -> None:
    place = LAST if page == "first" else middle(link)
    most = deliveries.LOOKED_THROUGH
    assert_little_is_read(
        run(link, deliveries.PAGE, ORGANIZATION, ENDPOINT, *place, None, None, most, LIMIT, FIRST), LIMIT
    )


@pytest.mark.parametrize("page", ["first", "next"])
def test_a_page_of_deliveries_that_hardly_any_fit(link: Link, page: str) -> None:
    place = LAST if page == "first" else middle(link)
    looked = (ORGANIZATION, ENDPOINT, *place)
    assert_little_is_read(run(link, deliveries.PAGE, *looked, "failed", None, 1_000, LIMIT, FIRST), 1_000)
    assert_little_is_read(run(link, deliveries.PAGE, *looked, None, "scan.denied", 1_000, LIMIT, FIRST), 1_000)
    assert_little_is_read(run(link, deliveries.LAST_LOOKED_AT, *looked, 999, FIRST), 1_000)


def test_a_page_of_deliveries_of_some_hours(link: Link) -> None:
    """There are 45 in each hour; however few of them match, no others are read."""
    at, id = middle(link)
    some = (ORGANIZATION, ENDPOINT, at, id, "failed", None, deliveries.LOOKED_THROUGH, LIMIT, at - timedelta(hours=2))
    assert_little_is_read(run(link, deliveries.PAGE, *some), 2 * 45)


def test_one_delivery_by_its_id(link: Link) -> None:
    _, id = middle(link)
    plan = run(link, deliveries.FIND, ORGANIZATION, ENDPOINT, id, timedelta(minutes=1))
    assert_little_is_read(plan, 10)
    assert plan["Actual Rows"] == 1


def test_a_delivery_that_is_not_there(link: Link) -> None:
    plan = run(link, deliveries.FIND, ORGANIZATION, ENDPOINT, UUID(int=1), timedelta(minutes=1))
    assert plan["Actual Rows"] == 0
    assert scanned(plan) == []
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in nodes(plan) if node.get("Index Name")) == 0


def test_the_attempts_and_the_body_of_a_delivery(link: Link) -> None:
    at, id = middle(link)
    assert_little_is_read(run(link, deliveries.ATTEMPTS, ORGANIZATION, id, at, 100), 1)
    event = (ROWS // 2, link.execute(f"SELECT md5('{ROWS // 2}')::uuid".encode()).fetchall()[0][0], at)
    assert_little_is_read(run(link, deliveries.BODY, ORGANIZATION, "live", *event), 1)


@pytest.mark.parametrize("txid", [0, ROWS // 2, ROWS - 10])
def test_a_page_of_the_feed(link: Link, txid: int) -> None:
    assert_little_is_read(run(link, feed.PAGE, ORGANIZATION, "live", txid, UUID(int=0), 10**9, LIMIT), LIMIT)


def test_a_step_of_a_replay(link: Link) -> None:
    at, id = middle(link)
    span = (at - timedelta(days=1), factory.now(), at, id)
    step = (None, "{delivered}", replays.BATCH, factory.now())
    plan = run(link, replays.ADVANCE, ORGANIZATION, ENDPOINT, REPLAY, *span, *step)
    assert_little_is_read(plan, replays.BATCH + 1)


def test_the_next_replay_is_found_without_looking_at_the_queue_of_others(link: Link) -> None:
    plan = run(link, replays.NEXT, replays.MOST_WAITING)
    queue = [node for node in nodes(plan) if node.get("Relation Name") == "webhook_queue"]
    assert queue
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in queue) == 0
    assert all("endpoint_id" in node["Index Cond"] and "lane" in node["Index Cond"] for node in queue)


def read_of(plan: Plan, table: str) -> int:
    """The number of rows that were read from a table and its partitions.

    A partition that began some minutes ago has a page or two, and no index is used: what is passed over there is free.
    """
    scans = [node for node in nodes(plan) if str(node.get("Relation Name", "")).startswith(table)]
    in_vain = {id(node): node.get("Rows Removed by Filter", 0) for node in scans if node["Node Type"] != "Seq Scan"}
    # PostgreSQL tells the average of the loops, rounded.
    return sum(round((node["Actual Rows"] + in_vain.get(id(node), 0)) * node["Actual Loops"]) for node in scans)


def test_the_last_day_of_two_endpoints_by_the_hour(link: Link) -> None:
    """There are 45 messages in each hour."""
    hours = "{" + ",".join(str(NEWEST - timedelta(hours=n)) for n in range(1, 25)) + "}"
    ids = f"{{{ENDPOINT},{BUSY}}}"
    some = run(link, health.BY_HOUR, ORGANIZATION, ids, hours, 20)
    assert scanned(some) == []
    assert 2 * 23 * 20 <= read_of(some, "webhook_delivery") <= 2 * 24 * 21
    whole = run(link, health.BY_HOUR, ORGANIZATION, ids, hours, 1_000)
    assert scanned(whole) == []
    assert 2 * 23 * 45 <= read_of(whole, "webhook_delivery") <= 2 * 24 * 46


def test_what_waits_for_an_endpoint(link: Link) -> None:
    plan = run(link, health.WAITING, ORGANIZATION, f"{{{ENDPOINT},{BUSY}}}", 50)
    assert scanned(plan) == []
    assert read_of(plan, "webhook_queue") == 2 * 50


def test_the_time_that_the_newest_answers_took(link: Link) -> None:
    plan = run(link, health.MEDIAN, ORGANIZATION, f"{{{ENDPOINT},{BUSY}}}", 100, timedelta(minutes=1))
    assert scanned(plan) == []
    assert read_of(plan, "webhook_delivery") <= 2 * 100 + PARTITIONS
    assert 0 < read_of(plan, "webhook_attempt") <= 2 * 100
