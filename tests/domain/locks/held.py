"""Two transactions at once: one is held open between two of its statements while the other runs, or waits for it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from gatepass.base.database import Database, Tx
from gatepass.base.errors import Refusal, Unavailable

T = TypeVar("T")
Work = Callable[[Tx], Awaitable[object]]

# Of the second transaction: whether it waits for the first.
WAITS: Final = "SELECT $1 = ANY (pg_blocking_pids($2))"
PID: Final = "SELECT pg_backend_pid()"


class HeldTx(Tx):
    """A transaction that calls `before` in front of each of its statements, with how many went before it."""

    def __init__(self, tx: Tx, before: Callable[[int], Awaitable[None]]) -> None:
        vars(self).update(vars(tx))
        self.statements = 0
        self.before = before

    async def _bounded(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            await self.before(self.statements)
        except BaseException:
            work.close()
            raise
        self.statements += 1
        return await super()._bounded(work)


@dataclass
class Pause:
    """In front of the statement with this number, or of the commit if there are fewer."""

    at: int
    is_last: bool = False
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def before(self, number: int) -> None:
        if number == self.at:
            self.reached.set()
            await self.over.wait()

    async def before_commit(self) -> None:
        if not self.reached.is_set():
            self.is_last = True
            self.reached.set()
            await self.over.wait()


@dataclass(frozen=True)
class Raced:
    """What each answered. `was_last`: there is no later pause. `waited`: the second had to wait for the first."""

    answers: tuple[str, str]
    was_last: bool
    waited: bool


async def answer_of(db: Database, work: Work) -> str:
    """The answer of a transaction of its own."""
    return await _Running(db).answer(work, Pause(-1, reached=_set()))


async def race(db: Database, first: Work, second: Work, *, pause: int) -> Raced:
    """Run the first up to the pause, the second until it ends or waits for the first, and then both to their ends."""
    held, one, other = Pause(pause), _Running(db), _Running(db)
    ones = asyncio.create_task(one.answer(first, held))
    reached = asyncio.create_task(held.reached.wait())
    await asyncio.wait([ones, reached], return_when=asyncio.FIRST_COMPLETED)
    was_last = held.is_last or not held.reached.is_set()
    others = asyncio.create_task(other.answer(second, Pause(-1, reached=_set())))
    waited = await _waits(db, others, one, other)
    held.over.set()
    answers = await asyncio.gather(ones, others)
    reached.cancel()
    return Raced(answers, was_last, waited)


def _set() -> asyncio.Event:
    done = asyncio.Event()
    done.set()
    return done


class _Running:
    """A transaction under way; `pid` is that of its backend once it has begun."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.begun = asyncio.Event()
        self.pid = 0

    async def answer(self, work: Work, pause: Pause) -> str:
        try:
            return await self._run(work, pause)
        except Unavailable as gone:
            return f"{type(gone).__name__}: {gone.cause}"
        except Refusal as refusal:
            return f"{type(refusal).__name__}: {refusal}"

    async def _run(self, work: Work, pause: Pause) -> str:
        async with self.db.transaction() as tx:
            self.pid = await tx.value(PID)
            self.begun.set()
            answer = await work(HeldTx(tx, pause.before))
            await pause.before_commit()
            return f"{answer}"


async def _waits(db: Database, others: asyncio.Task[str], one: _Running, other: _Running) -> bool:
    """True once the other waits for the one; False once it has ended."""
    await other.begun.wait()
    async with db.autocommit() as tx:
        while not others.done():
            if await tx.value(WAITS, one.pid, other.pid):
                return True
    return False
