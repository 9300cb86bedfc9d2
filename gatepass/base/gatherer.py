"""The gatherer: while one batch is in flight, what arrives gathers; when it returns, that goes as the next.

There is no timer, so a lone item never waits. Under load the batches grow by themselves, and the cost
of an item falls. It knows no tickets.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

from gatepass.base.refusals import Busy, Overloaded, Unavailable

Item = TypeVar("Item")
Result = TypeVar("Result")


class Gatherer(Generic[Item, Result]):
    def __init__(
        self,
        run: Callable[[Sequence[Item]], Awaitable[Sequence[Result | Exception]]],
        *,
        batch: int,
        waiting: int,
        lanes: int = 1,
    ) -> None:
        """`run` takes up to `batch` items and gives a result, or an exception, for each, in their order.

        When so many gather that they would fill a batch, it flies beside the first, up to `lanes` at once.
        Past `waiting` items a new one is refused at once.
        """
        self._run = run
        self._batch = batch
        self._most_waiting = waiting
        self._lanes = lanes
        self._flying = 0
        self._in_flight: set[asyncio.Task[None]] = set()
        self._waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()

    async def __call__(self, item: Item) -> Result:
        if len(self._waiting) >= self._most_waiting:
            raise Overloaded
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, answer))
        if self._flying == 0 or (self._flying < self._lanes and len(self._waiting) >= self._batch):
            # The task starts after everything else that arrived in this turn of the loop, so it takes that along.
            self._flying += 1
            self._launch(self._fly())
        return await answer

    async def drain(self) -> None:
        """Wait until everything that was taken in is answered."""
        while self._in_flight:
            await asyncio.wait(self._in_flight)

    async def _fly(self) -> None:
        while self._waiting:
            size = min(self._batch, len(self._waiting))
            await self._answer([self._waiting.popleft() for _ in range(size)])
        self._flying -= 1

    def _launch(self, work: Coroutine[Any, Any, None]) -> None:
        flight = asyncio.create_task(work)
        self._in_flight.add(flight)
        flight.add_done_callback(self._in_flight.discard)

    async def _answer(self, batch: list[tuple[Item, asyncio.Future[Result]]], *, in_lane: bool = True) -> None:
        """Run a batch. If it fails as a whole, run its halves beside the lane, until only the culprit is refused.

        One that is alone and finds something held waits for it beside the lane too, once.
        """
        try:
            results = await self._run([item for item, _ in batch])
        except Exception as error:  # noqa: BLE001  whatever it is, its callers are told
            half = len(batch) // 2
            if half and _belongs_to_one(error):
                self._launch(self._answer(batch[:half], in_lane=False))
                self._launch(self._answer(batch[half:], in_lane=False))
                return
            if in_lane and isinstance(error, Busy):
                self._launch(self._answer(batch, in_lane=False))
                return
            results = [error] * len(batch)
        for (_, answer), result in zip(batch, results, strict=True):
            if answer.done():  # its caller has gone
                continue
            if isinstance(result, Exception):
                answer.set_exception(result)
            else:
                answer.set_result(result)


def _belongs_to_one(error: Exception) -> bool:
    """A database that is away is everyone's trouble; a row that is held, or a value that is refused, is one item's."""
    return isinstance(error, Busy) or not isinstance(error, Unavailable | Overloaded)
