"""Letting people in from the command line: the first owner of an organization, and somebody who lost everything."""

import psycopg
import pytest

from tests.cli.command import Command

OWNER = "ada@example.org"


def rows(command: Command, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(command.env["GATEPASS_DATABASE_URL"]) as connection:
        return connection.execute(query.encode()).fetchall()


def test_an_organization_with_a_link_for_its_owner(on_database: Command) -> None:
    told = on_database("organization", "create", "Harbour Nights", "--owner", OWNER)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("http://localhost:8000/studio/welcome/")
    assert rows(on_database, "SELECT o.name, i.email, i.role FROM organization o JOIN invitation i ON true") == [
        ("Harbour Nights", OWNER, "owner")
    ]
    assert rows(on_database, "SELECT count(*) FROM signing_key") == [(1,)]
    assert rows(on_database, "SELECT DISTINCT actor FROM change") == [("operator",)]


@pytest.mark.parametrize(("name", "owner"), [("", OWNER), ("x" * 201, OWNER), ("Fine", "nobody"), ("a\nb", OWNER)])
def test_what_cannot_be_made_leaves_nothing(on_database: Command, name: str, owner: str) -> None:
    told = on_database("organization", "create", name, "--owner", owner)
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert rows(on_database, "SELECT FROM organization") == []


def test_a_link_for_somebody_who_lost_everything_is_in_the_audit(on_database: Command) -> None:
    organization, person = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"
    with psycopg.connect(on_database.env["GATEPASS_DATABASE_URL"]) as connection:
        connection.execute(
            f"""
            INSERT INTO organization (id, name, created_at) VALUES ('{organization}', 'Harbour Nights', now());
            INSERT INTO person (id, email, name, created_at) VALUES ('{person}', '{OWNER}', 'Ada', now());
            INSERT INTO member (organization_id, person_id, role, joined_at)
            VALUES ('{organization}', '{person}', 'owner', now())
            """.encode()
        )
    told = on_database("person", "link", OWNER.upper())
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("http://localhost:8000/studio/link/")
    assert rows(on_database, "SELECT actor, subject_id::text, action FROM change") == [
        ("operator", person, "sign_in_link_made")
    ]
    (minutes,) = rows(
        on_database, "SELECT (expires_at - now()) BETWEEN '14 minutes' AND '15 minutes' FROM sign_in_link"
    )
    assert minutes == (True,)


def test_nobody_gets_no_link(on_database: Command) -> None:
    told = on_database("person", "link", "nobody@example.org")
    assert (told.returncode, told.stderr) == (1, "Nobody here has the e-mail address nobody@example.org.\n")
