"""Tickets a second by POST /tickets/batch, and by a bare statement that writes the same rows, in turn."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Thread
from typing import Any

from bench.batches.bare import BareClient
from bench.batches.shop import SIZE, Caller, open_shop
from bench.measure import Series, Slice, costed
from bench.report import Ratio
from bench.stack import api
from tests.postgres import Cluster

# A batch is one transaction, in which Python and PostgreSQL take turns; two callers fill both.
CALLERS = (1, 2)
WANTED = 0.5
# A busy machine is slow; the bench measures by how much, and no call is refused for it.
PATIENT = {"GATEPASS_DATABASE_DEADLINE": "60"}


@dataclass
class Side:
    """One way to write batches: a client makes the values of one, then writes it."""

    name: str
    clients: Sequence[tuple[Callable[[], Any], Callable[[Any], object]]]


def bare(callers: int) -> str:
    return f"bare, {callers} client{'s' * (callers > 1)}"


def http(callers: int) -> str:
    return f"POST /tickets/batch, {callers} connection{'s' * (callers > 1)}"


def measure(cluster: Cluster, url: str, rounds: int, batches: int) -> tuple[list[Series], int]:
    """The series of every way, and how many tickets were refused."""
    with ExitStack() as stack:
        (process,) = stack.enter_context(api(url, 1, **PATIENT))
        sides: list[Side] = []
        callers: list[Caller] = []
        for count in CALLERS:
            direct = [stack.enter_context(BareClient(url, open_shop(url, f"Bare {count}.{n}"))) for n in range(count)]
            shops = [open_shop(url, f"Shop {count}.{n}") for n in range(count)]
            over_http = [stack.enter_context(Caller(process.port)) for _ in shops]
            callers += over_http
            sides.append(Side(bare(count), [(one.batch, one.insert) for one in direct]))
            sides.append(
                Side(http(count), [(shop.request, one.call) for shop, one in zip(shops, over_http, strict=True)])
            )
        series = [Series(side.name) for side in sides]
        pid = process.process.pid
        for turn in range(rounds + 1):
            for side, one in zip(sides, series, strict=True):
                found = costed(lambda side=side: _slice(side, batches), [pid], cluster)
                # The first round warms up.
                if turn:
                    one.slices.append(found)
        return series, sum(one.failed for one in callers)


def _slice(side: Side, batches: int) -> Slice:
    """All clients at once, as many batches each; what they send is made before the clock starts."""
    share = batches // len(side.clients)
    work = [([make() for _ in range(share)], write) for make, write in side.clients]
    took: list[float] = []

    def run(prepared: list[Any], write: Callable[[Any], object]) -> None:
        for values in prepared:
            began = time.perf_counter()
            write(values)
            took.append(time.perf_counter() - began)

    threads = [Thread(target=run, args=one) for one in work]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    assert len(took) == share * len(work), "a client failed"
    mean = sum(took) / len(took) * 1e6
    middle = sorted(took)[len(took) // 2] * 1e6
    return Slice(len(took) * SIZE, seconds, mean, middle, None, 0, 0)


def ratios(series: Sequence[Series]) -> list[Ratio]:
    rates = {one.name: one.rate for one in series}
    return [
        Ratio(f"{http(count)} / {bare(count)}", rates[http(count)] / rates[bare(count)], WANTED) for count in CALLERS
    ]
