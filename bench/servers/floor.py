"""HTTP alone, without ASGI and without any bound: uvloop, httptools, one callback. No server in Python is cheaper."""

import asyncio
import sys
from typing import cast

import httptools
import uvloop

from bench.servers.app import BODY, HEADERS

ANSWER = b"HTTP/1.1 200 OK\r\n" + b"".join(b"%s: %s\r\n" % header for header in HEADERS) + b"\r\n" + BODY


class Floor(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_message_complete(self) -> None:
        self.transport.write(ANSWER)


async def main(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Floor, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
