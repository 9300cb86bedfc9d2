"""A batch of a thousand tickets finds its rows by index, in tables that were filled a moment ago and never analyzed.

For so many values at once PostgreSQL reads a table of some ten thousand rows whole, if the statement lets it; the next
batch would find it longer. And if the tables were analyzed before this organization came, it believes that the
organization has one row, and reads all of them for each value.
"""

from collections.abc import Generator, Sequence
from typing import Final

import psycopg
import pytest

from gatepass.domain.cards import people, search
from gatepass.domain.tickets import listing, situation
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
    "tickets to show": (listing.BY_IDS, ("uuid[]",), (IDS,)),
    "cards to show": (search.FIND_ALL, ("uuid[]",), (IDS,)),
}

FILL: Final = """
    INSERT INTO event (organization_id, id, title, starts_at, ends_at, created_at)
        SELECT '{owner}', gen_random_uuid(), 'Night', now(), now() + interval '1 hour', now()
          FROM generate_series(1, 5000);
    INSERT INTO ticket_category (organization_id, id, event_id, name, price_minor, currency, quantity_total)
        SELECT organization_id, gen_random_uuid(), id, 'General', 0, 'EUR', 1
          FROM event WHERE organization_id = '{owner}';
    INSERT INTO card (organization_id, id, number, issued_at)
        SELECT '{owner}', gen_random_uuid(), 'SVC ' || to_char(s, 'FM0000 0000 0000'), now()
          FROM generate_series(10000, 29999) s;
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at)
        SELECT organization_id, gen_random_uuid(), '{anything}', '{anything}', id, now()
          FROM card WHERE organization_id = '{owner}';
    INSERT INTO card_holder (organization_id, card_id, name, email)
        SELECT organization_id, id, 'Guest', id || '@example.org' FROM card WHERE organization_id = '{owner}';
    INSERT INTO holder_email (organization_id, card_id, email, current, companion)
        SELECT organization_id, card_id, email, true, false FROM card_holder WHERE organization_id = '{owner}';
    INSERT INTO card_external_id (organization_id, external_id, card_id, fingerprint)
        SELECT organization_id, id::text, id, id FROM card WHERE organization_id = '{owner}';
    INSERT INTO ticket_reference (organization_id, reference, event_id, ticket_id)
        SELECT organization_id, id::text, event_id, id FROM ticket WHERE organization_id = '{owner}'
"""
ANOTHER: Final = "00000000-0000-7000-8000-000000000b0b"


@pytest.fixture(scope="module", params=["never analyzed", "analyzed before it came"])
def young(cluster: Cluster, request: pytest.FixtureRequest) -> Generator[Link]:
    url = cluster.create_database("gatepass_young_batches")
    runner.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        for table in BELIEVED:
            connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)".encode())
        connection.execute("SET session_replication_role = replica")  # no look-ups for foreign keys
        owners = [LARGEST] if request.param == "never analyzed" else [ANOTHER, LARGEST]
        for owner in owners:
            for statement in FILL.format(owner=owner, anything=ANYTHING).split(";\n"):
                connection.execute(statement.encode())
            if owner == ANOTHER:
                connection.execute("ANALYZE")
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
