"""Devices follow their event by a stream, from a real server: within two seconds, and until their key ends."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from gatepass.base.settings import BASE_PATH
from gatepass.domain import devices
from gatepass.domain.keys import Mode
from tests.domain.manifest import verbs
from tests.domain.manifest.devices import PairedDevice, paired
from tests.domain.manifest.reader import expected_records
from tests.factory import BY, Tenant, now
from tests.processes import GatepassProcess
from tests.warm.processes import serve

pytestmark = pytest.mark.processes

# A busy machine needs this long; an idle one two seconds.
WITHIN = 60.0


@dataclass
class Stream:
    status: int
    reader: asyncio.StreamReader

    async def event(self) -> tuple[str, bytes]:
        """The next event and its data."""
        while True:
            line = await asyncio.wait_for(self.reader.readline(), WITHIN)
            assert line, "the stream ended"
            if line.startswith(b"event: "):
                data = await asyncio.wait_for(self.reader.readline(), WITHIN)
                return line[7:].strip().decode(), data.removeprefix(b"data: ").strip()

    async def rest(self) -> bytes:
        """What is sent until the stream ends."""
        return await asyncio.wait_for(self.reader.read(), WITHIN)


@asynccontextmanager
async def opened(server: GatepassProcess, device: PairedDevice, after: str | None) -> AsyncGenerator[Stream]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    query = "" if after is None else f"?after={after}"
    writer.write(
        f"GET {BASE_PATH}{device.path}/stream{query} HTTP/1.1\r\nHost: gates\r\nConnection: close\r\n"
        f"Authorization: Bearer {device.key}\r\n\r\n".encode()
    )
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), WITHIN)
    try:
        yield Stream(int(head.split(b" ", 2)[1]), reader)
    finally:
        writer.close()


async def following(server: GatepassProcess, tenant: Tenant) -> PairedDevice:
    async with server.client() as client:
        device = await paired(client, tenant)
        await device.fetch()
    return device


async def expected(tenant: Tenant) -> bytes:
    async with tenant.db.autocommit() as tx:
        return await expected_records(tx, tenant.id, tenant.event_id)


async def applied(device: PairedDevice, stream: Stream) -> bytes:
    kind, data = await stream.event()
    assert kind == "changes"
    assert device.manifest is not None
    device.manifest = device.manifest.apply(b64decode(data), device.public_keys)
    return device.manifest.records


async def test_changes_come_as_they_happen(server: GatepassProcess, tenant: Tenant) -> None:
    await tenant.card()
    device = await following(server, tenant)
    assert device.manifest is not None
    async with opened(server, device, device.manifest.header.cursor) as stream:
        assert stream.status == 200
        for verb in (verbs.scan_one, verbs.transfer, verbs.suspend):
            await verb(tenant)
            async with asyncio.timeout(WITHIN):
                while await applied(device, stream) != await expected(tenant):
                    pass


async def test_what_changed_before_comes_first(server: GatepassProcess, tenant: Tenant) -> None:
    await tenant.card()
    device = await following(server, tenant)
    assert device.manifest is not None
    await verbs.scan_one(tenant)
    cursor = device.manifest.header.cursor
    async with opened(server, device, cursor) as stream:
        assert await applied(device, stream) == await expected(tenant)


async def test_without_a_cursor_that_can_be_followed_the_device_is_sent_for_all(
    server: GatepassProcess, tenant: Tenant
) -> None:
    await tenant.card()
    device = await following(server, tenant)
    other = await following(server, await _second(tenant))
    assert other.manifest is not None
    for cursor in (None, other.manifest.header.cursor):
        async with opened(server, device, cursor) as stream:
            assert await stream.event() == ("whole", b"{}")
            assert b"event:" not in await stream.rest()


async def _second(tenant: Tenant) -> Tenant:
    from tests import factory

    return await factory.tenant(tenant.db)


async def test_a_new_category_sends_the_device_for_all(server: GatepassProcess, tenant: Tenant) -> None:
    await tenant.card()
    device = await following(server, tenant)
    assert device.manifest is not None
    async with opened(server, device, device.manifest.header.cursor) as stream:
        await verbs.add_category_and_issue(tenant)
        assert await stream.event() == ("whole", b"{}")


async def test_a_device_that_is_revoked_moved_or_retired_hears_no_more(server: GatepassProcess, tenant: Tenant) -> None:
    elsewhere = await tenant.event()

    async def revoke(device: PairedDevice) -> None:
        async with tenant.db.transaction() as tx:
            await devices.revoke(tx, tenant.id, Mode.LIVE, device.id, by=BY, at=now())

    async def move(device: PairedDevice) -> None:
        async with tenant.db.transaction() as tx:
            await devices.change(tx, tenant.id, Mode.LIVE, device.id, by=BY, at=now(), event_id=elsewhere)

    async def retire(device: PairedDevice) -> None:
        async with tenant.db.transaction() as tx:
            await devices.retire(tx, tenant.id, Mode.LIVE, device.id, by=BY, at=now())

    async def ended(end: Callable[[PairedDevice], Awaitable[None]]) -> None:
        device = await following(server, tenant)
        assert device.manifest is not None
        async with opened(server, device, device.manifest.header.cursor) as stream:
            assert stream.status == 200
            await end(device)
            await stream.rest()

    await asyncio.gather(ended(revoke), ended(move), ended(retire))


async def test_a_device_has_few_streams(server: GatepassProcess, tenant: Tenant) -> None:
    device = await following(server, tenant)
    assert device.manifest is not None
    cursor = device.manifest.header.cursor
    async with (
        opened(server, device, cursor) as one,
        opened(server, device, cursor) as two,
        opened(server, device, cursor) as three,
        opened(server, device, cursor) as four,
    ):
        assert [stream.status for stream in (one, two, three, four)] == [200, 200, 200, 503]


async def test_a_server_that_stops_ends_its_streams(settings_env: dict[str, str], tenant: Tenant) -> None:
    from tests.postgres import free_port

    own = serve(settings_env, free_port())
    device = await following(own, tenant)
    assert device.manifest is not None
    async with opened(own, device, device.manifest.header.cursor) as stream:
        own.process.terminate()
        await stream.rest()
    assert own.stop() == 0
