"""A cached key may have ended: a scan under it is not judged, and the other scans of the batch are not affected."""

from datetime import timedelta

from gatepass.api.responses import VERDICT_STATUSES
from gatepass.base.database import Database
from gatepass.domain import cards, keys, tickets
from tests import factory
from tests.domain.tickets.scans import shown
from tests.factory import Tenant


async def test_a_key_that_has_ended_leaves_no_trace(db: Database, tenant: Tenant) -> None:
    """Three scans of a batch have ended keys; the last has the same idempotency key, and is the first to be judged."""
    revoked, expired = await tenant.key(), await tenant.key(expires_at=factory.now() + timedelta(minutes=1))
    at = factory.now() + timedelta(minutes=2)
    async with db.transaction() as tx:
        (signer,) = await cards.verifying_keys(tx, tenant.id)
        await cards.rotate(tx, tenant.id, factory.VAULT, by=factory.BY, at=factory.now())
        await cards.retire(tx, tenant.id, signer.id, by=factory.BY, at=factory.now(), reason="stolen")
        await keys.revoke(tx, tenant.id, revoked.id, by=factory.BY, at=factory.now())
    batch = [
        await shown(tenant, idempotency_key="one for all", key_id=revoked.id),
        await shown(tenant, idempotency_key="one for all", key_id=expired.id),
        await shown(tenant, idempotency_key="one for all", signing_key=signer.id),
        await shown(tenant, idempotency_key="one for all"),
    ]
    async with db.autocommit() as tx:
        verdicts = await tickets.activate(tx, batch, at=at, statuses=VERDICT_STATUSES)
        traces = {
            row["id"]
            for row in await tx.rows(
                "SELECT id FROM scan WHERE organization_id = $1"
                " UNION SELECT id FROM logged_call WHERE organization_id = $1",
                tenant.id,
            )
        }
        used = await tx.value(
            "SELECT count(*) FROM ticket WHERE organization_id = $1 AND activated_at IS NOT NULL", tenant.id
        )
    *ended, good = verdicts
    assert ended == [None, None, None]
    assert good is not None
    assert (good.verdict, good.replayed) == ("activated", False)
    assert traces == {batch[-1].request_id}
    assert used == 1
