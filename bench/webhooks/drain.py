"""A million deliveries, sent until none is left: as fast at the end as at the beginning, and all recorded."""

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, LiteralString

from bench.webhooks.stack import Stack, numbered_urls, wait_until
from tests.receivers import ReceiverProcess, receiver_process

ENDPOINTS = 16
PATIENCE = 1800.0


@dataclass
class Drain:
    """`tenths` are rates a second; the sizes are the queue's with its indexes, full and empty, in bytes."""

    messages: int
    seconds: float
    tenths: list[float]
    delivered: int
    left: int
    full_size: int
    empty_size: int

    @property
    def rate(self) -> float:
        return self.messages / self.seconds

    def text(self) -> str:
        return (
            f"{self.messages:,} deliveries in {self.seconds:.0f} s, {self.rate:,.0f} a second; by tenths: "
            f"{', '.join(f'{rate:,.0f}' for rate in self.tenths)}. Delivered at the first attempt: {self.delivered:,}; "
            f"left: {self.left}. The queue: {self.full_size / 1e6:.1f} MB full, {self.empty_size / 1e6:.1f} MB empty."
        )


def measure(stack: Stack, *, messages: int) -> Drain:
    with receiver_process(tls=stack.authority) as receiver:
        stack.clear()
        stack.emit(stack.add_organization(*numbered_urls(receiver.url, ENDPOINTS)), messages // ENDPOINTS)
        wanted = messages // ENDPOINTS * ENDPOINTS
        (full_size,) = _row(stack, "SELECT pg_total_relation_size('webhook_queue')")
        with stack.running_worker():
            marks = [(receiver.count(), time.monotonic())]
            marks += [_reached(receiver, wanted * tenth // 10, every=messages / 1e6) for tenth in range(1, 11)]
            wait_until(lambda: not stack.waiting())
        delivered, left, empty_size = _row(stack, DONE)
        rates = [(last[0] - first[0]) / (last[1] - first[1]) for first, last in pairwise(marks)]
        return Drain(wanted, marks[-1][1] - marks[0][1], rates, delivered, left, full_size, empty_size)


def _reached(receiver: ReceiverProcess, wanted: int, *, every: float) -> tuple[int, float]:
    """The first count that reaches `wanted`, and its time. Each count costs a connection."""
    deadline = time.monotonic() + PATIENCE
    while (count := receiver.count()) < wanted:
        if time.monotonic() > deadline:
            raise AssertionError(f"{count:,} of {wanted:,} after {PATIENCE:.0f} s")
        time.sleep(every)
    return count, time.monotonic()


def _row(stack: Stack, text: LiteralString) -> tuple[Any, ...]:
    with stack.connect() as connection:
        return connection.execute(text).fetchall()[0]


DONE = """
    SELECT (SELECT count(*) FROM webhook_delivery WHERE state = 'delivered'),
           (SELECT count(*) FROM webhook_queue),
           pg_total_relation_size('webhook_queue')
"""
