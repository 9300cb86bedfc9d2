"""A database whose transactions have spans, one each, in the trace of their call. Statements have none."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from gatepass.base.database import Database
from gatepass.base.postgres_hosts import Link
from gatepass.base.tracing.span import Kind, current_span
from gatepass.base.tracing.tracer import Tracer


def database(url: str, tracer: Tracer | None, **options: Any) -> Database:
    return Database(url, **options) if tracer is None else TracedDatabase(url, tracer=tracer, **options)


class TracedDatabase(Database):
    def __init__(self, url: str, *, tracer: Tracer, **options: Any) -> None:
        super().__init__(url, **options)
        self._tracer = tracer

    @asynccontextmanager
    async def _link(self) -> AsyncGenerator[Link, None]:
        """The span is from the wait for a connection until it is free again."""
        call = current_span.get()
        span = call and call.child("postgresql", Kind.CLIENT, {"db.system.name": "postgresql"})
        try:
            async with super()._link() as link:
                yield link
        except BaseException as error:
            if span is not None:
                span.fail(error)
            raise
        finally:
            if span is not None:
                self._tracer.end(span)
