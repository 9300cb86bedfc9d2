"""A great many deliveries, sent until none is left: as fast at the end as at the beginning, and all recorded."""

import time
from dataclasses import dataclass

from bench.webhooks.estate import Estate, numbered
from tests.receivers import receiver_process

ENDPOINTS = 16
PATIENCE = 3600.0


@dataclass
class Drain:
    """Rates a second: over the whole, of the first tenth and of the last."""

    messages: int
    seconds: float
    first: float
    last: float
    delivered: int
    left: int
    queue_bytes: int

    @property
    def rate(self) -> float:
        return self.messages / self.seconds


def measure(estate: Estate, *, messages: int) -> Drain:
    with receiver_process(tls=estate.authority) as receiver:
        estate.empty()
        estate.tell(estate.found(*numbered(receiver.url, ENDPOINTS)), messages // ENDPOINTS)
        wanted = messages // ENDPOINTS * ENDPOINTS
        with estate.working():
            marks = {0: time.monotonic()}
            tenths = [wanted * tenth // 10 for tenth in range(1, 11)]
            deadline = time.monotonic() + PATIENCE
            while tenths:
                if receiver.count() >= tenths[0]:
                    marks[tenths.pop(0)] = time.monotonic()
                elif time.monotonic() > deadline:
                    raise AssertionError(f"{receiver.count():,} of {wanted:,} after {PATIENCE:.0f} s")
                else:
                    time.sleep(0.02)
            while estate.waiting() and time.monotonic() < deadline:
                time.sleep(0.05)
        return _told(estate, wanted, marks)


def _told(estate: Estate, wanted: int, marks: dict[int, float]) -> Drain:
    counts = sorted(marks)
    tenth = wanted / 10
    with estate.connect() as connection:
        (row,) = connection.execute(DONE).fetchall()
    return Drain(
        wanted,
        marks[counts[-1]] - marks[0],
        tenth / (marks[counts[1]] - marks[0]),
        tenth / (marks[counts[-1]] - marks[counts[-2]]),
        *row,
    )


DONE = """
    SELECT (SELECT count(*) FROM webhook_delivery WHERE state = 'delivered' AND attempts = 1),
           (SELECT count(*) FROM webhook_queue),
           pg_total_relation_size('webhook_queue')
"""
