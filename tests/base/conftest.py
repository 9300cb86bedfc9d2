"""Fixtures of base/: a database of their own."""

import psycopg
import pytest

from tests.postgres import Cluster


@pytest.fixture(scope="session")
def url(cluster: Cluster) -> str:
    """A database with a table, and with a commit that hangs."""
    made = cluster.create_database("gatepass_base")
    with psycopg.connect(made, autocommit=True) as connection:
        connection.execute("CREATE TABLE note (id uuid PRIMARY KEY)")
        connection.execute("CREATE TABLE stuck (id uuid PRIMARY KEY)")
        connection.execute(
            "CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN PERFORM pg_sleep(300); RETURN NULL; END $$"
        )
        connection.execute(
            "CREATE CONSTRAINT TRIGGER hang AFTER INSERT ON stuck DEFERRABLE INITIALLY DEFERRED"
            " FOR EACH ROW EXECUTE FUNCTION hang()"
        )
    return made
