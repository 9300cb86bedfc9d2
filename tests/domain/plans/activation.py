"""The statements within activate_scans, their plans, and a call of it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pglast

import gatepass
from gatepass.migrations.sql import statements
from tests.domain.plans.explain import Link, Plan, explain
from tests.domain.plans.large_database import ANYTHING, LARGEST

ACTIVATION: Final = Path(gatepass.__file__).parent / "domain" / "tickets" / "activation.sql"
# The endings of the variables that the routine declares; its parameters begin with p_.
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


def activation_plans(connection: Link) -> list[Plan]:
    """Generic plans; the generations are given, because they determine which partitions are read."""
    generations = {"this_generation": "1::smallint", "last_generation": "0::smallint"}
    return [
        explain(connection, text, [*types.values()], [generations.get(name, "NULL") for name in types], "generic")
        for text, types in activation_statements()
    ]


def ensure_key(connection: Link) -> str:
    """An API key of the largest organization; it is inserted if there is none."""
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


def scan_once(connection: Link, card_number: str = "SVC 0000 0000 0000") -> None:
    connection.execute(
        """
        SELECT * FROM activate_scans(
            now(), '{"live": {"event_not_found": 404, "activated": 200}}',
            ARRAY[gen_random_uuid()], ARRAY[%(organization)s::uuid], ARRAY['live'], ARRAY[%(key)s::uuid],
            ARRAY[NULL], ARRAY[now()], ARRAY[1], ARRAY[gen_random_uuid()], ARRAY[gen_random_uuid()],
            ARRAY[%(event)s::uuid], ARRAY[%(card_number)s], ARRAY[NULL::uuid], ARRAY[false], ARRAY[NULL::text],
            ARRAY[NULL::text], ARRAY[NULL::timestamptz], ARRAY[NULL::jsonb])
        """,
        {"organization": LARGEST, "event": ANYTHING, "card_number": card_number, "key": ensure_key(connection)},
    )
