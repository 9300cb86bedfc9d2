"""The network between a phone and the service: it can be cut, and it can lose every answer."""

import asyncio
import re
from contextlib import suppress

from tests.browser.card_page.network import Network as CuttableNetwork


class Network(CuttableNetwork):
    """While `loses_answers`, requests arrive and nothing comes back: the worst moment to be offline.

    With `another_version` the service is one of another version: its files have other addresses, all else is the same.
    """

    def __init__(self, server_port: int) -> None:
        super().__init__(server_port)
        self.loses_answers = False
        # The version of the files that are there, and the one that browsers see.
        self.another_version: tuple[bytes, bytes] | None = None

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._server_port)
        both = {writer, back}
        self._open |= both
        with suppress(ConnectionError):
            await asyncio.gather(self._pump(reader, back), self._pump(there, writer, is_answer=True))
        for one in both:
            one.close()
        self._open -= both

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_answer: bool = False
    ) -> None:
        while data := await reader.read(65536):
            if is_answer and self.loses_answers:
                continue
            writer.write(self._renamed(data, is_answer=is_answer))
            await writer.drain()
        writer.close()

    def _renamed(self, data: bytes, *, is_answer: bool) -> bytes:
        if self.another_version is None:
            return data
        there, seen = self.another_version
        if is_answer:
            return data.replace(there, seen)
        # Compressed answers could not be changed. The length stays, as that of everything here.
        plain = re.sub(
            rb"(?i)(accept-encoding: )([^\r]*)", lambda found: found[1] + b"identity".ljust(len(found[2])), data
        )
        # Nor is another version the one that the browser has.
        return re.sub(rb"(?i)if-none-match", b"x-none-match-", plain).replace(seen, there)
