"""An organization that was suspended goes on calling: every endpoint, both modes, keys that the process knows."""

import pytest

from gatepass.domain.keys import Mode
from gatepass.domain.lifecycle import suspension
from tests import factory
from tests.api.endpoints import ALL, FOR_DEVICES, SCAN, Endpoint
from tests.domain.manifest.devices import registered
from tests.factory import Tenant
from tests.processes import GatepassProcess


async def suspend(tenant: Tenant) -> None:
    async with tenant.db.transaction() as tx:
        await suspension.suspend(tx, tenant.id, reason="x", by="operator", at=factory.now())


@pytest.mark.parametrize("mode", list(Mode))
async def test_no_endpoint_answers(server: GatepassProcess, tenant: Tenant, mode: Mode) -> None:
    key = await tenant.key(mode=mode)
    own = tenant if mode is Mode.LIVE else await factory.sandbox_twin(tenant)
    _, device_key = await registered(own)
    calls = [(key.text, [one for one in ALL if one not in FOR_DEVICES]), (device_key, FOR_DEVICES)]
    for text, endpoints in calls:
        async with server.client(text) as client:
            for endpoint in endpoints:
                assert (await endpoint.call(client)).status_code != 403, f"{endpoint}: the key is good, and cached"
    await suspend(tenant)
    for text, _ in calls:
        async with server.client(text) as client:
            for endpoint in ALL:
                answer = await endpoint.call(client)
                assert (answer.status_code, answer.json()["code"]) == (403, "organization_suspended"), str(endpoint)
                assert answer.headers["x-svc-should-retry"] == "false"


async def test_a_retry_of_what_was_answered_is_refused_too(server: GatepassProcess, tenant: Tenant) -> None:
    key, card = await tenant.key(), await tenant.card()
    body = {"event_id": str(tenant.event_id), "card_number": card.number}
    async with server.client(key.text) as client:
        first = await client.post("/scan", json=body, headers={"Idempotency-Key": "one"})
        assert first.status_code == 200
        await suspend(tenant)
        again = await client.post("/scan", json=body, headers={"Idempotency-Key": "one"})
        assert (again.status_code, again.json()["code"]) == (403, "organization_suspended")
        async with tenant.db.transaction() as tx:
            await suspension.resume(tx, tenant.id, by="operator", at=factory.now())
        replayed = await client.post("/scan", json=body, headers={"Idempotency-Key": "one"})
        assert (replayed.status_code, replayed.headers["idempotent-replayed"]) == (200, "true")


@pytest.mark.parametrize("endpoint", [SCAN, Endpoint("GET", "/events")], ids=str)
async def test_whoever_has_no_key_learns_nothing(server: GatepassProcess, tenant: Tenant, endpoint: Endpoint) -> None:
    """A key from elsewhere, or one that was mistyped, is refused as ever."""
    elsewhere, good = await tenant.key(networks="192.0.2.0/24"), await tenant.key()
    await suspend(tenant)
    mistyped = good.text[:-1] + ("0" if good.text[-1] != "0" else "1")
    for text in (elsewhere.text, mistyped):
        async with server.client(text) as client:
            answer = await endpoint.call(client)
        assert (answer.status_code, answer.json()["code"]) == (401, "invalid_key")
