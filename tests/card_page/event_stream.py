"""The stream of a card page as a browser reads it: over a socket, from a real server."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

# A busy machine needs this long; an idle one a second.
WITHIN = 60.0


@dataclass
class EventStream:
    status: int
    reader: asyncio.StreamReader

    async def changed(self) -> dict[str, Any]:
        """The data of the next change."""
        while True:
            line = await asyncio.wait_for(self.reader.readline(), WITHIN)
            assert line, "the stream ended"
            if line.startswith(b"event: changed"):
                data = await asyncio.wait_for(self.reader.readline(), WITHIN)
                return json.loads(data.removeprefix(b"data: "))

    async def rest(self) -> bytes:
        """What is sent until the stream ends."""
        return await asyncio.wait_for(self.reader.read(), WITHIN)


@asynccontextmanager
async def open_stream(port: int, path: str) -> AsyncGenerator[EventStream]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: cards\r\nConnection: close\r\n\r\n".encode())
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), WITHIN)
    try:
        yield EventStream(int(head.split(b" ", 2)[1]), reader)
    finally:
        writer.close()
