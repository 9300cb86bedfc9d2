"""A process that stops does not wait for open live pages."""

import asyncio
import signal
import time

import pytest

from bench.live.stack import signed_in
from gatepass.studio.web import cookies
from tests import factory
from tests.postgres import free_port
from tests.processes import serve

pytestmark = pytest.mark.slow


async def test_a_process_stops_although_live_pages_are_open(
    settings_env: dict[str, str], tenant: factory.Tenant
) -> None:
    server = serve(settings_env, free_port())
    cookie = await signed_in(tenant.db, tenant.id)
    path = f"/studio/live/events/{tenant.event_id}/live/stream"
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nCookie: {cookies.SESSION}={cookie}\r\n\r\n".encode())
    assert b"200" in await reader.readline()
    await reader.readuntil(b"event: figures")
    began = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    await asyncio.wait_for(reader.read(), 5)
    assert await asyncio.to_thread(server.stop) == 0
    assert time.monotonic() - began < 5
    writer.close()
