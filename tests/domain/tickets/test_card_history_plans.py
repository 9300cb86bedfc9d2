"""The history of a card reads no scans of other cards: refused ones by their index, the activation by its ticket."""

from collections.abc import Generator
from typing import Final
from uuid import UUID

import psycopg
import pytest

from gatepass.domain.tickets import card_history
from tests.domain.plans.explain import Link, Plan, nodes
from tests.domain.webhooks.test_page_plans import run
from tests.postgres import Cluster

ORGANIZATION: Final = "00000000-0000-0000-0000-000000000001"
SMALL: Final = "00000000-0000-0000-0000-000000000013"
CARD: Final = "00000000-0000-0000-0000-0000000000ca"
SCANS: Final = 400_000

LOAD: Final = f"""
    ALTER TABLE scan_default SET (autovacuum_enabled = off);
    INSERT INTO scan (organization_id, at, id, mode, key_id, event_id, card_number, card_id, verdict)
        SELECT CASE WHEN n % 2 = 0 THEN '{ORGANIZATION}' ELSE lpad(to_hex(1 + n % 20), 32, '0') END::uuid,
               now() - n * interval '1 second', gen_random_uuid(), 'live', '{CARD}', '{CARD}', 'SVC 0000 0000 0000',
               CASE WHEN n % 100000 = 0 THEN '{CARD}'::uuid ELSE gen_random_uuid() END,
               CASE WHEN n % 100000 = 0 THEN 'already_activated' ELSE 'activated' END
          FROM generate_series(1, {SCANS}) n;
    VACUUM ANALYZE scan
"""


@pytest.fixture(scope="module")
def link(cluster: Cluster) -> Generator[Link]:
    url = cluster.create_migrated("gatepass_history_plan")
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in LOAD.split(";\n"):
            connection.execute(statement.encode())
        yield connection


def read(plan: Plan) -> int:
    """How many rows of scans were read."""
    return sum(
        (node["Actual Rows"] + node.get("Rows Removed by Index Recheck", 0) + node.get("Rows Removed by Filter", 0))
        * node["Actual Loops"]
        for node in nodes(plan)
        if str(node.get("Relation Name", "")).startswith("scan")
    )


@pytest.mark.parametrize("organization", [ORGANIZATION, SMALL], ids=["largest", "small"])
def test_a_cards_history_reads_its_own_scans_alone(link: Link, organization: str) -> None:
    plan = run(link, card_history.HISTORY, organization, CARD, "9999-12-31", UUID(int=2**128 - 1), 51)
    expected = SCANS // 100_000 if organization == ORGANIZATION else 0
    assert plan["Actual Rows"] == expected
    assert [node for node in nodes(plan) if node["Node Type"] == "Seq Scan" and node["Plan Rows"] > 100] == []
    assert read(plan) == expected
