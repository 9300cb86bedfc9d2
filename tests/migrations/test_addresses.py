"""Revision 0032: addresses that were stored in the form of before are found in the new one."""

from uuid import UUID, uuid4

import psycopg

from gatepass.domain.cards import normalize_email
from gatepass.migrations import runner
from tests.migrations.version import install
from tests.postgres import Cluster

LOAD = """
    INSERT INTO organization (id, name, created_at) VALUES ('00000000-0000-0000-0000-000000000001', 'One', now());
    INSERT INTO card (organization_id, id, number, issued_at)
        SELECT '00000000-0000-0000-0000-000000000001', lpad(n::text, 32, '0')::uuid, 'SVC 0000 0000 000' || n, now()
          FROM generate_series(1, 7) n;
"""
# The address as it was written, its form of before, and whether the card is the current one: before, and now.
STORED = [
    ("ß@x.example", "ss@x.example", True, True),
    ("Ann@Faß.example", "ann@fass.example", True, True),
    ("ann@fass.example", "ann@fass.example", False, False),
    ("Ünal@Müller.example", "ünal@müller.example", True, True),
    ("ünal@XN--MLLER-KVA.example", "ünal@xn--mller-kva.example", True, False),
    ("Ann@Example.org", "ann@example.org", True, True),
    ("ﬁn@x.example", "fin@x.example", True, True),
]
HOLD = "INSERT INTO card_holder (organization_id, card_id, name, email) VALUES (%s, %s, 'Ann', %s)"
LIST = "INSERT INTO holder_email (organization_id, card_id, email, current, companion) VALUES (%s, %s, %s, %s, false)"


def test_addresses_get_the_form_that_the_program_looks_for(cluster: Cluster) -> None:
    url = cluster.create_database(f"gatepass_addresses_{uuid4().hex[-8:]}")
    install(url, "0031")
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in LOAD.split(";\n"):
            connection.execute(statement.encode())
        for number, (written, was, current, _) in enumerate(STORED, 1):
            connection.execute(HOLD.encode(), (UUID(int=1), UUID(int=number), written))
            connection.execute(LIST.encode(), (UUID(int=1), UUID(int=number), was, current))
    runner.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        listed = connection.execute("SELECT email, current FROM holder_email ORDER BY card_id").fetchall()
    assert listed == [(normalize_email(written), current) for written, _, _, current in STORED]
