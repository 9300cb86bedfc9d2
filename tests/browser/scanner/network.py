"""The network between a phone and the service: it can be cut, and it can lose every answer."""

import asyncio
from contextlib import suppress

from tests.browser.card_page.network import Network as CuttableNetwork


class Network(CuttableNetwork):
    """While `loses_answers`, requests arrive and nothing comes back: the worst moment to be offline."""

    def __init__(self, server_port: int) -> None:
        super().__init__(server_port)
        self.loses_answers = False

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
            writer.write(data)
            await writer.drain()
        writer.close()
