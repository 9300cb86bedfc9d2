"""Plans of PostgreSQL as JSON: reading them, and finding tables that are read whole and indexes used in part."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import psycopg

Link = psycopg.Connection[tuple[Any, ...]]
Plan = dict[str, Any]

# One row; reading it costs one page.
TINY: Final = frozenset({"idempotency_generation"})

# The columns that an index condition must have: one of these sets, whole. A card has few tickets, so all of them may be
# read to find the one of an event.
KEYS: Final[Mapping[str, Sequence[set[str]]]] = {
    "organization": [{"id"}],
    "api_key": [{"hash"}, {"organization_id", "id"}],
    "signing_key": [{"organization_id"}],
    "event": [{"organization_id", "id"}],
    "ticket_category": [{"organization_id", "id"}, {"organization_id", "event_id"}],
    "card": [{"organization_id", "id"}, {"organization_id", "number"}],
    "ticket": [{"organization_id", "id"}, {"organization_id", "card_id"}],
    "card_holder": [{"organization_id", "card_id"}, {"organization_id", "email"}],
    "holder_email": [{"organization_id", "card_id"}, {"organization_id", "email"}],
    "card_external_id": [{"organization_id", "card_id"}],
    "ticket_reference": [{"organization_id", "reference"}, {"organization_id", "ticket_id"}],
    "idempotency_0": [{"organization_id", "idempotency_key"}],
    "idempotency_1": [{"organization_id", "idempotency_key"}],
    "idempotency_2": [{"organization_id", "idempotency_key"}],
    "webhook_endpoint": [{"organization_id", "mode"}],
    "webhook_feed": [{"organization_id", "mode"}],
}


def explain(connection: Link, text: str, types: Sequence[str], values: Sequence[str], mode: str) -> Plan:
    """The custom plan of a prepared statement for these values, or its generic plan."""
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
    """Sequential scans, and index scans whose condition has no whole key."""
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
    """The index scan of a bitmap does not name its table; the index's name begins with it."""
    named = node.get("Relation Name")
    index = node.get("Index Name", "")
    return named or max((table for table in KEYS if index.startswith(table)), key=len, default="")


def indexes(plan: Plan) -> set[str]:
    return {node["Index Name"] for node in nodes(plan) if "Index Name" in node}


# The number of pages stays, because the planner reads it from the file; it takes the rows per page from here.
SCALE: Final = """
    WITH factor AS (SELECT %(rows)s / reltuples AS value FROM pg_class WHERE oid = %(table)s::regclass)
    UPDATE pg_class
       SET reltuples = reltuples * (SELECT value FROM factor)
     WHERE oid = %(table)s::regclass
        OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = %(table)s::regclass)
"""
