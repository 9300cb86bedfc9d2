"""What bad receivers do to a good one: how long its messages take when it is alone, and beside them.

The four: one takes messages and never answers, one refuses connections, one answers after 5 seconds, one is well. All
subscribe to the same, so each message goes to all of them. The crowd: 200 that never answer, in 20 organizations.
"""

import tempfile
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from bench.report import Ratio
from bench.webhooks.estate import Estate, numbered, until
from bench.webhooks.receipts import Latency, latency, pace, taken
from tests.postgres import free_port
from tests.receivers import ReceiverProcess, receiver_process

WANTED = 2.0
A_SECOND = 100.0
CROWD_ORGANIZATIONS, CROWD_ENDPOINTS = 20, 10
CROWD_A_SECOND = 40.0
ALONE, FOUR, CROWD = "alone", "beside three bad ones", "beside a crowd of 200 that hang"


@dataclass
class Neighbours:
    """URLs of receivers that are not well."""

    hanging: str
    refusing: str
    slow: str


@dataclass
class Fairness:
    estate: Estate
    stack: ExitStack
    folder: Path

    def measure(self, *, rounds: int, alone: float, beside: float, crowd: bool) -> list[Latency]:
        """In every round each of the three, for so many seconds; figures over all rounds."""
        bad = self._neighbours()
        times: dict[str, list[float]] = {ALONE: [], FOUR: []}
        for _ in range(rounds):
            times[ALONE] += self._healthy([], [], alone)
            times[FOUR] += self._healthy([bad.hanging, bad.refusing, bad.slow], [], beside)
            if crowd:
                urls = numbered(bad.hanging, CROWD_ENDPOINTS)
                times.setdefault(CROWD, []).extend(self._healthy([], [urls] * CROWD_ORGANIZATIONS, beside))
        return [latency(name, seconds) for name, seconds in times.items()]

    def _neighbours(self) -> Neighbours:
        tls = self.estate.authority
        hanging = self.stack.enter_context(receiver_process(tls=tls, options=["--hang"]))
        slow = self.stack.enter_context(receiver_process(tls=tls, options=["--delay", "5"]))
        return Neighbours(hanging.url, f"https://127.0.0.1:{free_port()}/hook", slow.url)

    def _healthy(self, beside: Sequence[str], crowd: Sequence[Sequence[str]], seconds: float) -> list[float]:
        """How long each message to the healthy endpoint took, with these beside it and these elsewhere."""
        self.estate.empty()
        log = Path(tempfile.mkstemp(dir=self.folder)[1])
        with receiver_process(tls=self.estate.authority, log=log) as healthy:
            own = self.estate.found(healthy.url, *beside)
            others = [self.estate.found(*urls) for urls in crowd]
            with self.estate.working():
                self._warm(healthy, own)
                self._pace(own, others, seconds)
                return taken(self.estate, healthy, own)

    def _warm(self, healthy: ReceiverProcess, own: UUID) -> None:
        with self.estate.connect() as connection:
            pace(connection, [own], 1, 1)
        until(lambda: healthy.count() > 0)

    def _pace(self, own: UUID, others: Sequence[UUID], seconds: float) -> None:
        with self.estate.connect() as connection, self.estate.connect() as other:
            crowd = threading.Thread(target=pace, args=(other, others, CROWD_A_SECOND if others else 0, seconds))
            crowd.start()
            pace(connection, [own], A_SECOND, seconds)
            crowd.join()


def measure(estate: Estate, *, rounds: int, alone: float, beside: float, crowd: bool) -> list[Latency]:
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        found = Fairness(estate, stack, Path(folder))
        return found.measure(rounds=rounds, alone=alone, beside=beside, crowd=crowd)


def ratios(latencies: list[Latency]) -> list[Ratio]:
    """The crowd is told and not judged: two hundred handshakes a quarter of a minute are work, on two cores."""
    alone, beside = latencies[:2]
    return [Ratio(f"p99 {beside.name} / {alone.name}", beside.p99 / alone.p99, WANTED, at_most=True)]
