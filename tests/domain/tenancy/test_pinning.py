"""Statements that the tenancy guard must refuse, and statements that it must let pass."""

from typing import Final

import pglast
import pytest

from tests.domain.tenancy.pinning import unpinned
from tests.domain.tenancy.statements import embedded

BAD: Final = [
    "SELECT id FROM ticket",
    "SELECT id FROM ticket WHERE id = $1",
    "SELECT id FROM public.ticket WHERE id = $1",
    "SELECT id FROM ticket WHERE organization_id = $1 OR id = $2",
    "SELECT id FROM ticket WHERE NOT organization_id = $1",
    "SELECT id FROM ticket WHERE organization_id <> $1",
    "SELECT id FROM ticket WHERE organization_id > $1",
    "SELECT id FROM ticket WHERE organization_id IS NOT NULL",
    "SELECT id FROM ticket WHERE organization_id = organization_id",
    "SELECT id FROM ticket WHERE organization_id <> ALL ($1)",
    "SELECT id FROM ticket WHERE organization_id NOT IN ($1, $2)",
    "SELECT id FROM ticket WHERE organization_id = coalesce($1, organization_id)",
    "SELECT id FROM ticket WHERE organization_id IN (SELECT id FROM organization)",
    "SELECT id FROM ticket WHERE organization_id = (SELECT id FROM organization LIMIT 1)",
    "SELECT id FROM ticket WHERE organization_id = (SELECT organization_id)",
    "SELECT id FROM ticket t WHERE organization_id = (SELECT coalesce($1, t.organization_id))",
    "SELECT id FROM ticket WHERE organization_id = (SELECT $1 UNION SELECT organization_id)",
    "SELECT id FROM ticket WHERE organization_id = ANY (SELECT $1 UNION SELECT id FROM organization)",
    "SELECT id FROM ticket WHERE id = $1 ORDER BY organization_id = $2",
    "SELECT id, organization_id = $1 FROM ticket",
    "SELECT t.id FROM ticket t JOIN event e ON e.id = t.event_id WHERE t.organization_id = $1",
    "SELECT t.id FROM ticket t JOIN event e ON e.organization_id = t.organization_id WHERE e.id = $1",
    "SELECT t.id FROM ticket t JOIN event e USING (organization_id)",
    "SELECT t.id FROM ticket t LEFT JOIN event e ON e.organization_id = $1 AND t.organization_id = $1",
    "SELECT t.id FROM ticket t LEFT JOIN event e ON e.organization_id = t.organization_id",
    "SELECT t.id FROM event e RIGHT JOIN ticket t ON e.organization_id = $1 AND t.organization_id = $1",
    "SELECT t.id FROM ticket t FULL JOIN event e ON e.organization_id = $1 AND t.organization_id = $1",
    "SELECT t.id FROM ticket t, card c WHERE t.organization_id = $1",
    "SELECT t.id FROM ticket t JOIN card c ON c.organization_id = t.card_id WHERE t.organization_id = $1",
    "SELECT (SELECT count(*) FROM ticket) FROM event WHERE organization_id = $1",
    "SELECT 1 WHERE EXISTS (SELECT FROM card WHERE number = $1)",
    "SELECT e.id FROM event e WHERE e.organization_id = $1 AND EXISTS (SELECT FROM ticket x WHERE x.event_id = e.id)",
    "SELECT * FROM (SELECT * FROM card) c WHERE c.organization_id = $1",
    "SELECT * FROM unnest($1::uuid[]) u (id) CROSS JOIN LATERAL (SELECT FROM card c WHERE c.id = u.id) x",
    "SELECT id FROM event WHERE organization_id = $1 UNION ALL SELECT id FROM card",
    "WITH ticket AS (SELECT * FROM card WHERE organization_id = $1) SELECT * FROM ticket, event",
    "WITH ticket AS (SELECT * FROM card WHERE organization_id = $1) SELECT * FROM public.ticket",
    "SELECT id FROM card WHERE organization_id = $1 UNION SELECT $2 LIMIT (SELECT count(*) FROM ticket)",
    "WITH c AS (SELECT * FROM card) SELECT * FROM c WHERE c.organization_id = $1",
    "WITH gone AS (DELETE FROM ticket RETURNING id) SELECT id FROM gone",
    "INSERT INTO ticket (id) VALUES ($1)",
    "INSERT INTO ticket VALUES ($1, $2)",
    "INSERT INTO scan (organization_id, id) SELECT organization_id, id FROM request_log",
    "INSERT INTO scan (organization_id, id) VALUES ($1, (SELECT id FROM request_log LIMIT 1))",
    "UPDATE ticket SET activated_at = $1 WHERE id = $2",
    "UPDATE ticket SET organization_id = $1 WHERE organization_id = $2",
    "UPDATE ticket t SET activated_at = $1 FROM card c WHERE c.organization_id = $2 AND c.id = t.card_id",
    "UPDATE ticket t SET activated_at = (SELECT max(at) FROM scan) WHERE t.organization_id = $1",
    "DELETE FROM ticket",
    "DELETE FROM ticket USING card c WHERE c.organization_id = $1 AND c.id = card_id",
    "WITH ticket AS (SELECT $1::uuid AS organization_id) DELETE FROM ticket",
    "MERGE INTO ticket t USING card c ON c.id = t.card_id WHEN MATCHED THEN DELETE",
    "TRUNCATE ticket",
    "LOCK TABLE ticket",
    "COPY ticket TO STDOUT",
    "SELECT * FROM ticket TABLESAMPLE SYSTEM (1) WHERE organization_id = $1",
]

GOOD: Final = [
    "SELECT id FROM organization WHERE id = $1",
    "SELECT id FROM ticket WHERE organization_id = $1",
    "SELECT id FROM ticket WHERE $1 = organization_id AND (id = $2 OR id = $3)",
    "SELECT id FROM ticket WHERE organization_id = $1::uuid",
    "SELECT id FROM ticket WHERE organization_id = (SELECT $1::uuid)",
    "SELECT id FROM ticket WHERE organization_id = ANY ($1)",
    "SELECT id FROM ticket WHERE organization_id IN ($1, $2)",
    "SELECT id FROM ticket WHERE (organization_id, id) = ($1, $2)",
    "SELECT id FROM ticket WHERE organization_id = p_organization",
    """
    SELECT t.id
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id
      JOIN event e ON e.organization_id = c.organization_id
     WHERE t.organization_id = $1
    """,
    "SELECT t.id FROM ticket t JOIN card c USING (organization_id) WHERE t.organization_id = $1",
    "SELECT t.id FROM ticket t LEFT JOIN card c ON c.organization_id = t.organization_id WHERE t.organization_id = $1",
    """
    SELECT c.id
      FROM unnest($1::uuid[]) u (organization_id)
     CROSS JOIN LATERAL (SELECT id FROM card x WHERE x.organization_id = u.organization_id) c
    """,
    """
    SELECT e.id
      FROM event e
     WHERE e.organization_id = $1
       AND EXISTS (SELECT FROM ticket x WHERE x.organization_id = e.organization_id)
    """,
    """
    WITH c AS (SELECT * FROM card WHERE organization_id = $1)
    SELECT t.id
      FROM c
      JOIN ticket t ON t.organization_id = c.organization_id
    """,
    "INSERT INTO ticket (organization_id, id) VALUES ($1, $2)",
    "UPDATE ticket SET activated_at = $1 WHERE organization_id = $2",
    "DELETE FROM ticket t USING card c WHERE t.organization_id = c.organization_id AND c.organization_id = $1",
    "ANALYZE ticket",
]


@pytest.mark.parametrize("text", BAD)
def test_the_guard_refuses(text: str, tenants: frozenset[str]) -> None:
    assert unpinned(text, tenants)


@pytest.mark.parametrize("text", GOOD)
def test_the_guard_lets_pass(text: str, tenants: frozenset[str]) -> None:
    assert not unpinned(text, tenants)


def test_the_guard_looks_into_routines(tenants: frozenset[str]) -> None:
    tree = pglast.parse_plpgsql("""
        CREATE FUNCTION f() RETURNS SETOF event LANGUAGE plpgsql AS $$
        DECLARE
            x uuid;
        BEGIN
            IF EXISTS (SELECT FROM card) THEN
                x := (SELECT id FROM ticket);
            END IF;
            RETURN QUERY SELECT * FROM event;
        END
        $$
    """)
    assert [name for text in embedded(tree) for name in unpinned(text, tenants)] == [
        "card card",
        "ticket ticket",
        "event event",
    ]
