"""Revision 0008 gives tables their plain names and keeps every row, partition and index."""

from collections.abc import Generator

import psycopg
import pytest

from gatepass.migrations import runner
from tests.migrations.version import install
from tests.postgres import Cluster

BEFORE = "0007"


@pytest.fixture(scope="module")
def upgraded(cluster: Cluster) -> Generator[psycopg.Connection]:
    """A database of version 0.1 with a row in each table, upgraded to head."""
    url = cluster.create_database("plain_names")
    install(url, BEFORE)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(OLD.encode())
    runner.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def test_no_relation_keeps_an_old_name(upgraded: psycopg.Connection) -> None:
    old = upgraded.execute(
        "SELECT relname FROM pg_class"
        " WHERE relnamespace = 'public'::regnamespace AND relname ~ '^(audit(?!_log)|change)'"
    ).fetchall()
    assert old == []


@pytest.mark.parametrize("table", ["request_log", "audit_log"])
def test_rows_stay_where_they_were(upgraded: psycopg.Connection, table: str) -> None:
    found = upgraded.execute(f"SELECT at::date::text, tableoid::regclass::text FROM {table} ORDER BY at".encode())
    assert found.fetchall() == [("2026-11-10", f"{table}_20261109"), ("2031-01-01", f"{table}_default")]


def test_indexes_are_named_after_their_table(upgraded: psycopg.Connection) -> None:
    names = {name for (name,) in upgraded.execute("SELECT indexname FROM pg_indexes WHERE tablename = 'audit_log'")}
    later = {"audit_log_by_transaction", "audit_log_moved_from"}
    assert names == {"audit_log_pkey", "audit_log_of_subject", "audit_log_of_actor"} | later


def test_history_is_kept_as_long_as_before(upgraded: psycopg.Connection) -> None:
    kept = dict(upgraded.execute("SELECT name, keep::text FROM history WHERE name LIKE '%\\_log'").fetchall())
    assert kept == {"request_log": "400 days", "audit_log": "2555 days"}


def test_answers_are_still_found_by_their_key(upgraded: psycopg.Connection) -> None:
    assert upgraded.execute(BY_KEY).fetchall() == [("activated",)]


def test_the_routine_with_the_old_arguments_is_gone(upgraded: psycopg.Connection) -> None:
    arguments = upgraded.execute("SELECT proargnames FROM pg_proc WHERE proname = 'activate_scans'").fetchall()
    assert len(arguments) == 1
    assert "p_idempotency_key" in arguments[0][0]


BY_KEY = "SELECT verdict FROM idempotency WHERE idempotency_key = '00000000-0000-0000-0000-000000000001'"
OLD = """
    CREATE TABLE audit_20261109 PARTITION OF audit FOR VALUES FROM ('2026-11-09 00:00Z') TO ('2026-11-16 00:00Z');
    CREATE TABLE change_20261109 PARTITION OF change FOR VALUES FROM ('2026-11-09 00:00Z') TO ('2026-12-07 00:00Z');
    INSERT INTO audit (organization_id, at, id, mode, key_id, method, path, status, duration_us)
    SELECT gen_random_uuid(), at, gen_random_uuid(), 'live', gen_random_uuid(), 'GET', '/events', 200, 1
      FROM unnest('{2026-11-10,2031-01-01}'::timestamptz[]) at;
    INSERT INTO change (organization_id, at, id, actor, subject, subject_id, action)
    SELECT gen_random_uuid(), at, gen_random_uuid(), 'operator', 'card', gen_random_uuid(), 'issued'
      FROM unnest('{2026-11-10,2031-01-01}'::timestamptz[]) at;
    INSERT INTO idempotency (organization_id, retry_key, generation, fingerprint, at, verdict)
    VALUES (gen_random_uuid(), '00000000-0000-0000-0000-000000000001', 0, gen_random_uuid(), now(), 'activated');
    CREATE FUNCTION activate_scans(
        p_at timestamptz, p_statuses jsonb, p_request uuid[], p_organization uuid[], p_mode text[], p_key uuid[],
        p_address text[], p_received_at timestamptz[], p_elapsed_us integer[], p_retry_key uuid[], p_fingerprint uuid[],
        p_event uuid[], p_card_number text[], p_signing_key uuid[], p_expired boolean[], p_gate text[],
        p_scanner_id text[], p_occurred_at timestamptz[], p_given jsonb[]
    ) RETURNS void LANGUAGE sql AS 'SELECT';
"""
