"""The recorder: every result is written, also one that arrives at the moment when a batch ends."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from gatepass.domain.webhooks.queue import Result
from gatepass.worker.recorder import Recorder

FIRST, SECOND = cast("list[Result]", ["first", "second"])
NEVER = float("inf")


async def test_what_comes_as_a_batch_ends_is_written_too() -> None:
    """The database's answer and a receiver's arrive in the same turn of the loop."""
    written: list[Result] = []
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[None] = loop.create_future()

    async def write(batch: Sequence[Result]) -> None:
        written.extend(batch)
        await answered

    recorder = Recorder(write, lapsed=_nobody)
    recorder.add(FIRST, NEVER)
    while not written:  # noqa: ASYNC110  it begins by itself
        await asyncio.sleep(0)
    answered.set_result(None)
    loop.call_soon(recorder.add, SECOND, NEVER)
    for _ in range(3):
        await recorder.drain()
        await asyncio.sleep(0)
    assert written == [FIRST, SECOND]
    assert len(recorder) == 0


def _nobody(_count: int) -> Any:
    raise AssertionError
