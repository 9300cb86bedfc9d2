"""A process that stops does not wait for open live pages, and an impatient Ctrl-C leaves no traceback."""

import asyncio
import signal
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from bench.live.stack import signed_in
from gatepass.studio.services.templates import root_of
from gatepass.studio.web import cookies
from tests import factory
from tests.postgres import free_port
from tests.processes import GatepassProcess
from tests.size import NIGHT
from tests.warm.processes import serve

pytestmark = pytest.mark.processes


@asynccontextmanager
async def live_page(server: GatepassProcess, tenant: factory.Tenant) -> AsyncGenerator[asyncio.StreamReader]:
    """The stream of an open live page, with its first figures read."""
    cookie = await signed_in(tenant.db, tenant.id)
    path = f"{root_of(tenant.id, 'live')}/events/{tenant.event_id}/live/stream"
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nCookie: {cookies.SESSION}={cookie}\r\n\r\n".encode())
    assert b"200" in await reader.readline()
    await reader.readuntil(b"event: figures")
    yield reader
    writer.close()


async def test_a_process_stops_although_live_pages_are_open(
    settings_env: dict[str, str], tenant: factory.Tenant
) -> None:
    server = serve(settings_env, free_port())
    async with live_page(server, tenant) as stream:
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(stream.read(), 60)
    assert await asyncio.to_thread(server.stop) == 0
    if NIGHT:
        assert time.monotonic() - began < 5


async def test_ctrl_c_twice_after_the_live_page_was_open_prints_no_traceback(
    settings_env: dict[str, str], tenant: factory.Tenant
) -> None:
    server = serve(settings_env, free_port())
    async with live_page(server, tenant) as stream:
        server.process.send_signal(signal.SIGINT)
        # The stream has ended, and the process has not: it is shutting down.
        await asyncio.wait_for(stream.read(), 60)
        server.process.send_signal(signal.SIGINT)
    assert await asyncio.to_thread(server.process.wait, 20) == 0
    await asyncio.to_thread(server.stop)
    assert [line for line in server.lines if '"level": "error"' in line or "Traceback" in line] == []
