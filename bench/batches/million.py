"""A million tickets by POST /tickets/batch, while another organization's gates scan: delay of scans, memory of the API.

Nothing is analyzed or vacuumed meanwhile. At the end tickets that were issued a moment ago are scanned, and the rows
that a scan reads are counted.
"""

import re
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psycopg
from rich.console import Console

from bench import dataset
from bench.batches.shop import SIZE, Caller, Shop, open_shop
from bench.batches.speed import PATIENT
from bench.connection import post
from bench.measure import wrk
from bench.report import Ratio, empty_table
from bench.stack import api, cluster_with
from gatepass.migrations import runner
from tests.processes import GatepassProcess, memory

# Gates: each scans, and waits before its next scan.
GATES = 8
PAUSE_MS = 60
# More than they scan.
SCANS_A_SECOND = 200
# The seconds of scans alone, in each round.
ALONE = 10
MOST_MEMORY = 150.0
# p99 of a scan: twice what it is alone, or 20 ms more.
MOST_TIMES, MOST_MS = 2.0, 20.0
MOST_ROWS_READ = 20.0
SCANNED_AT_THE_END = 200
# Seconds. A process of PostgreSQL that is idle reports what it counted after ten.
REPORTED_WITHIN = 11


@dataclass
class Million:
    """p99 of scans in milliseconds, by round; memory in megabytes above what the process had before."""

    alone: list[float] = field(default_factory=list[float])
    beside: list[float] = field(default_factory=list[float])
    issued: int = 0
    seconds: float = 0.0
    scans: int = 0
    grown: float = 0.0
    rows_read: float = 0.0
    failed: int = 0

    def show(self, console: Console) -> None:
        shown = empty_table("p99 of scans, ms", "round", "alone", "while tickets are issued")
        for turn, (alone, beside) in enumerate(zip(self.alone, self.beside, strict=True), 1):
            shown.add_row(str(turn), f"{alone:,.1f}", f"{beside:,.1f}")
        shown.add_row("median", f"{median(self.alone):,.1f}", f"{median(self.beside):,.1f}")
        console.print(shown)
        rate = self.issued / self.seconds
        console.print(
            f"{self.issued:,} tickets issued, {rate:,.0f} a second, and {self.scans:,} scans", highlight=False
        )

    def ratios(self) -> list[Ratio]:
        alone, beside = median(self.alone), median(self.beside)
        allowed = max(MOST_TIMES * alone, alone + MOST_MS)
        return [
            Ratio("p99 of a scan while tickets are issued, ms", beside, round(allowed, 1), at_most=True, digits=1),
            Ratio("memory of the API, MB more than before", self.grown, MOST_MEMORY, at_most=True, digits=1),
            Ratio("rows that a scan of a new ticket reads", self.rows_read, MOST_ROWS_READ, at_most=True, digits=1),
        ]


def measure(version: int, tickets: int, rounds: int, seconds: int) -> Million:
    """Rounds of scans alone and beside batches, at least `rounds`, until so many tickets are issued."""
    found = Million()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cluster = stack.enter_context(cluster_with(version, autovacuum="off"))
        url = cluster.create_database("bench")
        runner.upgrade(url)
        most_rounds = rounds + tickets // (seconds * 500)
        data = dataset.load(url, folder, most_rounds * (seconds + ALONE) * SCANS_A_SECOND, 1)
        shop = open_shop(url, "Shop")
        (process,) = stack.enter_context(api(url, 1, **PATIENT))
        used = 0

        def scan(duration: int) -> float:
            nonlocal used
            one = wrk(
                [process], data.plan, used, duration, GATES, "card", tickets_a_second=SCANS_A_SECOND, pause_ms=PAUSE_MS
            )
            used += one.used
            found.scans += one.done
            found.failed += one.failed
            return (one.p99_us or 0) / 1000

        scan(2)  # warms up
        caller = stack.enter_context(Caller(process.port))
        newest = caller.call(shop.request())
        before = memory(process)
        while len(found.alone) < rounds or found.issued < tickets:
            found.alone.append(scan(ALONE))
            issuer = Issuer(process, shop, before, found)
            issuer.start()
            found.beside.append(scan(seconds))
            newest = issuer.stop() or newest
        found.failed += caller.failed
        found.rows_read = _rows_read(url, shop, process.port, newest)
    return found


class Issuer(threading.Thread):
    """Issues batches one after the other over a connection of its own, until it is stopped."""

    def __init__(self, process: GatepassProcess, shop: Shop, before: float, found: Million) -> None:
        super().__init__()
        self._process, self._shop, self._before, self._found = process, shop, before, found
        self._over = threading.Event()
        self._answer: bytes | None = None

    def run(self) -> None:
        found, began = self._found, time.monotonic()
        with Caller(self._process.port) as caller:
            while not self._over.is_set():
                self._answer = caller.call(self._shop.request())
                found.issued += SIZE
                found.grown = max(found.grown, memory(self._process) - self._before)
            found.failed += caller.failed
        found.seconds += time.monotonic() - began

    def stop(self) -> bytes | None:
        """The last answer."""
        self._over.set()
        self.join()
        return self._answer


def _rows_read(url: str, shop: Shop, port: int, answer: bytes) -> float:
    """Rows of tickets, cards and events that a scan of a ticket reads which was issued a moment ago."""
    numbers = re.findall(rb'"card_number":"([^"]+)"', answer)[:SCANNED_AT_THE_END]
    with psycopg.connect(url, autocommit=True) as connection, Caller(port) as gate:
        before = _settled(connection)
        for number in numbers:
            body = {"event_id": str(shop.event_id), "card_number": number.decode()}
            answer = gate.call(post("/scan", shop.key, number.decode(), body))
            assert answer.startswith(b"HTTP/1.1 200 "), answer
        after = _settled(connection)
    return (after - before) / len(numbers)


def _settled(connection: psycopg.Connection[tuple[int]]) -> int:
    """The rows read so far, when no process has any left to report."""
    before = -1
    while (now := _counted(connection)) != before:
        before = now
        time.sleep(REPORTED_WITHIN)
    return now


def _counted(connection: psycopg.Connection[tuple[int]]) -> int:
    ((read,),) = connection.execute(ROWS_READ).fetchall()
    return read


ROWS_READ = """
    SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint
      FROM pg_stat_user_tables
     WHERE relname IN ('ticket', 'card', 'event')
"""
