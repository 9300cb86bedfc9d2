import psycopg
import pytest

from gatepass.migrations.head import head
from tests.cli.command import Command
from tests.postgres import free_port


def test_an_empty_database_is_brought_to_head_and_has_partitions(on_empty_database: Command) -> None:
    told = on_empty_database.cold("migrate")
    assert told.returncode == 0, told.stderr
    assert told.stdout.count("\n") == 1
    assert head() in told.stdout
    assert "partitions made" in told.stdout


def test_migrating_again_changes_nothing(on_database: Command) -> None:
    told = on_database("migrate")
    assert told.returncode == 0
    assert "nothing was due" in told.stdout


def test_the_sql_needs_no_database_and_makes_the_same_tables(
    gatepass: Command, on_empty_database: Command, on_database: Command
) -> None:
    script = gatepass("migrate", "--sql").stdout
    with psycopg.connect(on_empty_database.env["GATEPASS_DATABASE_URL"], autocommit=True) as connection:
        connection.execute(script.encode())
        made = connection.execute(TABLES).fetchall()
    with psycopg.connect(on_database.env["GATEPASS_DATABASE_URL"]) as connection:
        assert set(made) <= set(connection.execute(TABLES).fetchall())


def test_a_database_that_is_down_is_told_in_one_line_without_the_password(gatepass: Command) -> None:
    port = free_port()
    told = gatepass.having(GATEPASS_DATABASE_URL=f"postgresql://me:hush@127.0.0.1:{port}/x")("migrate")
    assert told.returncode == 1
    assert told.stderr.startswith(f"PostgreSQL does not answer at 127.0.0.1:{port}.")
    assert told.stderr.count("\n") == 1
    assert "hush" not in told.stderr


def test_a_database_that_does_not_exist_is_named(on_empty_database: Command) -> None:
    missing = on_empty_database.env["GATEPASS_DATABASE_URL"] + "_missing"
    told = on_empty_database.having(GATEPASS_DATABASE_URL=missing)("migrate")
    assert told.returncode == 1
    assert "There is no database cli_" in told.stderr
    assert "createdb" in told.stderr


def test_an_unknown_user_is_told_so(on_empty_database: Command) -> None:
    url = on_empty_database.env["GATEPASS_DATABASE_URL"].replace("postgres@", "nobody:hush@")
    told = on_empty_database.having(GATEPASS_DATABASE_URL=url)("migrate")
    assert told.returncode == 1
    assert "refuses this user" in told.stderr
    assert "hush" not in told.stderr


@pytest.mark.parametrize("url", ["mysql://127.0.0.1/x", "127.0.0.1", "postgresql+asyncpg://127.0.0.1/x"])
def test_what_is_no_url_of_postgresql_is_a_wrong_setting(gatepass: Command, url: str) -> None:
    told = gatepass.having(GATEPASS_DATABASE_URL=url)("migrate")
    assert told.returncode == 2
    assert told.stderr.startswith("GATEPASS_DATABASE_URL: ")


def test_a_revision_from_the_future_is_told_in_one_line(on_database: Command) -> None:
    with psycopg.connect(on_database.env["GATEPASS_DATABASE_URL"]) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    told = on_database("migrate")
    assert told.returncode == 1
    assert "9999" in told.stderr
    assert "Traceback" not in told.stderr


TABLES = """
    SELECT c.relname, a.attname, a.atttypid::regtype::text, a.attnotnull
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
     WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
"""
