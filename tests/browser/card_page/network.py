"""The network between a browser and the service, which can be cut.

Browsers' own emulation of no network does not reach service workers. A port that refuses connections does.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Self

from tests.postgres import free_port


class Network:
    def __init__(self, server_port: int) -> None:
        self.port = free_port()
        self._server_port = server_port
        self._open: set[asyncio.StreamWriter] = set()
        self._listener: asyncio.Server | None = None

    @property
    def origin(self) -> str:
        return f"http://localhost:{self.port}"

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[Self]:
        await self.restore()
        yield self
        await self.cut()

    async def restore(self) -> None:
        self._listener = await asyncio.start_server(self._connected, "localhost", self.port)

    async def cut(self) -> None:
        """Refuse connections, and break those that are open."""
        if self._listener is not None:
            self._listener.close()
        for writer in self._open:
            writer.transport.abort()
        self._open.clear()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._server_port)
        both = {writer, back}
        self._open |= both
        with suppress(ConnectionError):
            await asyncio.gather(_pump(reader, back), _pump(there, writer))
        for one in both:
            one.close()
        self._open -= both


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
