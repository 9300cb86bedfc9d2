"""`gatepass doctor` on a real primary with a standby: synchronous, asynchronous, frozen; through PgBouncer."""

import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from gatepass.base.commit_probe import DOES_NOT_COMMIT, NOT_PREPARED
from gatepass.base.encryption import new_key
from gatepass.cli.doctor import cluster
from gatepass.domain.diagnostics import Replication
from tests.base.pgbouncer import DEBIANS, KEEPS_NONE, KEEPS_STATEMENTS, newer, pgbouncer
from tests.cli.command import Command
from tests.postgres import Cluster, free_port, start_cluster, start_standby

Doctor = Callable[[str], list[str]]

NAME = "gatepass_cluster"
SYNCHRONOUS = "✓ Replication is synchronous (ANY 1 (near)); connected: near."


@dataclass(frozen=True)
class Pair:
    primary: Cluster
    standby: Cluster

    def configure(self, *statements: str) -> None:
        with psycopg.connect(self.primary.url(NAME), autocommit=True) as connection:
            connection.execute("SET synchronous_commit = local")
            for statement in statements:
                connection.execute(statement.encode())
            connection.execute("SELECT pg_reload_conf()")

    @contextmanager
    def synchronous(self, names: str = "ANY 1 (near)") -> Generator[None]:
        self.configure(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        try:
            self._wait_until_synchronous()
            yield
        finally:
            self.configure("ALTER SYSTEM RESET synchronous_standby_names")

    def _wait_until_synchronous(self) -> None:
        deadline = time.monotonic() + 60
        with psycopg.connect(self.primary.url(), autocommit=True) as connection:
            while connection.execute("SELECT sync_state FROM pg_stat_replication").fetchall() != [("quorum",)]:
                assert time.monotonic() < deadline
                time.sleep(0.02)


@pytest.fixture(scope="module")
def pair() -> Generator[Pair]:
    primary = start_cluster()
    primary.create_migrated(NAME)
    with psycopg.connect(primary.url(NAME), autocommit=True) as connection:
        connection.execute("CREATE ROLE plain LOGIN")
        connection.execute("GRANT pg_read_all_data TO plain")
    standby = start_standby(primary, "near")
    yield Pair(primary, standby)
    standby.stop()
    primary.stop()


@pytest.fixture
def doctor(tmp_path: Path) -> Doctor:
    """The lines that it prints for the database at this URL."""
    command = Command(tmp_path, {"GATEPASS_ENCRYPTION_KEYS": new_key()})

    def lines(url: str) -> list[str]:
        told = command.having(GATEPASS_DATABASE_URL=url)("doctor")
        assert told.stderr == ""
        found = told.stdout.splitlines()
        assert told.returncode == any(line.startswith("✗") for line in found)
        return found

    return lines


def wrong(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("✗") and "Partitions" not in line]


def test_asynchronous_replication_is_a_warning(pair: Pair, doctor: Doctor) -> None:
    lines = doctor(pair.primary.url(NAME))
    assert wrong(lines) == []
    (line,) = [line for line in lines if line.startswith("!")]
    assert line.startswith("! Replication is asynchronous (near): a failover loses scans")
    assert "✓ A commit succeeds." in lines


def test_synchronous_replication_is_told_with_its_names(pair: Pair, doctor: Doctor) -> None:
    with pair.synchronous():
        lines = doctor(pair.primary.url(NAME))
        assert SYNCHRONOUS in lines
        assert wrong(lines) == []


def test_a_role_that_may_not_see_the_states_is_told_what_to_grant(pair: Pair, doctor: Doctor) -> None:
    with pair.synchronous():
        (line,) = [line for line in doctor(as_plain(pair)) if "synchronous" in line]
        assert line == f"{SYNCHRONOUS} GRANT pg_monitor to the role, to see which of them count."
        pair.configure("GRANT pg_monitor TO plain")
        assert SYNCHRONOUS in doctor(as_plain(pair))
        pair.configure("REVOKE pg_monitor FROM plain")


def as_plain(pair: Pair) -> str:
    return pair.primary.url(NAME).replace("postgres@", "plain@")


def test_without_its_synchronous_standby_no_commit_succeeds(pair: Pair, doctor: Doctor) -> None:
    with pair.synchronous("ANY 2 (near, far)"):
        replication, commit = wrong(doctor(pair.primary.url(NAME)))
    assert "connected: near. 2 must have a commit" in replication
    assert commit == f"✗ {DOES_NOT_COMMIT}"


def test_a_standby_that_froze_is_found_by_a_commit(pair: Pair, doctor: Doctor) -> None:
    with pair.synchronous():
        pair.standby.signal(signal.SIGSTOP)
        try:
            lines = doctor(pair.primary.url(NAME))
        finally:
            pair.standby.signal(signal.SIGCONT)
    assert SYNCHRONOUS in lines, "PostgreSQL has not noticed it yet"
    assert wrong(lines) == [f"✗ {DOES_NOT_COMMIT}"]


@pytest.mark.parametrize(
    ("statement", "remedy"),
    [
        ("ALTER ROLE postgres SET synchronous_commit = off", "the role (ALTER ROLE"),
        (f"ALTER DATABASE {NAME} SET synchronous_commit = off", "the database (ALTER DATABASE"),
        ("ALTER SYSTEM SET synchronous_commit = off", "postgresql.conf"),
    ],
)
def test_commits_that_do_not_wait_are_a_fault(pair: Pair, doctor: Doctor, statement: str, remedy: str) -> None:
    pair.configure(statement)
    try:
        (line,) = wrong(doctor(pair.primary.url(NAME)))
    finally:
        pair.configure(statement.replace(" SET ", " RESET ").removesuffix(" = off"))
    assert line.startswith("✗ synchronous_commit is off: a crash of PostgreSQL loses scans")
    assert remedy in line


def test_a_standby_in_the_url_is_a_fault_with_its_remedy(pair: Pair, doctor: Doctor) -> None:
    standby, commit = wrong(doctor(pair.standby.url(NAME)))
    assert "is a standby" in standby
    assert "target_session_attrs=read-write" in standby
    assert "read-only" in commit


def test_each_of_several_hosts_is_told(pair: Pair, doctor: Doctor) -> None:
    gone = free_port()
    hosts = f"127.0.0.1:{gone},127.0.0.1:{pair.standby.port},127.0.0.1:{pair.primary.port}"
    lines = doctor(f"postgresql://postgres@{hosts}/{NAME}")
    assert wrong(lines) == []
    assert any(line.startswith(f"! 127.0.0.1:{gone} does not answer.") for line in lines)
    assert f"✓ 127.0.0.1:{pair.standby.port} is a standby." in lines
    assert f"✓ 127.0.0.1:{pair.primary.port} is a primary." in lines


def test_several_hosts_without_a_primary_are_a_fault(pair: Pair, doctor: Doctor) -> None:
    hosts = f"127.0.0.1:{pair.standby.port},127.0.0.1:{free_port()}"
    (line,) = wrong(doctor(f"postgresql://postgres@{hosts}/{NAME}"))
    assert "is a standby" in line


@pytest.mark.parametrize("version", ["1.18", "1.24 told to keep none"])
def test_a_pooler_without_prepared_statements_is_one_line(pair: Pair, doctor: Doctor, version: str) -> None:
    program, settings = (DEBIANS, {}) if version == "1.18" else (newer(), KEEPS_NONE)
    with pgbouncer(pair.primary, NAME, program, **settings) as through:
        assert wrong(doctor(through)) == [f"✗ {NOT_PREPARED}"]


def test_a_pooler_that_keeps_prepared_statements_is_named(pair: Pair, doctor: Doctor) -> None:
    with pgbouncer(pair.primary, NAME, newer(), **KEEPS_STATEMENTS) as through:
        lines = doctor(through)
    assert wrong(lines) == []
    assert any(line.startswith("✓ A pooler in transaction mode is in front of PostgreSQL") for line in lines)


def test_a_pooler_in_session_mode_is_no_matter(pair: Pair, doctor: Doctor) -> None:
    with pgbouncer(pair.primary, NAME, DEBIANS, pool_mode="session") as through:
        lines = doctor(through)
    assert wrong(lines) == []
    assert not any("pooler" in line for line in lines)


@pytest.mark.parametrize(
    ("names", "connected", "good"),
    [
        ("a", ["a"], True),
        ("a, b", [], False),
        ("*", ["x"], True),
        ("FIRST 2 (a, b, c)", ["a", "c"], True),
        ("2 (a, b)", ["a"], False),
        ("any 3 (a, b, c)", ["a", "b"], False),
        ('"2 (odd"', ["2 (odd"], True),
    ],
)
def test_how_many_standbys_a_commit_needs(names: str, connected: list[str], good: bool) -> None:
    (finding,) = cluster.of_replication(Replication(False, "on", "default", names, connected, connected))
    assert finding.good is good
