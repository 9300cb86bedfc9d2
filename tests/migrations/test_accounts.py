"""Revision 0009: who was invited by the operator is proven, nobody else, and version 0.2 goes on beside it."""

from collections.abc import Generator

import psycopg
import pytest

from gatepass.migrations import runner
from gatepass.migrations.head import REVISIONS
from gatepass.migrations.sql import statements
from tests.postgres import Cluster

BEFORE = "0008"


@pytest.fixture(scope="module")
def upgraded(cluster: Cluster) -> Generator[psycopg.Connection]:
    """A database of version 0.2 with three people, upgraded to head."""
    url = cluster.create_database("accounts")
    with psycopg.connect(url, autocommit=True) as connection:
        for path in REVISIONS:
            if path.name[:4] <= BEFORE:
                for statement in statements(path.read_text()):
                    connection.execute(statement.encode())
        connection.execute("CREATE TABLE alembic_version (version_num varchar(32) PRIMARY KEY)")
        connection.execute("INSERT INTO alembic_version VALUES (%s)", (BEFORE,))
        connection.execute(OLD.encode())
    runner.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def test_whom_the_operator_invited_is_proven(upgraded: psycopg.Connection) -> None:
    found = upgraded.execute("SELECT name, proven_at IS NOT NULL FROM person ORDER BY name").fetchall()
    assert found == [("First owner", True), ("Invited by a colleague", False), ("Took an old account", False)]


def test_an_open_invitation_of_the_operator_still_proves(upgraded: psycopg.Connection) -> None:
    found = upgraded.execute("SELECT DISTINCT invited_by, proves_email FROM invitation ORDER BY 1").fetchall()
    assert found == [("operator", True), ("person 1", False)]


def test_version_0_2_still_makes_people_and_invitations(upgraded: psycopg.Connection) -> None:
    """Its statements, on the new schema."""
    upgraded.execute(
        "INSERT INTO person (id, email, name, created_at) VALUES (gen_random_uuid(), 'NEW@example.org', 'New', now())"
        " ON CONFLICT (lower(email)) DO NOTHING"
    )
    found = upgraded.execute("SELECT proven_at FROM person WHERE lower(email) = 'new@example.org'").fetchall()
    assert found == [(None,)]
    upgraded.execute("DELETE FROM person WHERE name = 'New'")


# A person gets the id of their first invitation. Number 3 took the operator's with an account that was there before.
OLD = """
INSERT INTO organization (id, name, created_at) VALUES ('00000000-0000-0000-0000-00000000000a', 'Harbour', now());
INSERT INTO person (id, email, name, created_at) VALUES
    ('00000000-0000-0000-0000-000000000001', 'one@example.org', 'First owner', now()),
    ('00000000-0000-0000-0000-000000000002', 'two@example.org', 'Invited by a colleague', now()),
    ('00000000-0000-0000-0000-000000000003', 'three@example.org', 'Took an old account', now());
INSERT INTO invitation (organization_id, id, email, role, token_hash, invited_by, invited_at, expires_at, accepted_at,
                        accepted_by)
SELECT '00000000-0000-0000-0000-00000000000a', i.id::uuid, 'x@example.org', 'owner', sha256(i.id::bytea), i.by, now(),
       now() + interval '7 days', CASE WHEN i.person IS NULL THEN NULL ELSE now() END, i.person::uuid
  FROM (VALUES ('00000000-0000-0000-0000-000000000001', 'operator', '00000000-0000-0000-0000-000000000001'),
               ('00000000-0000-0000-0000-000000000002', 'person 1', '00000000-0000-0000-0000-000000000002'),
               ('00000000-0000-0000-0000-000000000009', 'operator', '00000000-0000-0000-0000-000000000003'),
               ('00000000-0000-0000-0000-000000000008', 'operator', NULL)) i (id, by, person)
"""
