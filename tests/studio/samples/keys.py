"""Ids and forms for the routes of keys, the request log, the audit log and the settings."""

from datetime import timedelta

from gatepass.base.ids import new_id, request_text
from gatepass.domain import cards, keys, request_log
from gatepass.domain.keys import Mode, Scope
from tests import factory
from tests.studio.routes import XSS

EMAIL = "grace@example.org"


async def ids(tenant: factory.Tenant) -> dict[str, str]:
    at, call_id = factory.now(), new_id()
    async with tenant.db.transaction() as tx:
        key = await keys.issue(tx, tenant.id, XSS, Mode.LIVE, [Scope.ADMIN], cell="a", by=factory.BY, at=at)
        row = request_log.CallRecord(
            tenant.id, at, call_id, "live", key.id, "POST", "/scan", 409, "already_activated", None, 900
        )
        await request_log.write(tx, [row])
        older = await cards.rotate(tx, tenant.id, factory.VAULT, by=factory.BY, at=at - timedelta(days=1))
        await cards.issue(tx, tenant.id, by=factory.BY, at=at, holder_name=XSS, holder_email=EMAIL)
    return {"key_id": str(key.id), "request_id": request_text(call_id), "signing_key_id": str(older)}


FORMS = {
    "POST /studio/{mode}/keys": {"name": XSS, "scopes": ["events:read"], "expiry": "90d", "networks": "10.0.0.0/8"},
    "POST /studio/{mode}/keys/{key_id}/name": {"name": "Another " + XSS},
    "POST /studio/{mode}/keys/{key_id}/roll": {"overlap": "24h", "expiry": "90d"},
    "POST /studio/{mode}/keys/{key_id}/revoke": {},
    "POST /studio/{mode}/settings/organization": {"name": XSS, "time_zone": "Europe/Brussels", "card_prefix": "hall"},
    "POST /studio/{mode}/settings/signing-keys": {},
    "POST /studio/{mode}/settings/sandbox/empty": {},
    "POST /studio/{mode}/settings/signing-keys/{signing_key_id}/retire": {"reason": XSS},
    "POST /studio/{mode}/settings/erasure/found": {"asked": EMAIL},
    "POST /studio/{mode}/settings/erasure": {"asked": EMAIL, "seen": "1"},
}
# The sandbox is empty, so that nothing is changed.
UNAUDITED = {"POST /studio/{mode}/settings/erasure/found", "POST /studio/{mode}/settings/sandbox/empty"}
DOWNLOADS = {"GET /studio/{mode}/audit/export.csv"}
# A part of a page, for htmx.
PARTS = {"GET /studio/{mode}/keys/preview"}
