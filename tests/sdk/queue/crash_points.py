"""Processes that kill themselves while they work on a queue, at a failpoint.

The SDK has no code for this: the failpoints use public hooks of httpx2 and sqlite3. At the end of its countdown the
process sends itself SIGKILL, so nothing runs after that: no `finally`, no rollback.
"""

import os
import signal
import sqlite3
import threading
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from multiprocessing.connection import Connection
from typing import Any

import httpx2

from gatepass_sdk import Gatepass, ScanQueue, Verdict, resend_scans


class Failpoint(StrEnum):
    SENT = "a request is sent, its answer is not there"
    ANSWERED = "an answer is there, and not kept"
    COMMITTING = "a transaction is written, and not committed"
    REPORTING = "a verdict is being reported"
    ANYWHERE = "any moment at which requests are on their way"
    NOWHERE = "it lives"


@dataclass
class Countdown:
    at: Failpoint
    left: int
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hit(self, point: Failpoint) -> None:
        if point is self.at:
            with self._lock:
                self.left -= 1
                if self.left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class RequestWatcher:
    """Counts the requests in flight in shared memory, which survives the process, and announces the first one."""

    countdown: Countdown
    in_flight: Any
    started: Connection
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _announced: bool = False

    def request_sent(self, request: httpx2.Request) -> None:
        request.extensions["trace"] = self._traced
        with self._lock:
            self.in_flight.value += 1
            if not self._announced:
                self._announced = True
                self.started.send(True)

    def response_received(self, _answer: httpx2.Response) -> None:
        self.countdown.hit(Failpoint.ANSWERED)
        with self._lock:
            self.in_flight.value -= 1

    def _traced(self, event: str, _info: object) -> None:
        if event == "http11.send_request_body.complete":
            self.countdown.hit(Failpoint.SENT)

    def statement_run(self, statement: str) -> None:
        if statement == "COMMIT":
            self.countdown.hit(Failpoint.COMMITTING)


def drain(
    path: str, base_url: str, key: str, countdown: tuple[Failpoint, int], in_flight: Any, started: Connection
) -> None:
    """Drain the queue, and write each verdict into the table `reported`, which would show one that came twice."""
    watcher = RequestWatcher(Countdown(*countdown), in_flight, started)

    def report(verdict: Verdict, db: sqlite3.Connection) -> None:
        db.execute(REPORT, (verdict.id, verdict.card, verdict.status, verdict.replayed))
        watcher.countdown.hit(Failpoint.REPORTING)

    hooks = {"request": [watcher.request_sent], "response": [watcher.response_received]}
    # Nothing is encrypted here, and loading all certificates takes longer than many of these processes live.
    with httpx2.Client(event_hooks=hooks, verify=False) as http, ScanQueue(path) as queue:
        queue._database._db.set_trace_callback(watcher.statement_run)
        result = queue.drain(Gatepass(key, base_url=base_url, http_client=http), report)
        if countdown[0] is Failpoint.NOWHERE:
            assert (result.waiting, result.stopped_by) == (0, None)


def resend(
    paths: list[str],
    since: datetime,
    server: tuple[str, str],
    countdown: tuple[Failpoint, int],
    in_flight: Any,
    started: Connection,
) -> None:
    """Send the activations of these queues again, to a server with this base URL and this key."""
    watcher = RequestWatcher(Countdown(*countdown), in_flight, started)
    hooks = {"request": [watcher.request_sent], "response": [watcher.response_received]}
    base_url, key = server
    with httpx2.Client(event_hooks=hooks, verify=False) as http:
        resend_scans(paths, Gatepass(key, base_url=base_url, http_client=http), since=since)


def add(path: str, number: int, added: Connection) -> None:
    """Add scans without end, and send the id of each."""
    with ScanQueue(path) as queue:
        while True:
            number += 1
            added.send((queue.add("an event", card_number=f"card {number}", gate="North"), number))


REPORT = "INSERT INTO reported (id, card, status, replayed) VALUES (?, ?, ?, ?)"
