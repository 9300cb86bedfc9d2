"""A batch of a thousand tickets finds its rows by index, in tables that were filled a moment ago and never analyzed.

For so many values at once PostgreSQL reads a table of some ten thousand rows whole, if the statement lets it; the next
batch would find it longer.
"""

from collections.abc import Generator, Sequence
from typing import Final

import psycopg
import pytest

from gatepass.domain.cards import people
from gatepass.domain.tickets import situation
from gatepass.migrations import runner
from tests.domain.plans.explain import Link, explain, faults
from tests.domain.plans.large_database import ANYTHING, BELIEVED, LARGEST
from tests.postgres import Cluster

SIZE: Final = 1_000
IDS: Final = "ARRAY[" + ", ".join(f"'{n:032x}'" for n in range(SIZE)) + "]::uuid[]"
TEXTS: Final = "ARRAY[" + ", ".join(f"'{n}'" for n in range(SIZE)) + "]"

STATEMENTS: Final[dict[str, tuple[str, Sequence[str], Sequence[str]]]] = {
    "known external ids": (situation.KNOWN, ("uuid[]", "text[]"), (IDS, TEXTS)),
    "cards of people": (people.CURRENT, ("text[]",), (TEXTS,)),
    "cards of people of 0.2": (people.UNLISTED, ("text[]",), (TEXTS,)),
    "cards by their numbers": (situation.CARDS_BY_NUMBER, ("text[]",), (TEXTS,)),
    "cards to lock": (situation.LOCK_CARDS, ("uuid[]",), (IDS,)),
    "cards to read": (situation.CARDS, ("uuid[]",), (IDS,)),
    "tickets of these cards": (situation.HOLDING, ("uuid[]", "uuid[]"), (IDS, IDS)),
}

FILL: Final = f"""
    INSERT INTO card (organization_id, id, number, issued_at)
        SELECT '{LARGEST}', gen_random_uuid(), 'SVC ' || to_char(s, 'FM0000 0000 0000'), now()
          FROM generate_series(10000, 29999) s;
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at)
        SELECT '{LARGEST}', gen_random_uuid(), '{ANYTHING}', '{ANYTHING}', id, now() FROM card;
    INSERT INTO card_holder (organization_id, card_id, name, email)
        SELECT organization_id, id, 'Guest', id || '@example.org' FROM card;
    INSERT INTO holder_email (organization_id, card_id, email, current, companion)
        SELECT organization_id, card_id, email, true, false FROM card_holder;
    INSERT INTO ticket_reference (organization_id, reference, event_id, ticket_id)
        SELECT organization_id, id::text, event_id, id FROM ticket
"""


@pytest.fixture(scope="module")
def young(cluster: Cluster) -> Generator[Link]:
    url = cluster.create_database("gatepass_young_batches")
    runner.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        for table in BELIEVED:
            connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)".encode())
        connection.execute("SET session_replication_role = replica")  # no look-ups for foreign keys
        for statement in FILL.split(";\n"):
            connection.execute(statement.encode())
        yield connection


def plan_faults(young: Link, text: str, types: Sequence[str], values: Sequence[str], mode: str) -> list[str]:
    return faults(explain(young, text, ["uuid", *types], [f"'{LARGEST}'", *values], mode))


@pytest.mark.parametrize("mode", ["generic", "custom"])
@pytest.mark.parametrize("name", STATEMENTS)
def test_a_batch_looks_everything_up(young: Link, name: str, mode: str) -> None:
    assert plan_faults(young, *STATEMENTS[name], mode) == []


def test_a_statement_that_may_be_joined_otherwise_is_noticed(young: Link) -> None:
    joined = """
        SELECT r.ticket_id
          FROM unnest($2::uuid[], $3::text[]) u (event_id, reference)
          JOIN ticket_reference r ON r.organization_id = $1 AND r.reference = u.reference AND r.event_id = u.event_id
    """
    assert plan_faults(young, joined, ("uuid[]", "text[]"), (IDS, TEXTS), "custom") != []
