"""A device that is revoked, retired or moved: every process knows it with the very next request."""

import asyncio
from contextlib import AsyncExitStack
from itertools import count

from tests.api.endpoints import ALL
from tests.domain.devices import paired
from tests.factory import Tenant
from tests.faults.conftest import Pair
from tests.faults.gates import client_of
from tests.faults.test_revocation import assert_refused

_addresses = count(2)


async def test_a_revoked_device_is_refused_by_every_process(pair: Pair, tenant: Tenant) -> None:
    for _ in range(5):
        device = await paired.pair(tenant)
        cards = [await tenant.card() for _ in range(4)]
        async with AsyncExitStack() as stack:
            address = f"127.0.8.{next(_addresses)}"
            clients = [
                await stack.enter_async_context(client_of(server, device.key, address=address)) for server in pair
            ]
            scans = [{"event_id": str(tenant.event_id), "card_number": card.number} for card in cards]
            first = await asyncio.gather(
                *(client.post("/scan", json=scan) for client, scan in zip(clients, scans[:2], strict=True))
            )
            assert [answer.status_code for answer in first] == [200, 200]
            await paired.revoke(tenant, device.device)
            after = await asyncio.gather(
                *(client.post("/scan", json=scan) for client, scan in zip(clients, scans[2:], strict=True))
            )
            for answer in after:
                assert_refused(answer, "device_revoked")
            for endpoint in ALL:
                for client in clients:
                    assert_refused(await endpoint.call(client), "device_revoked")


async def test_a_moved_device_scans_at_its_new_gate_on_every_process(pair: Pair, tenant: Tenant) -> None:
    device = await paired.pair(tenant, gate="North")
    async with AsyncExitStack() as stack:
        address = f"127.0.8.{next(_addresses)}"
        clients = [await stack.enter_async_context(client_of(server, device.key, address=address)) for server in pair]
        admin = await stack.enter_async_context(client_of(pair[0], (await tenant.key()).text))
        for gate in ("North", "South", "East"):
            await paired.move(tenant, device.device, gate=gate)
            for client in clients:
                card = await tenant.card()
                scan = {"event_id": str(tenant.event_id), "card_number": card.number}
                assert (await client.post("/scan", json=scan)).status_code == 200
                (kept,) = (await admin.get("/scans", params={"card_id": str(card.id)})).json()["data"]
                assert kept["gate"] == gate
        await paired.retire(tenant, device.device)
        for client in clients:
            scan = {"event_id": str(tenant.event_id), "card_number": (await tenant.card()).number}
            assert (await client.post("/scan", json=scan)).status_code == 403
