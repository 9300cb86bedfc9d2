"""The batcher: items that arrive while a batch is in flight go together as the next batch (group commit).

Without `apart` there is no timer, so a lone item never waits. Under load the batches grow by themselves, and the
cost of an item falls. If a batch fails because of one item, its halves are run until only that item is refused.

`map_in_pieces` goes through a batch that came as one, and lets others run in between.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from contextvars import Context
from typing import Any, Final, Generic, TypeAlias, TypeVar

from gatepass.base.deadline import call_ends
from gatepass.base.errors import Busy, NotNow, Overloaded

Item = TypeVar("Item")
Result = TypeVar("Result")
# Items of a batch take 10 to 40 µs each. With a thousand at once the loop would answer no scan for 40 ms. A thread
# would not help: it gives the interpreter back after 5 ms at the earliest, and a scan asks for it several times.
PIECE: Final = 32
# An item, its answer, and when its call ends.
Waiting: TypeAlias = tuple[Item, asyncio.Future[Result], float | None]


class Batcher(Generic[Item, Result]):
    def __init__(
        self,
        run: Callable[[Sequence[Item]], Awaitable[Sequence[Result | Exception]]],
        *,
        batch: int,
        waiting: int | None = None,
        flights: int = 1,
        apart: float = 0.0,
        hurried: bool = False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`run` takes up to `batch` items and returns a result, or an exception, for each, in their order.

        A second batch flies beside the first only when it is full; at most `flights` fly at a time. Past `waiting`
        items a new one is refused at once. `apart` is the least time in seconds from the beginning of a batch to
        that of the next; full batches and items that are awaited do not wait for it. A `hurried` batch has until the
        first of its calls ends, so that no call waits past its own deadline for the items before it.
        """
        self._run = run
        self._batch = batch
        self._most_waiting = waiting
        self._flights = flights
        self._apart = apart
        self._hurried = hurried
        self._monotonic = monotonic
        self._began = -apart
        self._go = asyncio.Event()
        self._is_draining = False
        self._flying = 0
        self._unanswered = 0
        self._in_flight: set[asyncio.Task[None]] = set()
        self._waiting: deque[Waiting[Item, Result]] = deque()

    def __len__(self) -> int:
        """Items without an answer, waiting or in flight."""
        return self._unanswered

    async def __call__(self, item: Item) -> Result:
        """Add an item and wait for its result."""
        return await self.add(item, urgent=True)

    def add(self, item: Item, *, urgent: bool = False) -> "asyncio.Future[Result]":
        """Add an item; its result follows. An urgent one does not wait until the batches are `apart`."""
        if self._most_waiting is not None and len(self._waiting) >= self._most_waiting:
            raise Overloaded(cause="queue")
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, answer, call_ends.get() if self._hurried else None))
        self._unanswered += 1
        if self._apart and (urgent or len(self._waiting) >= self._batch):
            self._go.set()
        if self._flying == 0 or (self._flying < self._flights and len(self._waiting) >= self._batch):
            # The task starts after everything else that arrived in this turn of the loop, so it takes that along.
            self._flying += 1
            self._launch(self._fly())
        return answer

    async def drain(self) -> None:
        """Wait until every item has its answer. Batches follow each other at once meanwhile."""
        self._is_draining = True
        self._go.set()
        while self._in_flight:
            await asyncio.wait(self._in_flight)
        self._is_draining = False

    async def _fly(self) -> None:
        while self._waiting:
            if self._apart:
                await self._pause()
            size = min(self._batch, len(self._waiting))
            if size:  # another flight may have taken all of them during the pause
                await self._answer([self._waiting.popleft() for _ in range(size)])
        self._flying -= 1

    async def _pause(self) -> None:
        left = self._began + self._apart - self._monotonic()
        if left > 0 and len(self._waiting) < self._batch and not self._is_draining:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._go.wait(), left)
        self._go.clear()
        self._began = self._monotonic()

    def _launch(self, work: Coroutine[Any, Any, None]) -> None:
        # Without the context of the call that happens to launch it: its deadline is not that of the others.
        flight = asyncio.create_task(work, context=Context())
        self._in_flight.add(flight)
        flight.add_done_callback(self._in_flight.discard)

    async def _answer(self, batch: list[Waiting[Item, Result]], *, may_wait: bool = True) -> None:
        """Run a batch. If it fails as a whole, run its halves in tasks of their own, until only the culprit is refused.

        A lone item that finds a row locked is run once more, also in a task of its own, so that the next batch
        does not wait behind it.
        """
        call_ends.set(min((ends for _, _, ends in batch if ends is not None), default=None))
        try:
            results = await self._run([item for item, _, _ in batch])
        except Exception as error:  # noqa: BLE001  every caller gets it
            half = len(batch) // 2
            if half and _is_of_one_item(error):
                self._launch(self._answer(batch[:half], may_wait=False))
                self._launch(self._answer(batch[half:], may_wait=False))
                return
            if may_wait and isinstance(error, Busy):
                self._launch(self._answer(batch, may_wait=False))
                return
            results = [error] * len(batch)
        self._unanswered -= len(batch)
        for (_, answer, _), result in zip(batch, results, strict=True):
            if answer.done():  # its caller was cancelled
                continue
            if isinstance(result, Exception):
                answer.set_exception(result)
            else:
                answer.set_result(result)


def _is_of_one_item(error: Exception) -> bool:
    """An unreachable database fails every item; a locked row or a refused value fails one."""
    return isinstance(error, Busy) or not isinstance(error, NotNow)


async def map_in_pieces(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """`work` of each item, in their order. After every piece others have their turn on the event loop."""
    done: list[Result] = []
    for item in items:
        done.append(work(item))
        if len(done) % PIECE == 0:
            await asyncio.sleep(0)
    return done
