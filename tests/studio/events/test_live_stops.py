"""A process that is told to stop does not wait for the doors that are open."""

import asyncio
import signal
import time

import pytest

from bench.doors.estate import signed_in
from gatepass.studio import cookies
from tests import make
from tests.postgres import free_port
from tests.serving import serve

pytestmark = pytest.mark.slow


async def test_a_process_stops_although_doors_are_open(settings_env: dict[str, str], house: make.House) -> None:
    serving = serve(settings_env, free_port())
    cookie = await signed_in(house.db, house.id)
    path = f"/studio/live/events/{house.event_id}/door/stream"
    reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nCookie: {cookies.SESSION}={cookie}\r\n\r\n".encode())
    assert b"200" in await reader.readline()
    await reader.readuntil(b"event: figures")
    began = time.monotonic()
    serving.process.send_signal(signal.SIGTERM)
    await asyncio.wait_for(reader.read(), 5)
    assert await asyncio.to_thread(serving.stop) == 0
    assert time.monotonic() - began < 5
    writer.close()
