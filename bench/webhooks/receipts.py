"""How long messages took: from just before their commit, as the database noted it, until the receiver had them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from uuid import UUID

from bench.webhooks.estate import PATIENCE, Estate, Link, tell
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


def taken(estate: Estate, receiver: ReceiverProcess, organization_id: UUID) -> list[float]:
    """The seconds that each message of the organization took, once the receiver has them all."""
    with estate.connect() as connection:
        rows = connection.execute(TOLD, (organization_id,)).fetchall()
    told = {written_id(id): at for id, at in rows}
    deadline = time.monotonic() + PATIENCE
    while True:
        first: dict[str, float] = {}
        for event, _, _, at in receiver.received():
            first.setdefault(event, at)
        if first.keys() >= told.keys():
            return [first[event] - at for event, at in told.items()]
        if time.monotonic() > deadline:
            raise AssertionError(f"{len(told.keys() - first.keys())} of {len(told)} messages did not arrive")
        time.sleep(0.1)


def pace(connection: Link, organizations: Sequence[UUID], a_second: float, seconds: float) -> None:
    """A message of each organization in turn, each its own transaction, at this rate, late ones too."""
    began, count = time.perf_counter(), int(a_second * seconds)
    for n in range(count):
        time.sleep(max(0.0, began + n / a_second - time.perf_counter()))
        tell(connection, organizations[n % len(organizations)])


TOLD = "SELECT id, extract(epoch FROM at)::double precision FROM webhook_event WHERE organization_id = %s"
