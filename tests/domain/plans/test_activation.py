"""A scan uses whole keys of its indexes at any size, and joins by nested loops alone."""

import json
import re
from typing import Final

import psycopg
import pytest

from gatepass.migrations import runner
from tests.domain.plans.activation import activation_plans, ensure_key, scan_once
from tests.domain.plans.explain import Link, faults, indexes, nodes
from tests.domain.plans.large_database import ANYTHING, BELIEVED, LARGEST
from tests.postgres import Cluster


def test_a_scan_uses_whole_keys(inside: Link) -> None:
    plans = activation_plans(inside)
    assert [fault for plan in plans for fault in faults(plan)] == []
    used = {index for plan in plans for index in indexes(plan)}
    assert {"event_pkey", "card_organization_id_number_key"} <= used
    assert used & {"ticket_of_card", "ticket_in_use", "ticket_pkey"}
    assert {"idempotency_0_pkey", "idempotency_1_pkey", "ticket_category_pkey"} <= used


def test_a_scan_joins_by_nested_loops_alone(inside: Link) -> None:
    """Any other join would read a table, and would lock tickets in another order in each batch."""
    kinds = {node["Node Type"] for plan in activation_plans(inside) for node in nodes(plan)}
    assert kinds & {"Hash Join", "Merge Join", "Seq Scan", "Gather"} <= {"Seq Scan"}


def test_what_postgresql_really_runs_is_what_was_explained(inside: Link) -> None:
    """auto_explain logs the plans of a real call. Not every server has it."""
    ensure_key(inside)  # before, so that its own look-ups are not among them
    try:
        inside.execute("LOAD 'auto_explain'")
    except psycopg.errors.UndefinedFile:
        pytest.skip("this PostgreSQL comes without auto_explain")
    notices: list[str] = []

    def collect(notice: psycopg.errors.Diagnostic) -> None:
        notices.append(notice.message_primary or "")

    inside.add_notice_handler(collect)
    for setting in ("log_min_duration = 0", "log_nested_statements = on", "log_format = json"):
        inside.execute(f"SET auto_explain.{setting}".encode())
    inside.execute("SET client_min_messages = log")
    scan_once(inside)
    inside.execute("RESET client_min_messages")
    inside.execute("SET auto_explain.log_min_duration = -1")
    inside.remove_notice_handler(collect)
    plans = [json.loads(text.partition("plan:\n")[2])["Plan"] for text in notices if "plan:\n" in text]
    assert [fault for plan in plans for fault in faults(plan)] == []
    explained = {index for plan in activation_plans(inside) for index in indexes(plan)}
    real = {index for plan in plans for index in indexes(plan)}
    # The generations before the first are 0 and 2; the subscriptions are read by a routine of its own.
    assert real - explained == {"idempotency_2_pkey", "webhook_endpoint_listening", "webhook_feed_pkey"}
    assert explained - real == {"idempotency_1_pkey"}


# ---- that this would notice ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "loss",
    [
        "DROP INDEX ticket_in_use, ticket_of_card",
        "ALTER TABLE card DROP CONSTRAINT card_organization_id_number_key",
        "ALTER TABLE idempotency DROP CONSTRAINT idempotency_pkey",
    ],
)
def test_a_lost_index_is_noticed_in_a_scan(inside: Link, loss: str) -> None:
    with inside.transaction(force_rollback=True):
        inside.execute(loss.encode())
        assert [fault for plan in activation_plans(inside) for fault in faults(plan)] != []


def test_a_idempotency_key_is_looked_up_whole_while_there_are_none(cluster: Cluster) -> None:
    """Scans fill this table from empty every day: a plan made before them must be good after them."""
    url = cluster.create_database("gatepass_first_day")
    runner.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET enable_seqscan = off")
        for index in (node for plan in activation_plans(connection) for node in nodes(plan)):
            if index.get("Index Name", "").startswith("idempotency"):
                assert {"organization_id", "idempotency_key"} <= set(re.findall(r"\w+", index["Index Cond"]))


# ---- a database that grows faster than it is analyzed ----------------------------------------------------------

GROW: Final = """
    INSERT INTO ticket_category (organization_id, id, event_id, name, price_minor, currency, quantity_total)
        SELECT '{organization}', '{anything}', e.id, 'Seats', 0, 'EUR', 0 FROM event e;
    INSERT INTO card (organization_id, id, number, issued_at)
        SELECT '{organization}', gen_random_uuid(), 'SVC 0000 0000 ' || to_char(s, 'FM0000'), now()
          FROM generate_series(1, 9999) s;
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at)
        SELECT '{organization}', gen_random_uuid(), e.id, '{anything}', c.id, now()
          FROM card c, event e;
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at, cancelled_at)
        SELECT organization_id, gen_random_uuid(), event_id, category_id, card_id, now(), now() FROM ticket
"""


@pytest.mark.parametrize("analyzed", [False, True], ids=["never analyzed", "analyzed while empty"])
def test_a_plan_that_is_older_than_the_rows_reads_few_of_them(cluster: Cluster, analyzed: bool) -> None:
    """Gates keep their connections, and with them plans that were made while the tables were empty."""
    url = cluster.create_database(f"gatepass_young_{analyzed}")
    runner.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        for table in BELIEVED:
            connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)".encode())
        if analyzed:
            connection.execute("ANALYZE")
        scan_once(connection)
        connection.execute("SET session_replication_role = replica")
        connection.execute(
            "INSERT INTO event (organization_id, id, title, starts_at, ends_at, status, created_at)"
            " VALUES (%s, %s, 'Night', now(), now() + interval '1 hour', 'published', now())",
            (LARGEST, ANYTHING),
        )
        for statement in GROW.format(organization=LARGEST, anything=ANYTHING).split(";\n"):
            connection.execute(statement.encode())
        with connection.transaction():
            ((before,),) = connection.execute(ROWS_READ).fetchall()
            scan_once(connection, card_number="SVC 0000 0000 0007")
            ((after,),) = connection.execute(ROWS_READ).fetchall()
    assert after - before < 100


ROWS_READ: Final = """
    SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))
      FROM pg_stat_xact_user_tables
     WHERE relname IN ('ticket', 'card', 'event')
"""
