"""The database of the state machine, called without `await`."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from gatepass.base.database import Database, Tx
from gatepass.base.errors import Refusal

T = TypeVar("T")


@dataclass
class World:
    """A database, and an event loop to call it from a state machine, which is synchronous."""

    loop: asyncio.AbstractEventLoop
    db: Database

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def change(self, verb: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        async def in_transaction() -> T:
            async with self.db.transaction() as tx:
                return await verb(tx)

        return self.run(in_transaction())

    def refused(self, verb: Callable[[Tx], Coroutine[Any, Any, object]]) -> type[Refusal] | None:
        """Run it; the class of the refusal, if it was refused."""
        try:
            self.change(verb)
        except Refusal as refusal:
            return type(refusal)
        return None
