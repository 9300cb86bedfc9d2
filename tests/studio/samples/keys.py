"""What the routes of keys, the request log, the audit and the settings need to be walked."""

from datetime import timedelta

from gatepass.base.ids import new_id, request_text
from gatepass.domain import audit, cards, keys
from gatepass.domain.keys import Mode, Scope
from tests import make
from tests.studio.walk import XSS

EMAIL = "grace@example.org"


async def ids(house: make.House) -> dict[str, str]:
    at, call_id = make.now(), new_id()
    async with house.db.transaction() as tx:
        key = await keys.issue(tx, house.id, XSS, Mode.LIVE, [Scope.ADMIN], cell="a", by=make.BY, at=at)
        row = audit.Call(house.id, at, call_id, "live", key.id, "POST", "/scan", 409, "already_activated", None, 900)
        await audit.write(tx, [row])
        older = await cards.rotate(tx, house.id, make.VAULT, by=make.BY, at=at - timedelta(days=1))
        await cards.issue(tx, house.id, by=make.BY, at=at, holder_name=XSS, holder_email=EMAIL)
    return {"key_id": str(key.id), "request_id": request_text(call_id), "signing_key_id": str(older)}


FORMS = {
    "POST /studio/{mode}/keys": {"name": XSS, "scopes": ["events:read"], "expiry": "90d", "networks": "10.0.0.0/8"},
    "POST /studio/{mode}/keys/{key_id}/name": {"name": "Another " + XSS},
    "POST /studio/{mode}/keys/{key_id}/roll": {"overlap": "24h", "expiry": "90d"},
    "POST /studio/{mode}/keys/{key_id}/revoke": {},
    "POST /studio/{mode}/settings/organization": {"name": XSS, "card_prefix": "hall"},
    "POST /studio/{mode}/settings/signing-keys": {},
    "POST /studio/{mode}/settings/signing-keys/{signing_key_id}/retire": {"reason": XSS},
    "POST /studio/{mode}/settings/erasure/found": {"asked": EMAIL},
    "POST /studio/{mode}/settings/erasure": {"asked": EMAIL, "seen": "1"},
}
UNNOTED = {"POST /studio/{mode}/settings/erasure/found"}
DOWNLOADS = {"GET /studio/{mode}/audit/export.csv"}
# A piece of a page, for htmx.
PARTS = {"GET /studio/{mode}/keys/preview"}
