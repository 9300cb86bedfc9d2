"""Processes of version 0.2 call activate_scans: they get refusals that they know, and their batches do not fail."""

from datetime import timedelta
from typing import Final
from uuid import UUID

import pytest

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from tests import factory
from tests.factory import Tenant

# As version 0.2.0 sends them: nothing is said of what came later.
STATUSES: Final = '{"live": {"activated": 200, "event_not_active": 422}, "sandbox": {"activated": 200}}'
SCAN: Final = """
    SELECT verdict
      FROM activate_scans(now(), $1, ARRAY[$2::uuid], ARRAY[$3::uuid], ARRAY['live'], ARRAY[$4::uuid], ARRAY[NULL],
                          ARRAY[now()], ARRAY[1], ARRAY[NULL::uuid], ARRAY[gen_random_uuid()], ARRAY[$5::uuid],
                          ARRAY[$6::text], ARRAY[NULL::uuid], ARRAY[false], ARRAY[NULL::text], ARRAY[NULL::text],
                          ARRAY[NULL::timestamptz], ARRAY[NULL::jsonb])
"""
RECORDED: Final = """
    SELECT s.verdict, r.status, r.code
      FROM scan s
      JOIN logged_call r ON r.organization_id = s.organization_id AND r.id = s.id
     WHERE s.organization_id = $1
       AND s.id = $2
"""
DOORS: Final = "UPDATE event SET doors_open_at = $2 WHERE organization_id = $1"
PHONES: Final = "UPDATE event SET codes = 'phone' WHERE organization_id = $1 AND $2::timestamptz IS NOT NULL"
WINDOW: Final = "UPDATE ticket_category SET valid_from = $2 WHERE organization_id = $1"
GATES: Final = "UPDATE ticket_category SET gates = '{North}' WHERE organization_id = $1 AND $2::timestamptz IS NOT NULL"


async def shown(db: Database, tenant: Tenant) -> tuple[str, UUID]:
    card, key, request_id = await tenant.card(), await tenant.key(), new_id()
    async with db.autocommit() as tx:
        verdict = await tx.value(SCAN, STATUSES, request_id, tenant.id, key.id, tenant.event_id, card.number)
    return verdict, request_id


@pytest.mark.parametrize(
    ("rule", "refusal"),
    [
        (DOORS, "doors_closed"),
        (PHONES, "static_code_refused"),
        (WINDOW, "outside_window"),
        (GATES, "wrong_gate"),
    ],
)
async def test_a_later_refusal_is_one_that_they_know(db: Database, tenant: Tenant, rule: str, refusal: str) -> None:
    verdict, _ = await shown(db, tenant)
    assert verdict == "activated"
    async with db.transaction() as tx:
        await tx.run(rule, tenant.id, factory.now() + timedelta(hours=1))  # pyright: ignore[reportArgumentType]
    verdict, request_id = await shown(db, tenant)
    assert verdict == "event_not_active"
    async with db.autocommit() as tx:
        (row,) = await tx.rows(RECORDED, tenant.id, request_id)
    assert tuple(row) == (refusal, 422, refusal)
