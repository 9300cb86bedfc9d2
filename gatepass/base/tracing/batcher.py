"""A batcher whose traced items have spans.

One batch serves many calls, so its span is a child of none: it has a link to each traced call among them. In the trace
of such a call there are two children: the wait for the batch, and the batch, with a link to that span.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from gatepass.base.batcher import Batcher, Item, Result
from gatepass.base.tracing.span import Kind, Span, current_span
from gatepass.base.tracing.tracer import Tracer


def batcher(
    run: Callable[[Sequence[Item]], Awaitable[Sequence[Result | Exception]]],
    operation: str,
    tracer: Tracer | None,
    **options: Any,
) -> Batcher[Item, Result]:
    if tracer is None:
        return Batcher(run, **options)
    return TracedBatcher(run, tracer=tracer, operation=operation, **options)


class TracedBatcher(Batcher[Item, Result]):
    def __init__(
        self,
        run: Callable[[Sequence[Item]], Awaitable[Sequence[Result | Exception]]],
        *,
        tracer: Tracer,
        operation: str,
        **options: Any,
    ) -> None:
        super().__init__(self._run_traced, **options)
        self._run_batch = run
        self._tracer = tracer
        self._operation = operation
        # By the identity of the item: the span of its call, and since when it waits.
        self._calls: dict[int, tuple[Span, int]] = {}

    def add(self, item: Item, *, urgent: bool = False) -> "asyncio.Future[Result]":
        answer = super().add(item, urgent=urgent)
        call = current_span.get()
        if call is not None:
            self._calls[id(item)] = call, time.time_ns()
            answer.add_done_callback(lambda _: self._calls.pop(id(item), None))
        return answer

    async def _run_traced(self, items: Sequence[Item]) -> Sequence[Result | Exception]:
        traced = [id(item) for item in items if id(item) in self._calls] if self._calls else []
        if not traced:
            return await self._run_batch(items)
        batch = self._tracer.root(
            self._operation,
            Kind.CLIENT,
            {
                "db.system.name": "postgresql",
                "db.operation.name": self._operation,
                "db.operation.batch.size": len(items),
            },
        )
        batch.links = [self._calls[item][0] for item in traced]
        try:
            return await self._run_batch(items)
        except Exception as error:
            batch.fail(error)
            raise
        finally:
            self._end(batch, traced)

    def _end(self, batch: Span, traced: list[int]) -> None:
        self._tracer.end(batch)
        for item in traced:
            if item not in self._calls:  # its caller was cancelled
                continue
            call, since = self._calls[item]
            wait = call.child("wait for batch", Kind.INTERNAL, {}, began=since)
            self._tracer.end(wait, ended=batch.began)
            part = call.child(self._operation, Kind.INTERNAL, {}, began=batch.began)
            part.links, part.is_failed = [batch], batch.is_failed
            self._tracer.end(part, ended=batch.ended)
            # If the batch is divided and run again, the item waits from here on.
            self._calls[item] = call, batch.ended
