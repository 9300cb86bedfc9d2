"""Two verbs at once, in one world: what they answer and leave behind is what one of the two orders would have."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Final

from gatepass.base.database import Database
from gatepass.domain import events, tickets
from tests import factory
from tests.domain.locks.copies import copy
from tests.domain.locks.held import Raced, Work, answer_of, race
from tests.domain.locks.verbs import Verb
from tests.domain.locks.world import World, build, left_behind, named_answer
from tests.factory import now

# More statements than any verb has.
BEFORE_COMMIT: Final = 100
# Of a call that the caller sends again: it waited for the scan's lock for too long on a busy machine.
AGAIN: Final = "Busy: lock"


@dataclass(frozen=True)
class Outcome:
    """The answers of the first and the second verb, and what they left behind."""

    answers: tuple[str, str]
    left: dict[str, list[str]]

    def differs(self, other: "Outcome") -> list[str]:
        """What is in only one of the two."""
        found = [f"answers: {self.answers} and not {other.answers}"] if self.answers != other.answers else []
        for table, rows in self.left.items():
            found += [f"+ {table}: {row}" for row in _without(rows, other.left[table])]
            found += [f"- {table}: {row}" for row in _without(other.left[table], rows)]
        return found


def _without(rows: Sequence[str], others: Sequence[str]) -> list[str]:
    left = list(others)
    return [row for row in rows if not (row in left and left.remove(row) is None)]


@dataclass
class Pairs:
    """Runs pairs, and remembers what each order gives. `counted` are the interleavings that were looked at."""

    db: Database
    in_twin: bool = False
    counted: int = 0
    waits: int = 0
    originals: dict[str, World] = field(default_factory=dict[str, World])
    serial: dict[tuple[str, str], Outcome] = field(default_factory=dict[tuple[str, str], Outcome])

    async def anomalies(self, first: Verb, second: Verb) -> AsyncGenerator[str]:
        """What no order of the two explains, at each pause of the first."""
        for pause in range(BEFORE_COMMIT):
            raced, found = await self.raced(first, second, pause)
            expected = [await self.in_order(first, second), _swapped(await self.in_order(second, first))]
            self.counted, self.waits = self.counted + 1, self.waits + raced.waited
            if found not in expected:
                where = f"{first.name}, held before its statement {pause}, and {second.name}:"
                nearest = min((found.differs(one) for one in expected), key=len)
                yield "\n    ".join([where, *nearest])
            if raced.was_last:
                return

    async def raced(self, first: Verb, second: Verb, pause: int) -> tuple[Raced, Outcome]:
        while True:
            world = await self.world(first, second)
            raced = await race(self.db, _work(first, world), _work(second, world), pause=pause)
            if AGAIN not in raced.answers:
                return raced, await self.outcome(world, raced.answers)

    async def in_order(self, first: Verb, second: Verb) -> Outcome:
        key = first.name, second.name
        if key not in self.serial:
            world = await self.world(first, second)
            answers = [await answer_of(self.db, _work(verb, world)) for verb in (first, second)]
            self.serial[key] = await self.outcome(world, (answers[0], answers[1]))
        return self.serial[key]

    async def outcome(self, world: World, answers: tuple[str, str]) -> Outcome:
        one, other = (named_answer(answer, world) for answer in answers)
        await self.maintain()
        return Outcome((one, other), await left_behind(world))

    async def maintain(self) -> None:
        """The next round, for what maintenance left because another transaction held it."""
        left = 1
        while left:
            async with self.db.transaction() as tx:
                left = await tickets.cancel_some_of_cancelled_events(tx, at=now())
                await events.end_past_events(tx, at=now())

    async def world(self, *verbs: Verb) -> World:
        """A copy of the world in which both begin."""
        befores = sorted({verb.before for verb in verbs if verb.before}, key=lambda before: before.__name__)
        key = ", ".join(before.__name__ for before in befores)
        if key not in self.originals:
            tenant = await factory.tenant(self.db, places=10)
            world = await build(await factory.sandbox_twin(tenant) if self.in_twin else tenant)
            for before in befores:
                async with self.db.transaction() as tx:
                    await before(tx, world)
            self.originals[key] = world
        async with self.db.transaction() as tx:
            made = await copy(tx, self.originals[key])
            for verb in verbs:
                if verb.shortly_before is not None:
                    await verb.shortly_before(tx, made)
        return made


def _work(verb: Verb, world: World) -> Work:
    return lambda tx: verb.act(tx, world)


def _swapped(outcome: Outcome) -> Outcome:
    return Outcome((outcome.answers[1], outcome.answers[0]), outcome.left)
