"""Processes that die while they work on a queue, at a point of their own or at any moment.

The product knows nothing of this. Fuses hang on hooks that httpx2 and sqlite3 have for everyone. What has burned down
sends itself SIGKILL, so nothing of its own runs after that: no `finally`, no rollback, no goodbye.
"""

import os
import signal
import sqlite3
import threading
from dataclasses import dataclass, field
from enum import StrEnum
from multiprocessing.connection import Connection
from typing import Any

import httpx2

from gatepass_sdk import Gatepass, ScanQueue, Verdict


class Failpoint(StrEnum):
    SENT = "a request is sent, its answer is not there"
    ANSWERED = "an answer is there, and not kept"
    COMMITTING = "a transaction is written, and not committed"
    REPORTING = "a verdict is being reported"
    ANYWHERE = "any moment at which requests are on their way"
    NOWHERE = "it lives"


@dataclass
class Fuse:
    at: Failpoint
    left: int
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def pass_by(self, point: Failpoint) -> None:
        if point is self.at:
            with self._lock:
                self.left -= 1
                if self.left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Watched:
    """Requests on their way are counted where the count survives this process, and the first one is announced."""

    fuse: Fuse
    on_the_way: Any
    begun: Connection
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _announced: bool = False

    def departs(self, request: httpx2.Request) -> None:
        request.extensions["trace"] = self._traced
        with self._lock:
            self.on_the_way.value += 1
            if not self._announced:
                self._announced = True
                self.begun.send(True)

    def arrives(self, _answer: httpx2.Response) -> None:
        self.fuse.pass_by(Failpoint.ANSWERED)
        with self._lock:
            self.on_the_way.value -= 1

    def _traced(self, event: str, _info: object) -> None:
        if event == "http11.send_request_body.complete":
            self.fuse.pass_by(Failpoint.SENT)

    def runs(self, statement: str) -> None:
        if statement == "COMMIT":
            self.fuse.pass_by(Failpoint.COMMITTING)


def drain(path: str, base_url: str, key: str, fuse: tuple[Failpoint, int], on_the_way: Any, begun: Connection) -> None:
    """Drain the queue, and write each verdict into the table `told`, which takes one twice if it is told twice."""
    watched = Watched(Fuse(*fuse), on_the_way, begun)

    def tell(verdict: Verdict, db: sqlite3.Connection) -> None:
        db.execute(TELL, (verdict.id, verdict.card, verdict.status, verdict.replayed))
        watched.fuse.pass_by(Failpoint.REPORTING)

    hooks = {"request": [watched.departs], "response": [watched.arrives]}
    # Nothing is encrypted here, and reading all certificates takes longer than many a life.
    with httpx2.Client(event_hooks=hooks, verify=False) as http, ScanQueue(path) as queue:
        queue._database._db.set_trace_callback(watched.runs)
        result = queue.drain(Gatepass(key, base_url=base_url, http_client=http), tell)
        if fuse[0] is Failpoint.NOWHERE:
            assert (result.waiting, result.stopped_by) == (0, None)


def add(path: str, number: int, added: Connection) -> None:
    """Add scans for ever, and say so of each."""
    with ScanQueue(path) as queue:
        while True:
            number += 1
            added.send((queue.add("an event", card_number=f"card {number}", gate="North"), number))


TELL = "INSERT INTO told (id, card, status, replayed) VALUES (?, ?, ?, ?)"
