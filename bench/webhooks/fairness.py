"""The effect of bad receivers on a good one: the latency of its messages when it is alone, and beside them.

The four: one takes messages and never answers, one refuses connections, one answers after 5 seconds, one is healthy.
All have the same subscription, so each message goes to all of them. The crowd: 200 that never answer, in 20
organizations.
"""

import tempfile
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from bench.report import Ratio
from bench.webhooks.receipts import Latency, latency, pace, taken
from bench.webhooks.stack import Stack, numbered_urls, wait_until
from tests.postgres import free_port
from tests.receivers import ReceiverProcess, receiver_process

WANTED = 2.0
A_SECOND = 100.0
CROWD_ORGANIZATIONS, CROWD_ENDPOINTS = 20, 10
CROWD_A_SECOND = 40.0
ALONE, FOUR, CROWD = "alone", "beside three bad ones", "beside a crowd of 200 that hang"


@dataclass
class Neighbours:
    """URLs of bad receivers."""

    hanging: str
    refusing: str
    slow: str


@dataclass
class Fairness:
    stack: Stack
    receivers: ExitStack
    folder: Path

    def measure(self, *, rounds: int, alone: float, beside: float, crowd: bool) -> list[Latency]:
        """In every round each of the three, for `alone` or `beside` seconds; figures over all rounds."""
        bad = self._neighbours()
        times: dict[str, list[float]] = {ALONE: [], FOUR: []}
        for _ in range(rounds):
            times[ALONE] += self._healthy([], [], alone)
            times[FOUR] += self._healthy([bad.hanging, bad.refusing, bad.slow], [], beside)
            if crowd:
                urls = numbered_urls(bad.hanging, CROWD_ENDPOINTS)
                times.setdefault(CROWD, []).extend(self._healthy([], [urls] * CROWD_ORGANIZATIONS, beside))
        return [latency(name, seconds) for name, seconds in times.items()]

    def _neighbours(self) -> Neighbours:
        tls = self.stack.authority
        hanging = self.receivers.enter_context(receiver_process(tls=tls, options=["--hang"]))
        slow = self.receivers.enter_context(receiver_process(tls=tls, options=["--delay", "5"]))
        return Neighbours(hanging.url, f"https://127.0.0.1:{free_port()}/hook", slow.url)

    def _healthy(self, beside: Sequence[str], crowd: Sequence[Sequence[str]], seconds: float) -> list[float]:
        """The latency of each message to the healthy endpoint; `crowd` are the URLs of other organizations."""
        self.stack.clear()
        log = Path(tempfile.mkstemp(dir=self.folder)[1])
        with receiver_process(tls=self.stack.authority, log=log) as healthy:
            own = self.stack.add_organization(healthy.url, *beside)
            others = [self.stack.add_organization(*urls) for urls in crowd]
            with self.stack.running_worker():
                self._warm(healthy, own)
                self._pace(own, others, seconds)
                return taken(self.stack, healthy, own)

    def _warm(self, healthy: ReceiverProcess, own: UUID) -> None:
        with self.stack.connect() as connection:
            pace(connection, [own], 1, 1)
        wait_until(lambda: healthy.count() > 0)

    def _pace(self, own: UUID, others: Sequence[UUID], seconds: float) -> None:
        with self.stack.connect() as connection, self.stack.connect() as other:
            crowd = threading.Thread(target=pace, args=(other, others, CROWD_A_SECOND if others else 0, seconds))
            crowd.start()
            pace(connection, [own], A_SECOND, seconds)
            crowd.join()


def measure(stack: Stack, *, rounds: int, alone: float, beside: float, crowd: bool) -> list[Latency]:
    with ExitStack() as receivers, tempfile.TemporaryDirectory() as folder:
        found = Fairness(stack, receivers, Path(folder))
        return found.measure(rounds=rounds, alone=alone, beside=beside, crowd=crowd)


def ratios(latencies: list[Latency]) -> list[Ratio]:
    """The crowd is reported without a wanted ratio: 200 TLS handshakes in 15 seconds are much work for two cores."""
    alone, beside = latencies[:2]
    return [Ratio(f"p99 {beside.name} / {alone.name}", beside.p99 / alone.p99, WANTED, at_most=True)]
