from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg
import pytest

from gatepass.cli.commands import doctor
from gatepass.cli.doctor.cluster import NO_STANDBY
from gatepass.domain.diagnostics import DatabaseServer
from gatepass.domain.reencrypt import EncryptionReport, SecretLocation
from tests.cli.command import Command
from tests.postgres import free_port

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
LOST = SecretLocation("signing_key", UUID(int=1))


def wrong(told: str) -> list[str]:
    return [line for line in told.splitlines() if line.startswith("✗")]


def test_all_is_well_on_a_migrated_database(on_database: Command) -> None:
    told = on_database.cold("doctor")
    assert told.returncode == 0, told.stdout
    assert wrong(told.stdout) == []
    assert told.stdout.count("✓") == 9
    assert [line for line in told.stdout.splitlines() if line.startswith("!")] == [f"! {NO_STANDBY}"]


def test_every_wrong_setting_is_named(gatepass: Command) -> None:
    told = gatepass.having(GATEPASS_PORT="high", GATEPASS_CELL="AA")("doctor")
    assert told.returncode == 1
    assert [line.split(":")[0] for line in wrong(told.stdout)] == ["✗ GATEPASS_PORT", "✗ GATEPASS_CELL"]


@pytest.mark.parametrize("key", ["", "short"])
def test_an_encryption_key_that_is_missing_or_malformed_is_found(on_database: Command, key: str) -> None:
    told = on_database.having(GATEPASS_ENCRYPTION_KEYS=key)("doctor")
    assert told.returncode == 1
    (line,) = wrong(told.stdout)
    assert "gatepass secret" in line


def test_a_database_that_is_down_is_found_without_a_traceback(gatepass: Command) -> None:
    told = gatepass.having(GATEPASS_DATABASE_URL=f"postgresql://me:hush@127.0.0.1:{free_port()}/x")("doctor")
    assert told.returncode == 1
    assert any("does not answer" in line for line in wrong(told.stdout))
    assert "hush" not in told.stdout + told.stderr
    assert "Traceback" not in told.stderr


def test_a_database_that_was_never_migrated_is_found(on_empty_database: Command) -> None:
    (line,) = wrong(on_empty_database("doctor").stdout)
    assert "gatepass migrate" in line


def test_a_schema_of_another_version_is_found(on_database: Command) -> None:
    with psycopg.connect(on_database.env["GATEPASS_DATABASE_URL"]) as connection:
        connection.execute("COMMENT ON TABLE alembic_version IS 'something else'")
    (line,) = wrong(on_database("doctor").stdout)
    assert "something else" in line
    assert "gatepass migrate" in line


def test_partitions_that_are_missing_are_named(on_database: Command) -> None:
    with psycopg.connect(on_database.env["GATEPASS_DATABASE_URL"]) as connection:
        (name,) = connection.execute(FIRST_PARTITION).fetchone() or ("",)
        connection.execute(f"DROP TABLE {name}".encode())
    told = on_database("doctor")
    assert told.returncode == 1
    (line,) = wrong(told.stdout)
    assert name in line
    assert "gatepass maintenance" in line


@pytest.mark.parametrize(
    ("sealed", "good", "words"),
    [
        (EncryptionReport(), [True], ["0 secret(s) are sealed under the first"]),
        (EncryptionReport(current=5), [True], ["5 secret(s) are sealed under the first"]),
        (
            EncryptionReport(current=5, older=2),
            [True],
            ["2 of 7 secret(s) are sealed under an older key. Run `gatepass reencrypt`"],
        ),
        (
            EncryptionReport(older=2, undecryptable=[LOST]),
            [True, False],
            ["2 of 2 secret(s)", "1 secret(s) cannot be opened by any"],
        ),
        (
            EncryptionReport(undecryptable=[LOST]),
            [True, False],
            ["0 secret(s)", "`gatepass reencrypt` names their rows"],
        ),
    ],
)
def test_secrets_are_told_by_the_key_that_opens_them(
    sealed: EncryptionReport, good: list[bool], words: list[str]
) -> None:
    findings = list(doctor._secrets(sealed))
    assert [finding.good for finding in findings] == good
    assert all(word in f"{finding.line} {finding.remedy}" for word, finding in zip(words, findings, strict=True))


@pytest.mark.parametrize(
    ("ahead", "good", "word"),
    [
        (timedelta(0), True, "agree"),
        (timedelta(seconds=0.9), True, "agree"),
        (timedelta(seconds=2), False, "2.0 s ahead of"),
        (timedelta(seconds=-90), False, "90.0 s behind"),
    ],
)
def test_clocks_that_disagree_are_told_which_way(ahead: timedelta, good: bool, word: str) -> None:
    finding = doctor._skew(DatabaseServer("18.4", 18, NOON + ahead), NOON, NOON)
    assert finding.good is good
    assert word in finding.line


def test_a_slow_answer_is_not_taken_for_a_wrong_clock() -> None:
    asked, answered = NOON, NOON + timedelta(seconds=4)
    assert doctor._skew(DatabaseServer("18.4", 18, NOON + timedelta(seconds=2)), asked, answered).good


@pytest.mark.parametrize(("major", "good"), [(14, False), (15, True), (18, True), (19, False)])
def test_the_versions_that_are_tested(major: int, good: bool) -> None:
    assert doctor._version(DatabaseServer(f"{major}.1", major, NOON)).good is good


FIRST_PARTITION = "SELECT min(relname) FROM pg_class WHERE relname ~ '^scan_[0-9]{8}$' AND relkind = 'r'"
