"""Lists of cards, tickets and imports, and the steps of an import, read the rows that they need and little more.

Thirty thousand rows of each, and generic plans.
"""

from collections.abc import Generator
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest

from gatepass.domain.cards import search
from gatepass.domain.imports import batch, columns, undo
from gatepass.domain.imports import listing as import_listing
from gatepass.domain.imports import runner as import_runner
from gatepass.domain.tickets import listing, situation
from tests.domain.plans.explain import Link, Plan, nodes
from tests.domain.webhooks.test_page_plans import run
from tests.postgres import Cluster

ORGANIZATION: Final = "00000000-0000-0000-0000-000000000001"
EVENT: Final = "00000000-0000-0000-0000-0000000000e1"
CATEGORY: Final = "00000000-0000-0000-0000-0000000000c1"
IMPORT: Final = "00000000-0000-0000-0000-0000000000f1"
ROWS: Final = 30_000
LIMIT: Final = 51
LAST: Final = UUID(int=2**128 - 1)

LOAD: Final = f"""
    INSERT INTO organization (id, name, created_at)
        SELECT lpad(to_hex(n), 32, '0')::uuid, 'Organization', now() FROM generate_series(1, 20) n;
    INSERT INTO event (organization_id, id, title, starts_at, ends_at, created_at)
        SELECT id, '{EVENT}', 'Event', now(), now() + interval '1 hour', now() FROM organization;
    INSERT INTO ticket_category (organization_id, id, event_id, name, price_minor, currency, quantity_total)
        SELECT o.id, c.id, '{EVENT}', c.id::text, 0, 'EUR', 1000000
          FROM organization o, (VALUES ('{CATEGORY}'::uuid), ('{ORGANIZATION}'::uuid)) c (id);
    INSERT INTO card (organization_id, id, number, status, issued_at)
        SELECT CASE WHEN n % 3 = 0 THEN '{ORGANIZATION}' ELSE lpad(to_hex(1 + n % 20), 32, '0') END::uuid,
               md5(n::text)::uuid,
               'SVC ' || to_char(n / 10000, 'FM0000') || ' ' || to_char(n % 10000, 'FM0000') || ' 0000',
               CASE WHEN n % 100 = 0 THEN 'revoked' ELSE 'active' END, now()
          FROM generate_series(1, {ROWS}) n;
    INSERT INTO card_holder (organization_id, card_id, name, email)
        SELECT organization_id, id, CASE WHEN number LIKE '% 0001 %' THEN 'Ann' ELSE 'Guest' END || ' ' || number,
               'guest-' || id || '@example.org' FROM card;
    INSERT INTO holder_email (organization_id, card_id, email, current, companion)
        SELECT organization_id, card_id, email, true, false FROM card_holder;
    INSERT INTO card_external_id (organization_id, external_id, card_id, fingerprint)
        SELECT organization_id, 'E-' || card_id, card_id, card_id FROM card_holder;
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at, cancelled_at)
        SELECT organization_id, md5('t' || id::text)::uuid, '{EVENT}',
               CASE WHEN random() < 0.5 THEN '{CATEGORY}' ELSE '{ORGANIZATION}' END::uuid, id, now(),
               CASE WHEN random() < 0.01 THEN now() END
          FROM card;
    INSERT INTO ticket_reference (organization_id, reference, event_id, ticket_id)
        SELECT organization_id, 'R-' || id, event_id, id FROM ticket;
    INSERT INTO import (organization_id, id, event_id, upload_key, file_name, state, header_key, header, columns,
                        created_at, advanced_at, created_by)
        SELECT '{ORGANIZATION}', CASE n WHEN 1 THEN '{IMPORT}' ELSE md5('i' || n)::text END::uuid, '{EVENT}',
               gen_random_uuid(), 'guests.csv', CASE n WHEN 1 THEN 'applying' ELSE 'done' END,
               md5((n % 1000)::text)::uuid,
               '{{name}}', '{{name}}', now() - n * interval '1 minute', now(), 'test'
          FROM generate_series(1, 3000) n;
    INSERT INTO import_row (organization_id, import_id, line, cells, fault)
        SELECT '{ORGANIZATION}', i.id, n, '{{Ann}}', CASE WHEN n % 100 = 0 THEN 'sold_out' END
          FROM (SELECT id FROM import WHERE id = '{IMPORT}' OR id < '00ffffff-0000-0000-0000-000000000000') i,
               generate_series(1, 3000) n;
    ANALYZE
"""


@pytest.fixture(scope="module")
def loaded(cluster: Cluster) -> str:
    url = cluster.create_migrated("gatepass_import_plans")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")  # no checks of foreign keys
        for statement in LOAD.split(";\n"):
            connection.execute(statement.encode())
    return url


@pytest.fixture
def link(loaded: str) -> Generator[Link]:
    with psycopg.connect(loaded, autocommit=True) as connection:
        yield connection


def assert_little_is_read(plan: Plan, rows: int) -> None:
    """No sequential scan, and by index only the rows that are shown, once for each table."""
    small = {"event", "ticket_category"}
    whole = [
        node["Relation Name"]
        for node in nodes(plan)
        if node["Node Type"] == "Seq Scan" and node["Relation Name"] not in small
    ]
    assert whole == []
    for node in nodes(plan):
        if node.get("Index Name") and node["Node Type"] != "Bitmap Heap Scan":
            read = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
            assert read <= rows, (node["Index Name"], read)


def middle(link: Link, table: str) -> UUID:
    row = link.execute(
        f"SELECT id FROM {table} WHERE organization_id = %s ORDER BY id OFFSET 2000 LIMIT 1".encode(), (ORGANIZATION,)
    ).fetchone()
    assert row
    return row[0]


@pytest.mark.parametrize("page", ["first", "next"])
def test_pages_of_cards(link: Link, page: str) -> None:
    place = LAST if page == "first" else middle(link, "card")
    plan = run(link, search.PAGE, ORGANIZATION, place, LIMIT)
    assert plan["Actual Rows"] == LIMIT
    assert_little_is_read(plan, LIMIT)
    assert_little_is_read(run(link, search.PAGE_OUT_OF_USE, ORGANIZATION, place, LIMIT, "revoked"), LIMIT)


def test_cards_by_number_and_address(link: Link) -> None:
    assert_little_is_read(run(link, search.BY_NUMBER, ORGANIZATION, "SVC 0000 0003 0000"), 1)
    card = middle(link, "card")
    assert_little_is_read(run(link, search.BY_EXTERNAL_ID, ORGANIZATION, f"E-{card}"), 1)
    address = f"guest-{card}@example.org"
    assert_little_is_read(run(link, search.OF_PERSON, ORGANIZATION, address, address, UUID(int=0), LIMIT), 2)


@pytest.mark.parametrize("page", ["first", "next"])
def test_pages_of_tickets(link: Link, page: str) -> None:
    place = LAST if page == "first" else middle(link, "ticket")
    here = (ORGANIZATION, place, LIMIT, None, None, LIMIT)
    assert_little_is_read(run(link, listing.LOOK, *here), LIMIT)
    assert_little_is_read(run(link, listing.LOOK_IN_EVENT, *here, EVENT), LIMIT)
    assert_little_is_read(run(link, listing.LOOK_IN_CATEGORY, *here, EVENT, CATEGORY), LIMIT)
    assert_little_is_read(run(link, listing.LOOK_IN_EVENT, *here[:2], 500, "cancelled", None, LIMIT, EVENT), 500)
    assert_little_is_read(run(link, listing.LOOK, *here[:2], 500, None, "2031-01-01", LIMIT), 500)
    assert_little_is_read(run(link, listing.LOOK_ON_CARD, *here, EVENT, middle(link, "card")), 1)
    assert_little_is_read(run(link, listing.OLDEST, ORGANIZATION, EVENT, middle(link, "ticket"), LIMIT), LIMIT)


def test_tickets_by_their_ids_and_of_a_card(link: Link) -> None:
    ids: Any = link.execute(b"SELECT id FROM ticket WHERE organization_id = %s LIMIT 51", (ORGANIZATION,)).fetchall()
    some = "{" + ",".join(str(id) for (id,) in ids) + "}"
    assert_little_is_read(run(link, listing.BY_IDS, ORGANIZATION, some), LIMIT)
    assert_little_is_read(run(link, listing.OF_CARD, ORGANIZATION, middle(link, "card"), 200), 1)
    here = (ORGANIZATION, LAST, LIMIT, None, None, LIMIT)
    assert_little_is_read(run(link, listing.LOOK_BY_EXTERNAL_ID, *here, EVENT, None, f"R-{ids[0][0]}"), 1)


def test_imports_of_an_event_and_their_failed_rows(link: Link) -> None:
    assert_little_is_read(run(link, import_listing.OF_EVENT, ORGANIZATION, EVENT, LAST, 26), 26)
    assert_little_is_read(run(link, import_listing.MAKER, ORGANIZATION, IMPORT, IMPORT), 1)
    assert_little_is_read(run(link, import_listing.FAULTY, ORGANIZATION, IMPORT, 0, 10), 10)
    assert_little_is_read(run(link, import_listing.FIRST_ROWS, ORGANIZATION, IMPORT, 3), 3)
    assert_little_is_read(run(link, columns.REMEMBERED, ORGANIZATION, "{name}", IMPORT), 1)


def test_a_step_of_an_import(link: Link) -> None:
    (row,) = link.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {import_runner.NEXT}".encode()).fetchall()
    assert_little_is_read(row[0][0]["Plan"], 1)
    assert_little_is_read(run(link, batch.NEXT_ROWS, ORGANIZATION, IMPORT, 1500, 1000, "true"), 1000)
    numbers = "{" + ",".join(f"SVC 0000 {n:04} 0000" for n in range(3, 300, 3)) + "}"
    assert_little_is_read(run(link, situation.CARDS_BY_NUMBER, ORGANIZATION, numbers), 100)
    first = middle(link, "ticket")
    assert_little_is_read(run(link, undo.NEXT, ORGANIZATION, first, LAST, 500), 500)
