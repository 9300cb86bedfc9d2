"""The batcher, with a database that answers when the test says so."""

import asyncio
from collections.abc import Sequence

import pytest

from gatepass.base.batcher import PIECE, Batcher, map_in_pieces
from gatepass.base.errors import Busy, Overloaded, Unavailable


class Database:
    """Runs batches once it is open, and remembers them."""

    def __init__(self, poison: int | None = None, trouble: Exception | None = None) -> None:
        self.batches: list[list[int]] = []
        self.open = asyncio.Event()
        self.poison = poison
        self.trouble = trouble or ValueError("poisoned")

    async def run(self, items: Sequence[int]) -> Sequence[int | Exception]:
        self.batches.append(list(items))
        await self.open.wait()
        if self.poison in items:
            raise self.trouble
        return [item * 10 for item in items]


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_lone_item_goes_at_once() -> None:
    database = Database()
    database.open.set()
    assert await Batcher(database.run, batch=8, waiting=100)(1) == 10
    assert database.batches == [[1]]


async def test_what_arrives_during_a_flight_goes_together_as_the_next() -> None:
    database = Database()
    batcher = Batcher(database.run, batch=8, waiting=100)
    first = asyncio.create_task(batcher(1))
    await turns()
    rest = [asyncio.create_task(batcher(n)) for n in (2, 3, 4)]
    await turns()
    database.open.set()
    assert await asyncio.gather(first, *rest) == [10, 20, 30, 40]
    assert database.batches == [[1], [2, 3, 4]]


async def test_a_batch_is_bounded_and_keeps_the_order_of_arrival() -> None:
    database = Database()
    database.open.set()
    batcher = Batcher(database.run, batch=3, waiting=100)
    assert await asyncio.gather(*[batcher(n) for n in range(7)]) == [n * 10 for n in range(7)]
    assert database.batches == [[0, 1, 2], [3, 4, 5], [6]]


async def test_a_full_batch_flies_beside_the_first() -> None:
    database = Database()
    batcher = Batcher(database.run, batch=2, waiting=100, flights=2)
    calls = [asyncio.create_task(batcher(1))]
    await turns()
    calls.append(asyncio.create_task(batcher(2)))
    await turns()
    assert database.batches == [[1]]
    calls.append(asyncio.create_task(batcher(3)))
    await turns()
    assert database.batches == [[1], [2, 3]]
    calls += [asyncio.create_task(batcher(n)) for n in (4, 5)]
    await turns()
    assert database.batches == [[1], [2, 3]]
    database.open.set()
    assert await asyncio.gather(*calls) == [10, 20, 30, 40, 50]


async def test_past_the_bound_a_call_is_refused_at_once() -> None:
    database = Database()
    batcher = Batcher(database.run, batch=1, waiting=2)
    flying = asyncio.create_task(batcher(1))
    await turns()
    waiting = [asyncio.create_task(batcher(n)) for n in (2, 3)]
    await turns()
    with pytest.raises(Overloaded):
        await batcher(4)
    database.open.set()
    assert await asyncio.gather(flying, *waiting) == [10, 20, 30]


@pytest.mark.parametrize("trouble", [ValueError("poisoned"), Busy()])
@pytest.mark.parametrize("culprit", range(9))
async def test_one_poisoned_item_is_refused_alone(culprit: int, trouble: Exception) -> None:
    database = Database(poison=culprit, trouble=trouble)
    database.open.set()
    batcher = Batcher(database.run, batch=16, waiting=100)
    results = await asyncio.gather(*[batcher(n) for n in range(9)], return_exceptions=True)
    assert results[culprit] is trouble
    assert [result for n, result in enumerate(results) if n != culprit] == [n * 10 for n in range(9) if n != culprit]


async def test_a_poisoned_batch_does_not_hold_up_the_next() -> None:
    database = Database(poison=0)
    database.open.set()
    batcher = Batcher(database.run, batch=4, waiting=100)
    results = await asyncio.gather(*[batcher(n) for n in range(8)], return_exceptions=True)
    assert results[1:] == [n * 10 for n in range(1, 8)]
    assert [4, 5, 6, 7] in database.batches, "the next batch went whole"


async def test_what_is_held_is_waited_for_beside_the_others() -> None:
    """A lone item finds its row held; the next one does not wait behind it."""
    database = Database(poison=1, trouble=Busy())
    database.open.set()
    batcher = Batcher(database.run, batch=4, waiting=100)
    with pytest.raises(Busy):
        await batcher(1)
    assert database.batches == [[1], [1]]


async def test_when_the_database_is_away_everyone_is_told_and_nothing_is_split() -> None:
    database = Database(poison=0, trouble=Unavailable())
    database.open.set()
    batcher = Batcher(database.run, batch=4, waiting=100)
    results = await asyncio.gather(*[batcher(n) for n in range(4)], return_exceptions=True)
    assert all(isinstance(result, Unavailable) for result in results)
    assert database.batches == [[0, 1, 2, 3]]


async def test_a_caller_that_goes_away_spoils_nothing() -> None:
    database = Database()
    batcher = Batcher(database.run, batch=4, waiting=100)
    gone, stays = asyncio.create_task(batcher(1)), asyncio.create_task(batcher(2))
    await turns()
    gone.cancel()
    await turns()
    database.open.set()
    assert await stays == 20


async def test_draining_waits_for_what_was_taken_in() -> None:
    database = Database()
    batcher = Batcher(database.run, batch=1, waiting=100)
    calls = [asyncio.create_task(batcher(n)) for n in range(3)]
    await turns()
    draining = asyncio.create_task(batcher.drain())
    await turns()
    assert not draining.done()
    database.open.set()
    await draining
    assert [call.result() for call in calls] == [0, 10, 20]


async def test_batches_begin_apart() -> None:
    """Two items a moment apart go together; nobody awaits them."""
    database = Database()
    database.open.set()
    batcher = Batcher(database.run, batch=8, apart=0.05)
    began = asyncio.get_running_loop().time()
    await batcher.add(1)
    later = [batcher.add(2)]
    await asyncio.sleep(0.01)
    later.append(batcher.add(3))
    assert await asyncio.gather(*later) == [20, 30]
    assert database.batches == [[1], [2, 3]]
    assert asyncio.get_running_loop().time() - began >= 0.05


@pytest.mark.parametrize("reason", ["it is full", "somebody awaits it", "the process stops"])
async def test_a_batch_does_not_stay_apart_when(reason: str) -> None:
    database = Database()
    database.open.set()
    batcher = Batcher(database.run, batch=2, apart=60)
    await batcher.add(1)
    answer = batcher.add(2)
    await turns()
    assert database.batches == [[1]]
    assert len(batcher) == 1
    match reason:
        case "it is full":
            assert await batcher.add(3) == 30
        case "somebody awaits it":
            assert await batcher(3) == 30
        case _:
            await batcher.drain()
    assert answer.result() == 20
    assert len(batcher) == 0


async def test_long_work_lets_others_run_in_between() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(other())
    assert await map_in_pieces(str, range(10 * PIECE)) == [str(n) for n in range(10 * PIECE)]
    beside.cancel()
    assert turns >= 9
