"""A proxy between a process and PostgreSQL. It can close its connections, and it can swallow what it is sent."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit, urlunsplit

from tests.postgres import free_port


class Proxy:
    """`frozen`: nothing comes back, as from a machine that has lost its network."""

    def __init__(self) -> None:
        self.port = free_port()
        self.flowing = asyncio.Event()
        self.flowing.set()
        self._open: set[asyncio.StreamWriter] = set()

    @asynccontextmanager
    async def running(self, postgres: int) -> AsyncGenerator[None]:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._open.add(writer)
            await self.flowing.wait()
            there, back = await asyncio.open_connection("127.0.0.1", postgres)
            self._open.add(back)
            with suppress(ConnectionError):
                await asyncio.gather(self._pump(reader, back), self._pump(there, writer))
            for one in (writer, back):
                one.close()
            self._open -= {writer, back}

        async with await asyncio.start_server(connected, "127.0.0.1", self.port):
            yield
            self.cut()
            self.thaw()

    def url(self, target: str) -> str:
        """The URL of a database, through this proxy."""
        parts = urlsplit(target)
        return urlunsplit(parts._replace(netloc=f"{parts.username}@127.0.0.1:{self.port}"))

    def freeze(self) -> None:
        self.flowing.clear()

    def thaw(self) -> None:
        self.flowing.set()

    def cut(self) -> None:
        """Close every connection, of both sides."""
        for writer in self._open:
            writer.transport.abort()
        self._open.clear()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            await self.flowing.wait()
            writer.write(data)
            await writer.drain()
        writer.close()
