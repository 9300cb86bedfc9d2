"""How many a second: one worker with plenty to send, against a bare loop of the same HTTP client, in turn."""

import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

from bench.measure import Series, Slice, costed
from bench.report import Ratio
from bench.webhooks.estate import Estate, numbered, until
from tests.receivers import ReceiverProcess, receiver_process

BARE = "bare loop"
WANTED = 0.5
# Before the slice begins: the worker has opened its windows, and its connections are there.
WARM = 3_000


def name_of(endpoints: int) -> str:
    return f"worker, {endpoints} endpoint{'s' if endpoints > 1 else ''}"


def measure(estate: Estate, *, rounds: int, seconds: float, messages: int, endpoints: tuple[int, ...]) -> list[Series]:
    """A slice of the bare loop, then one of a worker for each number of endpoints, in every round."""
    bare = Series(BARE)
    workers = {number: Series(name_of(number)) for number in endpoints}
    with receiver_process(tls=estate.authority) as receiver:
        for _ in range(rounds):
            with posting(receiver) as pid:
                bare.slices.append(steady(estate, receiver, pid, seconds))
            for number, series in workers.items():
                estate.empty()
                estate.tell(estate.found(*numbered(receiver.url, number)), messages // number)
                series.slices.append(worked(estate, receiver, seconds))
    return [bare, *workers.values()]


def worked(estate: Estate, receiver: ReceiverProcess, seconds: float) -> Slice:
    """A slice of a new worker that finds plenty to send."""
    with estate.working() as worker:
        one = steady(estate, receiver, worker.process.pid, seconds)
        if not estate.waiting():
            raise AssertionError("there was not enough to send")
    return one


@contextmanager
def posting(receiver: ReceiverProcess) -> Generator[int]:
    """The bare loop, until the block ends."""
    assert receiver.tls
    command = [sys.executable, "-m", "bench.webhooks.bare", receiver.url, receiver.tls.pem]
    process = subprocess.Popen(command)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def steady(estate: Estate, receiver: ReceiverProcess, pid: int, seconds: float) -> Slice:
    """How many arrive, once it is under way."""
    first = receiver.count()
    until(lambda: receiver.count() >= first + WARM)
    return costed(lambda: arrived(receiver, seconds), [pid], estate.cluster)


def arrived(receiver: ReceiverProcess, seconds: float) -> Slice:
    before, began = receiver.count(), time.perf_counter()
    time.sleep(seconds)
    count = receiver.count() - before
    return Slice(count, time.perf_counter() - began, 0, None, None, 0, 0)


def ratios(series: list[Series]) -> list[Ratio]:
    bare, *workers = series
    return [Ratio(f"{one.name} / {bare.name}", one.rate / bare.rate, WANTED) for one in workers]
