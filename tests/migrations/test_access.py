"""Revision 0010: what version 0.2 writes beside it gets the careful defaults."""

from uuid import uuid4

import psycopg

from tests import factory


async def test_sessions_of_older_code_have_no_second_factor(tenant: factory.Tenant, database_url: str) -> None:
    person, session = uuid4(), uuid4()
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "INSERT INTO person (id, email, name, created_at) VALUES (%s, %s, 'Ada', now())",
            (person, f"{person}@example.org"),
        )
        connection.execute(
            "INSERT INTO studio_session (id, token_hash, person_id, began_at, seen_at, expires_at, confirmed_at,"
            " address, browser, chosen_organization_id)"
            " VALUES (%s, sha256(%s), %s, now(), now(), now() + interval '1 day', now(), null, 'old', null)",
            (session, session.bytes, person),
        )
        connection.execute("INSERT INTO organization (id, name, created_at) VALUES (%s, 'Old', now())", (person,))
        rows = connection.execute(
            "SELECT s.second_factor, o.requires_second_factor, o.studio_networks"
            "  FROM studio_session s, organization o WHERE s.id = %s AND o.id = %s",
            (session, person),
        ).fetchall()
        connection.rollback()
    assert rows == [(False, False, None)]
