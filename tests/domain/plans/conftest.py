"""The large database, and a session on it with the settings of a scan."""

from collections.abc import Generator

import psycopg
import pytest

from gatepass.migrations import runner
from tests.domain.plans import large_database
from tests.domain.plans.explain import Link
from tests.postgres import Cluster


@pytest.fixture(scope="module")
def large(cluster: Cluster) -> Generator[Link]:
    """A connection to a database whose statistics say that it is large."""
    url = cluster.create_database("gatepass_plans")
    runner.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        large_database.load(connection)
        yield connection


@pytest.fixture
def inside(large: Link) -> Generator[Link]:
    """A session with the settings of judge_scans."""
    (row,) = large.execute("SELECT proconfig FROM pg_proc WHERE proname = 'judge_scans'").fetchall()
    names: list[str] = []
    for setting in row[0]:
        name, _, value = setting.partition("=")
        large.execute(f"SET {name} = '{value}'".encode())
        names.append(name)
    assert "enable_seqscan" in names
    yield large
    for name in names:
        large.execute(f"RESET {name}".encode())
