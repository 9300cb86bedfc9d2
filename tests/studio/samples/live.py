"""Ids for the routes of the live page: an event, and a scan with every field that a caller can set."""

from tests import factory
from tests.domain.live.test_totals import activate, key_of, scan
from tests.studio.routes import XSS


async def ids(tenant: factory.Tenant) -> dict[str, str]:
    card, key_id = await tenant.card(), await key_of(tenant)
    async with tenant.db.autocommit() as tx:
        await activate(tx, [scan(tenant, key_id, card.number, gate=XSS[:64]), scan(tenant, key_id, XSS[:64])])
    return {"event_id": str(tenant.event_id)}


FORMS = dict[str, dict[str, str]]()
UNAUDITED = set[str]()
STREAMS = {"GET /studio/{mode}/events/{event_id}/live/stream"}
