"""The latency of messages: from their time in the database, just before the commit, to their receipt."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from uuid import UUID

from bench.webhooks.stack import PATIENCE, Connection, Stack, emit
from gatepass.domain.webhooks import written_id
from tests.receivers import ReceiverProcess


@dataclass
class Latency:
    """In milliseconds."""

    name: str
    count: int
    p50: float
    p99: float
    most: float


def latency(name: str, seconds: Sequence[float]) -> Latency:
    ordered = sorted(1000 * one for one in seconds)
    return Latency(name, len(ordered), median(ordered), ordered[int(0.99 * len(ordered))], ordered[-1])


def taken(stack: Stack, receiver: ReceiverProcess, organization_id: UUID) -> list[float]:
    """Wait until the receiver has all messages of the organization. Returns the seconds that each took."""
    with stack.connect() as connection:
        rows = connection.execute(EMITTED, (organization_id,)).fetchall()
    emitted = {written_id(id): at for id, at in rows}
    deadline = time.monotonic() + PATIENCE
    while True:
        first: dict[str, float] = {}
        for event, _, _, at in receiver.received():
            first.setdefault(event, at)
        if first.keys() >= emitted.keys():
            return [first[event] - at for event, at in emitted.items()]
        if time.monotonic() > deadline:
            raise AssertionError(f"{len(emitted.keys() - first.keys())} of {len(emitted)} messages did not arrive")
        time.sleep(0.1)


def pace(connection: Connection, organizations: Sequence[UUID], a_second: float, seconds: float) -> None:
    """Emit messages of the organizations in turn, each in its own transaction, at this rate. None is skipped."""
    began, count = time.perf_counter(), int(a_second * seconds)
    for n in range(count):
        time.sleep(max(0.0, began + n / a_second - time.perf_counter()))
        emit(connection, organizations[n % len(organizations)])


EMITTED = "SELECT id, extract(epoch FROM at)::double precision FROM webhook_event WHERE organization_id = %s"
