"""Lists of calls, audit entries, keys and holders read the rows that they show and little more, of ten million each.

A few weeks of rows are loaded, and the planner's statistics are set to ten million; then each statement is executed
with a generic plan.
"""

from collections.abc import Generator
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest

from gatepass.domain import audit_log, maintenance, request_log
from gatepass.domain.cards import holders, search, signing_keys
from gatepass.domain.cards.words import MOST_WORDS, SHORTEST_BEGINNING
from gatepass.domain.keys import listing
from gatepass.domain.tickets.search import BY_REFERENCE, HIGHEST
from tests import factory
from tests.domain.plans.explain import SCALE, Link, Plan, nodes
from tests.domain.webhooks.test_page_plans import run, scanned
from tests.postgres import Cluster

ORGANIZATION: Final = "00000000-0000-0000-0000-000000000001"
KEY: Final = "00000000-0000-0000-0000-0000000000e1"
ROWS: Final = 30_000
BELIEVED: Final = 10_000_000
# Past weeks, weeks ahead, and the default partition: a page reads each of them once.
PARTITIONS: Final = 40
LIMIT: Final = 51
LOOKED: Final = 1_000
FIRST: Final = ("9999-12-31", UUID(int=2**128 - 1))
EVER: Final = "1970-01-01"
COACH: Final = "COACH@example.com"
SCALED: Final = (
    "api_key",
    "card",
    "card_external_id",
    "card_holder",
    "holder_email",
    "signing_key",
    "ticket_reference",
)

# A third of the rows is of the organization in the tests; one in a thousand of its calls is of the sandbox. Most calls
# are scans, and have their row there.
LOAD: Final = f"""
    INSERT INTO organization (id, name, created_at)
        SELECT lpad(to_hex(n), 32, '0')::uuid, 'Organization', now() FROM generate_series(1, 3) n;
    CREATE TEMP TABLE share AS
        SELECT lpad(to_hex(1 + n % 3), 32, '0')::uuid AS organization_id, n,
               now() - ({ROWS} - n) * interval '80 seconds' AS at, md5(n::text)::uuid AS id
          FROM generate_series(1, {ROWS}) n;
    INSERT INTO request_log (organization_id, at, id, mode, key_id, method, path, status, duration_us)
        SELECT organization_id, at, id, CASE WHEN n % 1000 = 0 THEN 'sandbox' ELSE 'live' END,
               CASE WHEN n % 2 = 0 THEN '{KEY}'::uuid ELSE gen_random_uuid() END, 'GET', '/events', 200, 900 FROM share
         WHERE n % 1000 = 0 OR n % 5 = 1;
    INSERT INTO scan (organization_id, at, id, mode, key_id, event_id, card_number, verdict, status, duration_us)
        SELECT organization_id, at, id, 'live', CASE WHEN n % 2 = 0 THEN '{KEY}'::uuid ELSE gen_random_uuid() END,
               gen_random_uuid(), 'SVC', 'activated', 200, 900 FROM share
         WHERE NOT (n % 1000 = 0 OR n % 5 = 1);
    INSERT INTO audit_log (organization_id, at, id, actor, subject, subject_id, action)
        SELECT organization_id, at, id, 'actor ' || n % 100, 'card', md5((n % 2000)::text)::uuid, 'issued' FROM share;
    INSERT INTO api_key (organization_id, id, hash, mode, name, last_four, scopes, created_at, created_by)
        SELECT organization_id, id, sha256(n::text::bytea), CASE WHEN n % 2 = 0 THEN 'live' ELSE 'sandbox' END, 'key',
               'aaaa', '{{admin}}', at, 'test' FROM share;
    INSERT INTO signing_key (organization_id, id, public_key, sealed_private_key, created_at)
        SELECT organization_id, id, sha256(n::text::bytea), '', at FROM share WHERE n < 30;
    INSERT INTO card (organization_id, id, number, issued_at)
        SELECT organization_id, id,
               'SVC ' || to_char(n / 10000, 'FM0000') || ' ' || to_char(n % 10000, 'FM0000') || ' 0000', at FROM share;
    INSERT INTO card_holder (organization_id, card_id, name, email)
        SELECT organization_id, id, 'Name', CASE WHEN n % 5 = 0 THEN 'coach' ELSE 'name' || n END || '@example.com'
          FROM share;
    INSERT INTO holder_email (organization_id, card_id, email, current, companion)
        SELECT organization_id, card_id, email, email NOT LIKE 'coach%', email LIKE 'coach%' FROM card_holder;
    INSERT INTO card_external_id (organization_id, external_id, card_id, fingerprint)
        SELECT organization_id, 'E-' || card_id, card_id, card_id FROM card_holder;
    INSERT INTO ticket_reference (organization_id, reference, event_id, ticket_id)
        SELECT organization_id, 'Order-' || n, id, id FROM share;
    ANALYZE
"""
PARTITIONS_OF: Final = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass"


@pytest.fixture(scope="module")
async def history(cluster: Cluster) -> str:
    url = cluster.create_migrated("gatepass_list_plans")
    database = factory.database(url, deadline=60)
    for weeks in range(5, -1, -1):
        await maintenance.run_due(database, at=factory.now() - timedelta(weeks=weeks))
    await database.close()
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in LOAD.split(";\n"):
            connection.execute(statement.encode())
        pieces = [
            name
            for table in ("scan", "request_log", "audit_log")
            for (name,) in connection.execute(PARTITIONS_OF, (table,))
        ]
        for table in (*SCALED, *pieces):
            rows = connection.execute("SELECT reltuples FROM pg_class WHERE oid = %s::regclass", (table,)).fetchall()
            if rows[0][0] > 0:
                connection.execute(SCALE, {"table": table, "rows": float(BELIEVED)})
    return url


@pytest.fixture
def link(history: str) -> Generator[Link]:
    with psycopg.connect(history, autocommit=True) as connection:
        connection.execute("SET jit = off")
        yield connection


def assert_little_is_read(plan: Plan, rows: int) -> None:
    """Only by index, in its order, and at most these rows and one more of each partition."""
    assert scanned(plan) == []
    assert [node for node in nodes(plan) if node["Node Type"] == "Sort" and node["Actual Rows"] > rows] == []
    scans = [node for node in nodes(plan) if node.get("Index Name")]
    read = sum((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"] for node in scans)
    assert 0 < read <= rows + PARTITIONS, [(node["Index Name"], node["Actual Rows"]) for node in scans]


def middle(link: Link) -> tuple[Any, UUID]:
    find = b"SELECT at, id FROM logged_call WHERE organization_id = %s ORDER BY at OFFSET 5000 LIMIT 1"
    row = link.execute(find, (ORGANIZATION,)).fetchone()
    assert row is not None
    return row[0], row[1]


@pytest.fixture(params=["first", "next"])
def place(request: pytest.FixtureRequest, link: Link) -> tuple[Any, UUID]:
    return FIRST if request.param == "first" else middle(link)


EVERY: Final = (None, 0, 1000, None, None)


def test_a_page_of_calls(link: Link, place: tuple[Any, UUID]) -> None:
    here = (ORGANIZATION, *place, EVER)
    assert_little_is_read(run(link, request_log.PAGE, *here, "live", *EVERY, LOOKED, LIMIT), LIMIT + 1)


def test_a_page_of_calls_of_one_key(link: Link, place: tuple[Any, UUID]) -> None:
    here = (ORGANIZATION, *place, EVER)
    plan = run(link, request_log.PAGE, *here, "live", KEY, 0, 1000, None, None, LOOKED, LIMIT)
    assert_little_is_read(plan, 3 * LIMIT)


def test_a_page_of_calls_that_hardly_any_fit(link: Link, place: tuple[Any, UUID]) -> None:
    here = (ORGANIZATION, *place, EVER)
    refused = (None, 400, 500, "sold_out", None)
    assert_little_is_read(run(link, request_log.PAGE, *here, "live", *refused, LOOKED, LIMIT), LOOKED)
    assert_little_is_read(run(link, request_log.PAGE, *here, "sandbox", *EVERY, LOOKED, LIMIT), LOOKED)
    assert_little_is_read(run(link, request_log.LAST_LOOKED_AT, *here, LOOKED - 1), LOOKED)


def test_a_page_of_calls_of_an_hour_reads_that_hour(link: Link) -> None:
    at, id = middle(link)
    plan = run(link, request_log.PAGE, ORGANIZATION, at, id, at - timedelta(hours=1), "live", *EVERY, LOOKED, LIMIT)
    assert_little_is_read(plan, 45)
    assert plan["Actual Rows"] > 10


def test_one_call_by_its_id(link: Link) -> None:
    at, id = middle(link)
    plan = run(link, request_log.FIND, ORGANIZATION, at - request_log.SKEW, at + request_log.LONGEST_WAIT, id)
    assert_little_is_read(plan, 1)
    assert plan["Actual Rows"] == 1


def test_where_a_key_is_used_from_and_for_what(link: Link) -> None:
    assert_little_is_read(run(link, request_log.USED_FOR, ORGANIZATION, EVER, KEY, LOOKED), LOOKED)
    assert_little_is_read(run(link, request_log.USED_FROM, ORGANIZATION, EVER, KEY, LOOKED, 10), LOOKED)


def test_a_page_of_changes(link: Link, place: tuple[Any, UUID]) -> None:
    here = (ORGANIZATION, *place, EVER)
    assert_little_is_read(run(link, audit_log.PAGE, *here, None, None, None, LOOKED, LIMIT), LIMIT + 1)
    assert_little_is_read(run(link, audit_log.PAGE, *here, "event", None, None, LOOKED, LIMIT), LOOKED)
    assert_little_is_read(run(link, audit_log.LAST, *here, LOOKED - 1), LOOKED)


def test_a_page_of_changes_by_one_actor(link: Link, place: tuple[Any, UUID]) -> None:
    here, actor = (ORGANIZATION, *place, EVER), "actor 3"
    assert_little_is_read(run(link, audit_log.PAGE_OF_ACTOR, *here, None, None, actor, LOOKED, LIMIT, actor), LIMIT + 1)
    assert_little_is_read(run(link, audit_log.LAST_OF_ACTOR, *here, 10, actor), LIMIT)


def test_a_page_of_changes_of_one_thing(link: Link) -> None:
    here, card = (ORGANIZATION, *FIRST, EVER), middle_subject(link)
    assert_little_is_read(run(link, audit_log.PAGE_OF_SUBJECT, *here, None, None, None, LOOKED, LIMIT, card), LIMIT)
    assert_little_is_read(run(link, audit_log.LAST_OF_SUBJECT, *here, 2, card), LIMIT)


def middle_subject(link: Link) -> UUID:
    find = b"SELECT subject_id FROM audit_log WHERE organization_id = %s ORDER BY at OFFSET 5000 LIMIT 1"
    return link.execute(find, (ORGANIZATION,)).fetchall()[0][0]


@pytest.mark.parametrize(("shown", "rows"), [("all", LIMIT), ("usable", LIMIT), ("ended", LOOKED), ("unused", LOOKED)])
def test_a_page_of_keys(link: Link, place: tuple[Any, UUID], shown: str, rows: int) -> None:
    here = (ORGANIZATION, "live", *place)
    times = (factory.now(), factory.now() - listing.UNUSED)
    assert_little_is_read(run(link, listing.PAGE, *here, shown, *times, LOOKED, LIMIT), rows)
    assert_little_is_read(run(link, listing.LAST_LOOKED_AT, *here, LOOKED - 1), LOOKED)


def test_one_key_and_the_names_of_some(link: Link) -> None:
    find = b"SELECT id FROM api_key WHERE organization_id = %s AND mode = 'live' LIMIT 2"
    ids = [row[0] for row in link.execute(find, (ORGANIZATION,))]
    assert_little_is_read(run(link, listing.FIND, ORGANIZATION, "live", ids[0]), 1)
    assert_little_is_read(run(link, listing.NAMES, ORGANIZATION, "{" + ",".join(map(str, ids)) + "}"), 2)


def test_holders_by_number_and_by_address(link: Link) -> None:
    find = b"SELECT number FROM card WHERE organization_id = %s LIMIT 1"
    number = link.execute(find, (ORGANIZATION,)).fetchall()[0][0]
    assert_little_is_read(run(link, holders.BY_NUMBER, ORGANIZATION, number), 2)
    assert_little_is_read(run(link, holders.BY_EMAIL, ORGANIZATION, COACH, COACH.lower(), 100), 400)


def test_the_signing_keys(link: Link) -> None:
    assert_little_is_read(run(link, signing_keys.SHOWN, ORGANIZATION, 200), 10)


@pytest.mark.parametrize("index", ["api_key_list", "audit_log_of_actor", "card_holder_email"])
def test_a_lost_index_is_noticed(history: str, index: str) -> None:
    """These tests fail without the index. The transaction is rolled back, so that the others have it again."""
    checks = {
        "api_key_list": lambda link: test_a_page_of_keys(link, FIRST, "all", LIMIT),
        "audit_log_of_actor": lambda link: test_a_page_of_changes_by_one_actor(link, FIRST),
        "card_holder_email": test_holders_by_number_and_by_address,
    }
    with psycopg.connect(history) as connection:
        connection.execute(f"DROP INDEX {index}".encode())
        with pytest.raises(AssertionError):
            checks[index](connection)
        connection.rollback()


def assert_by(plan: Plan, index: str, rows: int) -> None:
    """By this index, and with at most these rows of the table."""
    assert scanned(plan) == []
    assert index in {node.get("Index Name") for node in nodes(plan)}
    read = [node for node in nodes(plan) if node["Node Type"] == "Bitmap Heap Scan" and node["Actual Loops"]]
    assert sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in read) <= rows


@pytest.mark.parametrize("typed", ["name7", "example name77", "COACH", "na"])
def test_people_by_words(link: Link, typed: str) -> None:
    plan = run(link, search.HOLDERS, ORGANIZATION, typed, LIMIT, SHORTEST_BEGINNING, MOST_WORDS)
    assert_by(plan, "card_holder_words", LIMIT)


def test_cards_by_digits(link: Link) -> None:
    assert_by(run(link, search.DIGITS, ORGANIZATION, "{0001}", LIMIT, ""), "card_groups", LIMIT)


def test_tickets_by_the_beginning_of_an_external_id(link: Link) -> None:
    plan = run(link, BY_REFERENCE, ORGANIZATION, "order-1", "order-1" + HIGHEST, None, LIMIT)
    assert_little_is_read(plan, LIMIT)
    assert "ticket_reference_beginning" in {node.get("Index Name") for node in nodes(plan)}
