"""Drawing pages in a process of its own, below the worker's priority: deliveries never wait for it.

The worker writes a request, the process answers with a part of a PDF; both with their length in front. It ends when the
worker closes the pipe, by dying too.
"""

import asyncio
import os
import sys
import traceback
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from gatepass.domain.card_sheets import Layout, PdfPart, PrintedCard, PrintedEvent, part_of

# Shorter than the lease of an export. Its 250 cards take a second.
DEADLINE: Final = 45.0
LENGTH_BYTES: Final = 4
NICENESS: Final = 10
# What Python needs; no secret of the worker is in the environment of the process.
PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "TMPDIR")


class DrawingFailed(Exception):  # noqa: N818  its message says which error, and where
    """The process ended, or could not draw these cards."""


class DrawRequest(msgspec.Struct, frozen=True):
    """`first` is the number that the first object of the part gets."""

    event: PrintedEvent
    cards: list[PrintedCard]
    layout: Layout
    first: int


class DrawnPart(msgspec.Struct, frozen=True):
    """`boxed` is how many names have letters that the fonts lack. `error` is set if nothing was drawn."""

    part: PdfPart | None
    boxed: int = 0
    error: str = ""


class CardDrawer:
    """The worker's end. The process is started when it is needed, and ended when nothing is left to draw."""

    def __init__(self) -> None:
        self._process: Process | None = None

    async def draw(self, event: PrintedEvent, cards: Sequence[PrintedCard], layout: Layout, first: int) -> DrawnPart:
        try:
            async with asyncio.timeout(DEADLINE):
                answer = await self._ask(msgspec.msgpack.encode(DrawRequest(event, list(cards), layout, first)))
        except BaseException as error:
            await self.close()
            if isinstance(error, OSError | EOFError | TimeoutError):
                raise DrawingFailed(type(error).__name__) from None
            raise
        drawn = msgspec.msgpack.decode(answer, type=DrawnPart)
        if drawn.part is None:
            raise DrawingFailed(drawn.error)
        return drawn

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    async def _ask(self, request: bytes) -> bytes:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", __name__, stdin=PIPE, stdout=PIPE, env=_environment()
            )
        writer, reader = self._process.stdin, self._process.stdout
        if writer is None or reader is None:
            raise EOFError
        writer.write(len(request).to_bytes(LENGTH_BYTES, "big") + request)
        await writer.drain()
        length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
        return await reader.readexactly(length)


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ}


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """The process: answer until the worker is gone."""
    os.nice(NICENESS)
    while request := _read(requests):
        answer = msgspec.msgpack.encode(_drawn(msgspec.msgpack.decode(request, type=DrawRequest)))
        answers.write(len(answer).to_bytes(LENGTH_BYTES, "big") + answer)
        answers.flush()


def _read(requests: BinaryIO) -> bytes:
    length = int.from_bytes(requests.read(LENGTH_BYTES), "big")
    request = requests.read(length) if length else b""
    return request if len(request) == length else b""


def _drawn(request: DrawRequest) -> DrawnPart:
    from gatepass.domain.card_sheets.letters import is_drawable  # noqa: PLC0415  the worker has no use for it
    from gatepass.domain.card_sheets.pages import draw  # noqa: PLC0415  as above

    try:
        part = part_of(draw(request.event, request.cards, request.layout), request.first)
    except Exception as error:  # noqa: BLE001  its message may hold a name, so only its kind and place are told
        last = traceback.extract_tb(error.__traceback__)[-1]
        return DrawnPart(None, error=f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}")
    return DrawnPart(part, sum(not is_drawable(card.name) for card in request.cards))


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
