"""The hot statements use whole keys of their indexes at any size: 100 million tickets and cards, 10,000 organizations.

The planner is made to believe in them: some twenty thousand rows are loaded and analyzed, and then the numbers in
`pg_class` are multiplied. One organization is as large as a third of all, the others are small. Each
statement is looked at with a plan for its very values and with the generic one, for the largest and for a small
organization.

No table is read from end to end, and an index is entered with the columns that single out a row: an index
condition on `organization_id` alone would read a whole organization.
"""

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pglast
import psycopg
import pytest

import gatepass
from gatepass.domain.cards import moves as cards_moves
from gatepass.domain.cards import signing, verification
from gatepass.domain.events import catalogue
from gatepass.domain.keys import authentication
from gatepass.domain.keys import issuing as keys_issuing
from gatepass.domain.tickets import cancellation
from gatepass.domain.tickets import issuing as tickets_issuing
from gatepass.migrations import runner
from gatepass.migrations.sql import statements
from tests.postgres import Cluster

Link = psycopg.Connection[tuple[Any, ...]]

ACTIVATION: Final = Path(gatepass.__file__).parent / "domain" / "tickets" / "activation.sql"
ORGANIZATIONS: Final = 10_000
LARGEST: Final = "00000000-0000-0000-0000-000000000001"
SMALL: Final = "00000000-0000-0000-0000-000000000002"
ANYTHING: Final = "00000000-0000-0000-0000-0000000000aa"
# One row; reading it costs a page.
TINY: Final = frozenset({"idempotency_generation"})

# How many rows the planner is told of.
BELIEVED: Final = {
    "api_key": 100_000,
    "signing_key": 30_000,
    "event": 1_000_000,
    "ticket_category": 3_000_000,
    "card": 100_000_000,
    "ticket": 100_000_000,
    "idempotency_0": 50_000_000,
    "idempotency_1": 50_000_000,
}

# The columns with which each table may be entered: any of these sets, whole. A card has few tickets, so that they
# may be looked through for the one of an event.
KEYS: Final[Mapping[str, Sequence[set[str]]]] = {
    "api_key": [{"hash"}, {"organization_id", "id"}],
    "signing_key": [{"organization_id"}],
    "event": [{"organization_id", "id"}],
    "ticket_category": [{"organization_id", "id"}, {"organization_id", "event_id"}],
    "card": [{"organization_id", "id"}, {"organization_id", "number"}],
    "ticket": [{"organization_id", "id"}, {"organization_id", "card_id"}],
    "idempotency_0": [{"organization_id", "retry_key"}],
    "idempotency_1": [{"organization_id", "retry_key"}],
    "idempotency_2": [{"organization_id", "retry_key"}],
    "webhook_endpoint": [{"organization_id", "mode"}],
    "webhook_feed": [{"organization_id", "mode"}],
}

LOAD: Final = """
    CREATE TEMP TABLE o AS
        SELECT lpad(to_hex(n), 32, '0')::uuid AS id, n FROM generate_series(1, 1000) n;
    INSERT INTO organization (id, name, created_at) SELECT id, 'Organization', now() FROM o;
    -- A third of everything belongs to the first.
    CREATE TEMP TABLE share AS
        SELECT lpad(to_hex(CASE WHEN s % 3 = 0 THEN 1 ELSE 1 + s % 1000 END), 32, '0')::uuid AS organization_id, s
          FROM generate_series(1, 20000) s;
    INSERT INTO api_key (organization_id, id, hash, mode, name, last_four, scopes, created_at, created_by)
        SELECT organization_id, gen_random_uuid(), sha256(s::text::bytea), 'live', 'key', 'aaaa', '{admin}', now(), 'x'
          FROM share WHERE s % 4 = 0;
    INSERT INTO signing_key (organization_id, id, public_key, sealed_private_key, created_at)
        SELECT id, gen_random_uuid(), sha256(id::text::bytea), '', now() - g * interval '1 day'
          FROM o, generate_series(1, 3) g;
    INSERT INTO event (organization_id, id, title, starts_at, ends_at, status, created_at)
        SELECT organization_id, gen_random_uuid(), 'Event', now() + s * interval '1 minute',
               now() + s * interval '1 minute' + interval '3 hours',
               (ARRAY['published', 'draft', 'ended', 'ended', 'ended', 'cancelled'])[1 + s / 2 % 6], now()
          FROM share WHERE s % 2 = 1;
    INSERT INTO ticket_category (organization_id, id, event_id, name, price_minor, currency, quantity_total)
        SELECT organization_id, gen_random_uuid(), id, 'General', 1000, 'EUR', 100 FROM event, generate_series(1, 2);
    INSERT INTO card (organization_id, id, number, issued_at)
        SELECT organization_id, gen_random_uuid(),
               'SVC ' || to_char(s, 'FM0000') || ' ' || to_char(s % 7919, 'FM0000') || ' 0000', now() FROM share
         WHERE s < 10000;
    INSERT INTO card (organization_id, id, number, issued_at)
        SELECT organization_id, gen_random_uuid(), 'SVC 0000 ' || to_char(s - 10000, 'FM0000') || ' 0001', now()
          FROM share WHERE s BETWEEN 10000 AND 19999;
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at, activated_at, cancelled_at)
        SELECT c.organization_id, gen_random_uuid(), k.event_id, k.id, c.id, now(),
               CASE WHEN random() < 0.6 THEN now() END, CASE WHEN random() < 0.03 THEN now() END
          FROM (SELECT *, row_number() OVER (PARTITION BY organization_id ORDER BY id) AS n FROM card) c
          JOIN (SELECT organization_id, count(*) AS value FROM ticket_category GROUP BY organization_id) total
            ON total.organization_id = c.organization_id
          JOIN (SELECT *, row_number() OVER (PARTITION BY organization_id ORDER BY id) AS n FROM ticket_category) k
            ON k.organization_id = c.organization_id AND k.n = c.n % total.value + 1;
    INSERT INTO idempotency (organization_id, retry_key, generation, fingerprint, at, verdict)
        SELECT organization_id, gen_random_uuid(), s % 2, gen_random_uuid(), now(), 'activated' FROM share;
"""


@pytest.fixture(scope="module")
def large(cluster: Cluster) -> Generator[Link]:
    """A connection to a database that believes itself large."""
    url = cluster.create_database("gatepass_plans")
    runner.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        for table in BELIEVED:
            connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)".encode())
        connection.execute("SET session_replication_role = replica")  # no look-ups for foreign keys
        for statement in LOAD.split(";\n"):
            connection.execute(statement.encode())
        connection.execute("RESET session_replication_role")
        _make_believe(connection)
        yield connection


def _make_believe(connection: Link) -> None:
    for table, rows in BELIEVED.items():
        for column, distinct in (("organization_id", ORGANIZATIONS), ("event_id", -0.01), ("card_id", -0.25)):
            if connection.execute(HAS_COLUMN, (table, column)).fetchone():
                connection.execute(f"ALTER TABLE {table} ALTER {column} SET (n_distinct = {distinct})".encode())
        connection.execute(f"ANALYZE {table}".encode())
        connection.execute(SCALE, {"table": table, "rows": rows})


HAS_COLUMN: Final = "SELECT FROM pg_attribute WHERE attrelid = %s::regclass AND attname = %s"

# The pages stay what they are, because the planner counts them in the file; it takes from here how full they are.
SCALE: Final = """
    WITH factor AS (SELECT %(rows)s / reltuples AS value FROM pg_class WHERE oid = %(table)s::regclass)
    UPDATE pg_class
       SET reltuples = reltuples * (SELECT value FROM factor)
     WHERE oid = %(table)s::regclass
        OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = %(table)s::regclass)
"""


# ---- plans and what is asked of them ---------------------------------------------------------------------------

Plan = dict[str, Any]


def explain(connection: Link, text: str, types: Sequence[str], values: Sequence[str], mode: str) -> Plan:
    """The plan of a prepared statement, made for these values or for any."""
    connection.execute(f"SET plan_cache_mode = force_{mode}_plan".encode())
    declared = f" ({', '.join(types)})" if types else ""
    given = f" ({', '.join(values)})" if values else ""
    connection.execute(f"PREPARE hot{declared} AS {text}".encode())
    try:
        (row,) = connection.execute(f"EXPLAIN (FORMAT JSON) EXECUTE hot{given}".encode()).fetchall()
    finally:
        connection.execute("DEALLOCATE hot")
        connection.execute("RESET plan_cache_mode")
    return row[0][0]["Plan"]


def nodes(plan: Plan) -> Iterator[Plan]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def faults(plan: Plan) -> list[str]:
    """Tables that are read from end to end, and indexes that are not entered with a whole key."""
    found: list[str] = []
    for node in nodes(plan):
        table = node.get("Relation Name")
        if node["Node Type"] in ("Seq Scan", "Sample Scan", "Tid Scan") and table not in TINY:
            found.append(f"{node['Node Type']} on {table}")
        if "Index Cond" in node or node["Node Type"] in ("Index Scan", "Index Only Scan", "Bitmap Index Scan"):
            columns = set(re.findall(r"\b[a-z_]+\b", node.get("Index Cond", "")))
            if not any(key <= columns for key in KEYS.get(_table(node), ())):
                found.append(f"{node.get('Index Name')}: {node.get('Index Cond', 'no condition')}")
    return found


def _table(node: Plan) -> str:
    """A bitmap's index scan does not name its table; the index's name begins with it."""
    named = node.get("Relation Name")
    index = node.get("Index Name", "")
    return named or max((table for table in KEYS if index.startswith(table)), key=len, default="")


def indexes(plan: Plan) -> set[str]:
    return {node["Index Name"] for node in nodes(plan) if "Index Name" in node}


@dataclass(frozen=True)
class Hot:
    name: str
    text: str
    types: tuple[str, ...]
    values: tuple[str, ...]


ORGANIZATION: Final = "'{organization}'"
ID: Final = f"'{ANYTHING}'"
IDS: Final = f"ARRAY['{ANYTHING}', '{SMALL}', '{LARGEST}']::uuid[]"
NOW: Final = "'2031-01-01'"

HOT: Final = [
    Hot("authentication", authentication.BY_HASH, ("bytea",), (r"'\xaa'",)),
    Hot("an event", catalogue.FIND, ("uuid", "uuid"), (ORGANIZATION, ID)),
    Hot("categories of a page", catalogue.CATEGORIES, ("uuid", "uuid[]"), (ORGANIZATION, IDS)),
    Hot("verifying keys", signing.VERIFYING, ("uuid",), (ORGANIZATION,)),
    Hot(
        "a card by its number",
        verification.LOOK_UP,
        ("uuid[]", "uuid[]", "uuid[]", "text[]", "timestamptz"),
        (
            f"ARRAY[{ORGANIZATION}]::uuid[]",
            f"ARRAY[{ID}]::uuid[]",
            f"ARRAY[{ID}]::uuid[]",
            "ARRAY['SVC 0001 0001 0000']",
            NOW,
        ),
    ),
    Hot("a card to move", cards_moves.LOCK, ("uuid", "uuid"), (ORGANIZATION, ID)),
    Hot("an event's status", tickets_issuing.EVENT_STATUS, ("uuid", "uuid"), (ORGANIZATION, ID)),
    Hot("a place", tickets_issuing.TAKE_PLACE, ("uuid", "uuid", "uuid"), (ORGANIZATION, ID, ID)),
    Hot(
        "a cancelled ticket",
        cancellation.CANCEL,
        ("uuid", "uuid", "timestamptz", "text"),
        (ORGANIZATION, ID, NOW, "'reason'"),
    ),
    Hot("an undone activation", cancellation.UNDO, ("uuid", "uuid"), (ORGANIZATION, ID)),
    Hot(
        "keys that were used",
        keys_issuing.MARK_USED,
        ("uuid[]", "uuid[]", "timestamptz[]", "inet[]"),
        (f"ARRAY[{ORGANIZATION}]::uuid[]", f"ARRAY[{ID}]::uuid[]", "ARRAY[now()]", "ARRAY[NULL]::inet[]"),
    ),
]


@pytest.mark.parametrize("organization", [LARGEST, SMALL], ids=["largest", "small"])
@pytest.mark.parametrize("mode", ["generic", "custom"])
@pytest.mark.parametrize("hot", HOT, ids=lambda hot: hot.name)
def test_a_hot_statement_uses_a_whole_key(large: Link, hot: Hot, mode: str, organization: str) -> None:
    values = [value.format(organization=organization) for value in hot.values]
    assert faults(explain(large, hot.text, hot.types, values, mode)) == []


@pytest.mark.parametrize("organization", [LARGEST, SMALL], ids=["largest", "small"])
@pytest.mark.parametrize("mode", ["generic", "custom"])
@pytest.mark.parametrize("page", ["first", "next"])
def test_a_page_of_events_is_read_in_order_and_no_further(large: Link, page: str, mode: str, organization: str) -> None:
    """The index gives the order, so that LIMIT ends the reading. Only what is known to be little may be sorted."""
    if page == "first":
        plan = explain(large, catalogue.FIRST_PAGE, ["uuid", "int8"], [f"'{organization}'", "101"], mode)
    else:
        types, values = ["uuid", "timestamptz", "uuid", "int8"], [f"'{organization}'", "now()", ID, "101"]
        plan = explain(large, catalogue.NEXT_PAGE, types, values, mode)
    (scan,) = (node for node in nodes(plan) if "Index Name" in node)
    assert scan["Index Name"] == "event_published"
    assert "organization_id = " in scan["Index Cond"]
    assert ("ROW(starts_at, id) > " in scan["Index Cond"]) == (page == "next")
    if organization == LARGEST or mode == "generic":
        assert [node["Node Type"] for node in nodes(plan)] == ["Limit", "Index Scan"]


# ---- the statements within activate_scans ----------------------------------------------------------------------


# How the variables that the routine declares end; the parameters begin with p_.
DECLARED: Final = ("_generation", "_keys", "written")


def activation_statements() -> list[tuple[str, dict[str, str]]]:
    """Each statement of the routine, with its variables as parameters, and their types."""
    (text,) = (one for one in statements(ACTIVATION.read_text()) if "FUNCTION activate_scans" in one)
    function = pglast.parse_plpgsql(text)[0]["PLpgSQL_function"]
    variables = [one["PLpgSQL_var"] for one in function["datums"] if "PLpgSQL_var" in one]
    variables = [one for one in variables if one["refname"].startswith("p_") or one["refname"].endswith(DECLARED)]
    found: list[tuple[str, dict[str, str]]] = []
    for query in _queries(function["action"]):
        used = [one for one in variables if re.search(rf"\b{one['refname']}\b", query)]
        for place, one in enumerate(used, 1):
            query = re.sub(rf"\b{one['refname']}\b", f"${place}", query)  # noqa: PLW2901
        found.append((query, {one["refname"]: one["datatype"]["PLpgSQL_type"]["typname"] for one in used}))
    return found


def _queries(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        if "PLpgSQL_expr" in tree:
            yield tree["PLpgSQL_expr"]["query"]
        for one in tree.values():
            yield from _queries(one)
    elif isinstance(tree, list):
        for one in tree:
            yield from _queries(one)


@pytest.fixture
def inside(large: Link) -> Generator[Link]:
    """A session with the settings that activate_scans has."""
    (row,) = large.execute("SELECT proconfig FROM pg_proc WHERE proname = 'activate_scans'").fetchall()
    names: list[str] = []
    for setting in row[0]:
        name, _, value = setting.partition("=")
        large.execute(f"SET {name} = '{value}'".encode())
        names.append(name)
    assert "enable_seqscan" in names
    yield large
    for name in names:
        large.execute(f"RESET {name}".encode())


def activation_plans(connection: Link) -> list[Plan]:
    """Generic plans; the generations are given, because they say which partitions are looked at."""
    generations = {"this_generation": "1::smallint", "last_generation": "0::smallint"}
    return [
        explain(connection, text, [*types.values()], [generations.get(name, "NULL") for name in types], "generic")
        for text, types in activation_statements()
    ]


def test_a_scan_uses_whole_keys(inside: Link) -> None:
    plans = activation_plans(inside)
    assert [fault for plan in plans for fault in faults(plan)] == []
    used = {index for plan in plans for index in indexes(plan)}
    assert {"event_pkey", "card_organization_id_number_key", "ticket_pkey"} <= used
    assert {"idempotency_0_pkey", "idempotency_1_pkey", "ticket_category_pkey"} <= used


def test_a_scan_joins_by_nested_loops_alone(inside: Link) -> None:
    """Anything else would read a table, and would lock tickets in another order in each batch."""
    kinds = {node["Node Type"] for plan in activation_plans(inside) for node in nodes(plan)}
    assert kinds & {"Hash Join", "Merge Join", "Seq Scan", "Gather"} <= {"Seq Scan"}


def test_what_postgresql_really_runs_is_what_was_explained(inside: Link) -> None:
    """auto_explain shows the statements of a real call. Not every server has it."""
    _key(inside)  # beforehand, so that its own look-ups are not among them
    try:
        inside.execute("LOAD 'auto_explain'")
    except psycopg.errors.UndefinedFile:
        pytest.skip("this PostgreSQL comes without auto_explain")
    heard: list[str] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        heard.append(notice.message_primary or "")

    inside.add_notice_handler(hear)
    for setting in ("log_min_duration = 0", "log_nested_statements = on", "log_format = json"):
        inside.execute(f"SET auto_explain.{setting}".encode())
    inside.execute("SET client_min_messages = log")
    _scan_once(inside)
    inside.execute("RESET client_min_messages")
    inside.execute("SET auto_explain.log_min_duration = -1")
    inside.remove_notice_handler(hear)
    plans = [json.loads(text.partition("plan:\n")[2])["Plan"] for text in heard if "plan:\n" in text]
    assert [fault for plan in plans for fault in faults(plan)] == []
    explained = {index for plan in activation_plans(inside) for index in indexes(plan)}
    real = {index for plan in plans for index in indexes(plan)}
    # The generations before the first are 0 and 2; who wants to be told is asked by a routine of its own.
    assert real - explained == {"idempotency_2_pkey", "webhook_endpoint_listening", "webhook_feed_pkey"}
    assert explained - real == {"idempotency_1_pkey"}


def _key(connection: Link) -> str:
    """An API key of the largest organization; made, if it has none."""
    connection.execute(
        "INSERT INTO organization (id, name, created_at) VALUES (%s, 'Largest', now()) ON CONFLICT DO NOTHING",
        (LARGEST,),
    )
    connection.execute(
        "INSERT INTO api_key (organization_id, id, hash, mode, name, last_four, scopes, created_at, created_by)"
        " VALUES (%s, %s, sha256('key'), 'live', 'key', 'aaaa', '{admin}', now(), 'x') ON CONFLICT DO NOTHING",
        (LARGEST, ANYTHING),
    )
    return ANYTHING


def _scan_once(connection: Link, card_number: str = "SVC 0000 0000 0000") -> None:
    connection.execute(
        """
        SELECT * FROM activate_scans(
            now(), '{"live": {"event_not_found": 404, "activated": 200}}',
            ARRAY[gen_random_uuid()], ARRAY[%(organization)s::uuid], ARRAY['live'], ARRAY[%(key)s::uuid],
            ARRAY[NULL], ARRAY[now()], ARRAY[1], ARRAY[gen_random_uuid()], ARRAY[gen_random_uuid()],
            ARRAY[%(event)s::uuid], ARRAY[%(card_number)s], ARRAY[NULL::uuid], ARRAY[false], ARRAY[NULL::text],
            ARRAY[NULL::text], ARRAY[NULL::timestamptz], ARRAY[NULL::jsonb])
        """,
        {"organization": LARGEST, "event": ANYTHING, "card_number": card_number, "key": _key(connection)},
    )


# ---- that this would notice ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "loss",
    [
        "DROP INDEX ticket_in_use, ticket_of_card",
        "ALTER TABLE card DROP CONSTRAINT card_organization_id_number_key",
        "ALTER TABLE idempotency DROP CONSTRAINT idempotency_pkey",
    ],
)
def test_a_lost_index_is_noticed_in_a_scan(inside: Link, loss: str) -> None:
    with inside.transaction(force_rollback=True):
        inside.execute(loss.encode())
        assert [fault for plan in activation_plans(inside) for fault in faults(plan)] != []


def test_a_lost_index_is_noticed_in_a_statement(large: Link) -> None:
    with large.transaction(force_rollback=True):
        large.execute("DROP INDEX api_key_hash")
        assert faults(explain(large, authentication.BY_HASH, ["bytea"], [r"'\xaa'"], "generic")) == [
            "Seq Scan on api_key"
        ]


def test_a_key_that_is_used_in_part_is_noticed(large: Link) -> None:
    text = "SELECT * FROM ticket WHERE organization_id = $1 AND activated_gate = $2"
    with large.transaction(force_rollback=True):
        large.execute("SET LOCAL enable_seqscan = off")
        assert faults(explain(large, text, ["uuid", "text"], [f"'{SMALL}'", "'North'"], "generic")) != []


def test_a_retry_key_is_looked_up_whole_while_there_are_none(cluster: Cluster) -> None:
    """Scans themselves fill this table, from nothing, every day: a plan made before them must be good after them."""
    url = cluster.create_database("gatepass_first_day")
    runner.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET enable_seqscan = off")
        for index in (node for plan in activation_plans(connection) for node in nodes(plan)):
            if index.get("Index Name", "").startswith("idempotency"):
                assert {"organization_id", "retry_key"} <= set(re.findall(r"\w+", index["Index Cond"]))


# ---- a database that grows faster than it is analyzed ----------------------------------------------------------

GROW: Final = """
    INSERT INTO card (organization_id, id, number, issued_at)
        SELECT '{organization}', gen_random_uuid(), 'SVC 0000 0000 ' || to_char(s, 'FM0000'), now()
          FROM generate_series(1, 9999) s;
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at)
        SELECT '{organization}', gen_random_uuid(), e.id, '{anything}', c.id, now()
          FROM card c, event e;
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at, cancelled_at)
        SELECT organization_id, gen_random_uuid(), event_id, category_id, card_id, now(), now() FROM ticket
"""


@pytest.mark.xfail(
    strict=True, reason="known: until autovacuum has analyzed them, a scan on a held connection reads all new tickets"
)
@pytest.mark.parametrize("analyzed", [False, True], ids=["never analyzed", "analyzed while empty"])
def test_a_plan_that_is_older_than_the_rows_reads_few_of_them(cluster: Cluster, analyzed: bool) -> None:
    """Gates hold their connections, and with them the plans of a day when there was nothing to scan."""
    url = cluster.create_database(f"gatepass_young_{analyzed}")
    runner.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        for table in BELIEVED:
            connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)".encode())
        if analyzed:
            connection.execute("ANALYZE")
        _scan_once(connection)
        connection.execute("SET session_replication_role = replica")
        connection.execute(
            "INSERT INTO event (organization_id, id, title, starts_at, ends_at, status, created_at)"
            " VALUES (%s, %s, 'Night', now(), now() + interval '1 hour', 'published', now())",
            (LARGEST, ANYTHING),
        )
        for statement in GROW.format(organization=LARGEST, anything=ANYTHING).split(";\n"):
            connection.execute(statement.encode())
        with connection.transaction():
            ((before,),) = connection.execute(ROWS_READ).fetchall()
            _scan_once(connection, card_number="SVC 0000 0000 0007")
            ((after,),) = connection.execute(ROWS_READ).fetchall()
    assert after - before < 100


ROWS_READ: Final = """
    SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))
      FROM pg_stat_xact_user_tables
     WHERE relname IN ('ticket', 'card', 'event')
"""
