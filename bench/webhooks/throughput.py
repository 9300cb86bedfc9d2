"""Deliveries a second: one worker with a full queue, against a bare loop of the same HTTP client, in turn."""

import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

from bench.measure import Series, Slice, costed
from bench.report import Ratio
from bench.webhooks.stack import Stack, numbered_urls, wait_until
from tests.receivers import ReceiverProcess, receiver_process

BARE = "bare loop"
WANTED = 0.5
# Messages before the slice begins: by then the worker's concurrency has grown and its connections are open.
WARM = 3_000


def name_of(endpoints: int) -> str:
    return f"worker, {endpoints} endpoint{'s' if endpoints > 1 else ''}"


def measure(stack: Stack, *, rounds: int, seconds: float, messages: int, endpoints: tuple[int, ...]) -> list[Series]:
    """A slice of the bare loop, then one of a worker for each number of endpoints, in every round."""
    bare = Series(BARE)
    workers = {number: Series(name_of(number)) for number in endpoints}
    with receiver_process(tls=stack.authority) as receiver:
        for _ in range(rounds):
            with posting(receiver) as pid:
                bare.slices.append(steady_slice(stack, receiver, pid, seconds))
            for number, series in workers.items():
                stack.clear()
                stack.emit(stack.add_organization(*numbered_urls(receiver.url, number)), messages // number)
                series.slices.append(worker_slice(stack, receiver, seconds))
    return [bare, *workers.values()]


def worker_slice(stack: Stack, receiver: ReceiverProcess, seconds: float) -> Slice:
    """A slice of a new worker with a full queue."""
    with stack.running_worker() as worker:
        one = steady_slice(stack, receiver, worker.process.pid, seconds)
        if not stack.waiting():
            raise AssertionError("the queue ran empty")
    return one


@contextmanager
def posting(receiver: ReceiverProcess) -> Generator[int]:
    """The bare loop, until the block ends."""
    assert receiver.tls
    command = [sys.executable, "-m", "bench.webhooks.bare_client", receiver.url, receiver.tls.pem]
    process = subprocess.Popen(command)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def steady_slice(stack: Stack, receiver: ReceiverProcess, pid: int, seconds: float) -> Slice:
    """A slice of receipts, after the first WARM."""
    first = receiver.count()
    wait_until(lambda: receiver.count() >= first + WARM)
    return costed(lambda: receipts(receiver, seconds), [pid], stack.cluster)


def receipts(receiver: ReceiverProcess, seconds: float) -> Slice:
    before, began = receiver.count(), time.perf_counter()
    time.sleep(seconds)
    count = receiver.count() - before
    return Slice(count, time.perf_counter() - began, 0, None, None, 0, 0)


def ratios(series: list[Series]) -> list[Ratio]:
    bare, *workers = series
    return [Ratio(f"{one.name} / {bare.name}", one.rate / bare.rate, WANTED) for one in workers]
