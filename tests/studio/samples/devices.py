"""Ids and forms for the routes of devices and their pairing."""

from nacl.signing import SigningKey

from gatepass.domain import devices
from gatepass.domain.devices import pairing
from gatepass.domain.keys import Mode
from tests import factory
from tests.studio.routes import XSS


async def ids(tenant: factory.Tenant) -> dict[str, str]:
    at, live = factory.now(), (tenant.id, Mode.LIVE)
    async with tenant.db.transaction() as tx:
        device, _ = await devices.pair_now(
            tx, *live, XSS, _public_key(), tenant.event_id, XSS, cell="a", by=factory.BY, at=at, app=XSS
        )
        code = await pairing.make_code(tx, *live, tenant.event_id, XSS, devices=2, cell="a", by=factory.BY, at=at)
        asked = await pairing.ask(tx, code.text, _public_key(), XSS, XSS, cell="a", address=None, at=at)
    assert asked is not None
    # The event of a device is chosen in a form.
    for path in (PAIR, CHANGE):
        FORMS[path]["event_id"] = str(tenant.event_id)
    return {"device_id": str(device.id), "code_id": str(code.id), "pairing_request": asked.request}


def _public_key() -> bytes:
    return bytes(SigningKey.generate().verify_key)


PAIR = "POST /studio/{mode}/devices/pair"
CHANGE = "POST /studio/{mode}/devices/{device_id}/change"
FORMS: dict[str, dict[str, str]] = {
    PAIR: {"gate": XSS, "devices": "2"},
    CHANGE: {"name": "Another " + XSS, "gate": XSS},
    "POST /studio/{mode}/devices/pair/{code_id}/end": {},
    "POST /studio/{mode}/devices/pair/{code_id}/{pairing_request}/confirm": {},
    "POST /studio/{mode}/devices/pair/{code_id}/{pairing_request}/refuse": {},
    "POST /studio/{mode}/devices/{device_id}/retire": {},
    "POST /studio/{mode}/devices/{device_id}/revoke": {},
}
