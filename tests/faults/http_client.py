"""A minimal HTTP client: connections are open beforehand and a request is one write, so that scans really race."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from gatepass.base.settings import BASE_PATH
from tests.processes import GatepassProcess


@dataclass(frozen=True)
class Answer:
    status_code: int
    headers: httpx2.Headers
    content: bytes

    def json(self) -> Any:
        return json.loads(self.content)


@dataclass
class Connection:
    """One open connection to a process. A request is written now and its answer read later."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    key: str

    def send(self, body: Mapping[str, Any], idempotency_key: str | None = None) -> None:
        raw = json.dumps(body).encode()
        key_header = f"Idempotency-Key: {idempotency_key}\r\n" if idempotency_key else ""
        head = (
            f"POST {BASE_PATH}/scan HTTP/1.1\r\nHost: gatepass.test\r\nAuthorization: Bearer {self.key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(raw)}\r\n{key_header}\r\n"
        )
        self.writer.write(head.encode() + raw)

    async def answer(self) -> Answer:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = httpx2.Headers(
            [(name, value) for name, _, value in (line.partition(": ") for line in head[1:] if line)]
        )
        content = await self.reader.readexactly(int(headers["content-length"]))
        return Answer(int(head[0].split(" ")[1]), headers, content)


@contextlib.asynccontextmanager
async def connections(servers: tuple[GatepassProcess, ...], key: str, count: int) -> AsyncGenerator[list[Connection]]:
    """`count` open connections, to each process in turn."""
    ports = [servers[n % len(servers)].port for n in range(count)]
    opened = [Connection(*await asyncio.open_connection("127.0.0.1", port), key) for port in ports]
    try:
        yield opened
    finally:
        for connection in opened:
            connection.writer.close()
            with contextlib.suppress(ConnectionError):
                await connection.writer.wait_closed()
