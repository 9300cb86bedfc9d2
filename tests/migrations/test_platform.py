"""Revision 0013: duplicates of version 0.2 stay, and what it moves or erases beside it takes the address along."""

from uuid import UUID, uuid4

import psycopg

from gatepass.migrations import runner
from tests.migrations.version import install
from tests.postgres import Cluster

LOAD = """
    INSERT INTO organization (id, name, created_at) VALUES ('00000000-0000-0000-0000-000000000001', 'One', now());
    INSERT INTO card (organization_id, id, number, issued_at)
        SELECT '00000000-0000-0000-0000-000000000001', lpad(n::text, 32, '0')::uuid, 'SVC 0000 0000 000' || n, now()
          FROM generate_series(1, 3) n;
    INSERT INTO card_holder (organization_id, card_id, name, email)
        SELECT organization_id, id, 'Ann', 'ann@example.org' FROM card WHERE number < 'SVC 0000 0000 0003';
    INSERT INTO ticket_reference (organization_id, reference, event_id, ticket_id)
        VALUES ('00000000-0000-0000-0000-000000000001', repeat('x', 100), gen_random_uuid(), gen_random_uuid());
"""
LIST = """
    INSERT INTO holder_email (organization_id, card_id, email, current, companion)
        SELECT organization_id, card_id, 'ann@example.org', true, false FROM card_holder ORDER BY card_id LIMIT 1
"""
# As version 0.2 runs them, when it replaces a card and when it erases a holder.
MOVE = "UPDATE card_holder SET card_id = %s WHERE card_id = %s"
ERASE = "DELETE FROM card_holder WHERE card_id = %s"


def test_duplicates_stay_and_the_address_goes_with_its_holder(cluster: Cluster) -> None:
    url = cluster.create_database(f"gatepass_platform_{uuid4().hex[-8:]}")
    install(url, "0010")
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in LOAD.split(";\n"):
            connection.execute(statement.encode())
    runner.upgrade(url)
    first, third = UUID(int=1), UUID(int=3)
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM card_holder").fetchall() == [(2,)]
        connection.execute(LIST.encode())
        connection.execute(MOVE.encode(), (third, first))
        assert connection.execute("SELECT card_id, current FROM holder_email").fetchall() == [(third, True)]
        connection.execute(ERASE.encode(), (third,))
        assert connection.execute("SELECT count(*) FROM holder_email").fetchall() == [(0,)]
        connection.execute(b"UPDATE ticket_reference SET reference = repeat('y', 128)")
