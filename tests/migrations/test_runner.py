"""`upgrade` beside others: readers that hold a lock, another `upgrade`, several hosts."""

import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from gatepass.migrations import runner
from gatepass.migrations.head import head
from tests.migrations.version import install
from tests.postgres import Cluster, free_port
from tests.size import NIGHT

# Revision 0008 renames `audit`, then changes `idempotency`.
BEFORE, FIRST, LATER = "0007", "audit", "idempotency"
# A little more than LOCK_WAIT.
LONGEST_WAIT = 1.0


def test_a_revision_that_waits_for_a_lock_holds_no_other(cluster: Cluster) -> None:
    """A report reads one table for long. What the revision has locked before is free meanwhile."""
    url = cluster.create_database("gatepass_locked")
    install(url, BEFORE)
    with psycopg.connect(url) as report, psycopg.connect(url, autocommit=True) as gate, ThreadPoolExecutor(1) as pool:
        gate.execute("SET lock_timeout = '60s'")
        report.execute(f"SELECT count(*) FROM {LATER}".encode())
        upgrade = pool.submit(runner.upgrade, url)
        _wait_until_it_waits(gate, LATER)
        waits = [_seconds_to_read(gate, FIRST) for _ in range(20)]
        if NIGHT:
            assert max(waits) < LONGEST_WAIT
        assert not upgrade.done()
        report.rollback()
        assert upgrade.result(60) == head()


def test_two_at_once_take_turns(cluster: Cluster) -> None:
    url = cluster.create_database("gatepass_twice")
    with ThreadPoolExecutor(4) as pool:
        assert [one.result(60) for one in [pool.submit(runner.upgrade, url) for _ in range(4)]] == [head()] * 4
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        held = connection.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = %s", (runner.ADVISORY_LOCK,)
        ).fetchone()
    assert held == (0,)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_several_hosts_may_be_named(cluster: Cluster, scheme: str) -> None:
    url = cluster.create_database("gatepass_hosts")
    before, _, rest = url.partition("@")
    hosts = f"127.0.0.1:{free_port()},127.0.0.1:{cluster.port}"
    assert runner.upgrade(f"{before}@{hosts}/{rest.partition('/')[2]}".replace("postgresql", scheme)) == head()


def _wait_until_it_waits(connection: psycopg.Connection, table: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        waiting = connection.execute(
            "SELECT count(*) FROM pg_locks WHERE relation = %s::regclass AND NOT granted", (table,)
        ).fetchone()
        if waiting != (0,):
            return
    raise AssertionError("the revision never waited")


def _seconds_to_read(connection: psycopg.Connection, table: str) -> float:
    began = time.monotonic()
    connection.execute(f"SELECT count(*) FROM {table}".encode())
    return time.monotonic() - began
