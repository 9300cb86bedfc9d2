"""The statements within judge_scans and the routine that it calls, their plans, and a call of it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pglast

import gatepass
from gatepass.migrations.sql import statements
from tests.domain.plans.explain import Link, Plan, explain
from tests.domain.plans.large_database import ANYTHING, LARGEST

TICKETS: Final = Path(gatepass.__file__).parent / "domain" / "tickets"
# Those that run for each batch, and with the settings of the first.
ROUTINES: Final = {"judge_scans": TICKETS / "activation.sql", "scans_with_ended_keys": TICKETS / "ended_keys.sql"}
# The endings of the variables that the routines declare; their parameters begin with p_.
DECLARED: Final = ("_generation", "_keys", "_scans", "late", "unjudged", "written")
STATEMENT: Final = 0  # in pglast; everything else is an expression


def activation_statements() -> list[tuple[str, dict[str, str]]]:
    """Each statement of the routines, with its variables as parameters, and their types."""
    return [one for name, path in ROUTINES.items() for one in _of_routine(name, path)]


def _of_routine(name: str, path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    (text,) = (one for one in statements(path.read_text()) if f"FUNCTION {name}(" in one)
    function = pglast.parse_plpgsql(text)[0]["PLpgSQL_function"]
    variables = [one["PLpgSQL_var"] for one in function["datums"] if "PLpgSQL_var" in one]
    variables = [one for one in variables if one["refname"].startswith("p_") or one["refname"].endswith(DECLARED)]
    for query in _queries(function["action"]):
        used = [one for one in variables if re.search(rf"\b{one['refname']}\b", query)]
        for place, one in enumerate(used, 1):
            query = re.sub(rf"\b{one['refname']}\b", f"${place}", query)  # noqa: PLW2901
        yield query, {one["refname"]: one["datatype"]["PLpgSQL_type"]["typname"] for one in used}


def _queries(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        if "PLpgSQL_expr" in tree:
            expression = tree["PLpgSQL_expr"]
            yield expression["query"] if expression["parseMode"] == STATEMENT else "SELECT " + expression["query"]
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
        SELECT * FROM judge_scans(
            now(), '{"live": {"event_not_found": 404, "activated": 200}}',
            ARRAY[gen_random_uuid()], ARRAY[%(organization)s::uuid], ARRAY['live'], ARRAY[%(key)s::uuid],
            ARRAY[NULL], ARRAY[now()], ARRAY[1], ARRAY[gen_random_uuid()], ARRAY[gen_random_uuid()],
            ARRAY[%(event)s::uuid], ARRAY[%(card_number)s], ARRAY[NULL::uuid], ARRAY[false], ARRAY[NULL::text],
            ARRAY[NULL::text], ARRAY[NULL::timestamptz], ARRAY[NULL::jsonb])
        """,
        {"organization": LARGEST, "event": ANYTHING, "card_number": card_number, "key": ensure_key(connection)},
    )
