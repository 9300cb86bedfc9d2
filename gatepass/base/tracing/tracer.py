"""The tracer: which calls are traced, and where their spans go."""

import random
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING
from uuid import UUID

from prometheus_client import CollectorRegistry

from gatepass.base.settings import Settings
from gatepass.base.tracing.span import Attributes, Kind, Span, new_trace_id
from gatepass.base.tracing.trace_context import trace_parent

if TYPE_CHECKING:
    from gatepass.base.tracing.exporter import Exporter


class Tracer:
    def __init__(
        self, exporter: "Exporter", *, ratio: float, by_callers: int, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """A share of `ratio` is traced. Beyond it, so are `by_callers` calls a second whose caller asks for it."""
        self._exporter = exporter
        self._ratio = ratio
        self._by_callers = by_callers
        self._monotonic = monotonic
        self._second = 0
        self._asked = 0

    @classmethod
    def of(cls, settings: Settings, service: str, registry: CollectorRegistry) -> "Tracer | None":
        """The tracer of this process; None unless tracing is on."""
        if settings.traces_url is None:
            return None
        from gatepass.base.tracing.exporter import Exporter  # noqa: PLC0415  loads aiohttp, which the API needs only here

        exporter = Exporter(settings.traces_url.get_secret_value(), service, settings.cell, registry)
        return cls(exporter, ratio=settings.traces_ratio, by_callers=settings.traces_by_callers)

    def open(self) -> None:
        self._exporter.open()

    async def close(self) -> None:
        await self._exporter.close()

    def is_drawn(self) -> bool:
        return random.random() < self._ratio  # noqa: S311  a caller that guesses it gains nothing

    def call(self, headers: Iterable[tuple[bytes, bytes]], id: UUID, name: str) -> Span | None:
        """The server span of a call, if it is traced; in the caller's trace, or else in one with the id of the call.

        The draw does not depend on what the caller sent: nobody chooses to be traced, or not to be, beyond
        `by_callers` of them a second.
        """
        drawn = self.is_drawn()
        if not (drawn or self._by_callers):
            return None
        parent = trace_parent(headers)
        if not drawn and not (parent is not None and parent.is_sampled and self._is_within_rate()):
            return None
        if parent is None:
            return Span(name, Kind.SERVER, {}, trace_id=id.hex)
        return Span(name, Kind.SERVER, {}, trace_id=parent.trace_id, parent_id=parent.span_id)

    def root(self, name: str, kind: Kind, attributes: Attributes, *, began: int = 0) -> Span:
        """A span in a trace of its own."""
        return Span(name, kind, attributes, trace_id=new_trace_id(), began=began)

    def end(self, span: Span, *, ended: int = 0) -> None:
        """The span ends now, or at this time, and is sent."""
        span.ended = ended or time.time_ns()
        self._exporter.add(span)

    def _is_within_rate(self) -> bool:
        second = int(self._monotonic())
        if second != self._second:
            self._second, self._asked = second, 0
        self._asked += 1
        return self._asked <= self._by_callers
