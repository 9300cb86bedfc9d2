"""A live scan is its own entry of the request log. What leaves no scan has a row there. A call has one entry."""

from ipaddress import ip_address
from uuid import UUID

from msgspec.structs import replace

from gatepass.api.responses import VERDICT_STATUSES
from gatepass.base.ids import new_id
from gatepass.domain import tickets
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import Scan
from tests import factory
from tests.domain.tickets.scans import shown
from tests.factory import Tenant

ADDRESS = ip_address("10.1.2.3")


async def entries(tenant: Tenant, *batches: list[Scan]) -> dict[str, dict[UUID, int]]:
    """The statuses in each table after these batches, which all have the same time."""
    at = factory.now()
    async with tenant.db.autocommit() as tx:
        for batch in batches:
            await tickets.activate(tx, batch, at=at, statuses=VERDICT_STATUSES)
        found = {}
        for table in ("scan", "request_log", "logged_call"):
            rows = await tx.rows(f"SELECT id, status FROM {table} WHERE organization_id = $1", tenant.id)
            assert len({row["id"] for row in rows}) == len(rows), table
            found[table] = {row["id"]: row["status"] for row in rows}
    return found


async def test_a_scan_and_its_entry_are_one_row(tenant: Tenant) -> None:
    used = await shown(tenant, address=ADDRESS, elapsed_us=70)
    again = replace(used, request_id=new_id(), idempotency_key=None)
    found = await entries(tenant, [used], [again])
    assert found["scan"] == {used.request_id: 200, again.request_id: 409}
    assert found["request_log"] == {}
    assert found["logged_call"] == found["scan"]
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows("SELECT * FROM logged_call WHERE organization_id = $1 ORDER BY status", tenant.id)
    first, second = rows
    assert (first["method"], first["path"], first["code"], first["address"]) == ("POST", "/scan", None, ADDRESS)
    assert first["duration_us"] >= 70
    assert second["code"] == "already_activated"


async def test_a_replay_has_a_row_in_the_log_and_no_scan(tenant: Tenant) -> None:
    first = await shown(tenant)
    at_once, later = replace(first, request_id=new_id()), replace(first, request_id=new_id())
    found = await entries(tenant, [first, at_once], [later])
    assert found["scan"] == {first.request_id: 200}
    assert found["request_log"] == {at_once.request_id: 200, later.request_id: 200}


async def test_a_batch_that_is_run_again_leaves_no_second_entry(tenant: Tenant) -> None:
    """Its outcome was not known, so that each of its scans finds its own answer."""
    first = await shown(tenant)
    replay, other = replace(first, request_id=new_id()), await shown(tenant)
    batch = [first, replay, other]
    found = await entries(tenant, batch, batch)
    assert found["scan"] == {first.request_id: 200, other.request_id: 200}
    assert found["request_log"] == {replay.request_id: 200}


async def test_a_scan_of_the_sandbox_is_of_another_organization_and_its_call_is_not(tenant: Tenant) -> None:
    sandboxed = replace(await shown(tenant), mode=Mode.SANDBOX)
    found = await entries(tenant, [sandboxed], [sandboxed])
    assert found["scan"] == {}
    assert found["request_log"] == {sandboxed.request_id: 404}
    assert found["logged_call"] == found["request_log"]
