"""A gate that kills itself while it works, at a step of what it does: decide, write, show, send.

The SDK has no code for this: the steps are seen by public hooks of httpx2 and sqlite3. At the end of its countdown the
process sends itself SIGKILL, so nothing runs after that: no `finally`, no rollback.
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

from gatepass_sdk import Gate


class Step(StrEnum):
    DECIDE = "it decides"
    WRITE = "it writes"
    SHOW = "it shows"
    SEND = "it sends"
    ANYWHERE = "anywhere"


@dataclass
class Countdown:
    """Says which step it died at before it does: a pipe keeps what was written to it."""

    left: int
    screen: Connection
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hit(self, step: Step) -> None:
        with self._lock:
            self.left -= 1
            if self.left == 0:
                self.screen.send(("killed", step))
                os.kill(os.getpid(), signal.SIGKILL)

    def die_after(self, seconds: float) -> None:
        def die() -> None:
            with self._lock:
                self.screen.send(("killed", Step.ANYWHERE))
                os.kill(os.getpid(), signal.SIGKILL)

        timer = threading.Timer(seconds, die)
        timer.daemon = True
        timer.start()

    def statement_run(self, statement: str) -> None:
        self.hit(Step.DECIDE if statement.lstrip().startswith("SELECT") else Step.WRITE)

    def request_sent(self, request: httpx2.Request) -> None:
        request.extensions = {**request.extensions, "trace": self._traced}

    def _traced(self, event: str, _info: object) -> None:
        if event.startswith("http11") and event.endswith("complete"):
            self.hit(Step.SEND)


def work(directory: str, codes: list[tuple[int, str]], countdown: int, after: float, screen: Connection) -> None:
    """Scan these codes, show each answer on the screen, and upload in between. With `after` it dies by a timer."""
    counted = Countdown(countdown, screen)
    hooks: dict[str, Any] = {"request": [counted.request_sent]}
    with httpx2.Client(event_hooks=hooks, verify=False) as http, Gate(directory, http_client=http) as gate:
        database: sqlite3.Connection = gate._store.database._db
        database.set_trace_callback(counted.statement_run)
        if after:
            counted.die_after(after)
        screen.send(("began", None))
        for n, code in codes:
            shown = gate.scan(code)
            counted.hit(Step.SHOW)
            screen.send(("shown", (n, shown.colour, shown.verdict, shown.online)))
            counted.hit(Step.SHOW)
            # Where there is no network an upload only waits for it.
            if n % 2 == 0 and gate.status().offline_since is None:
                gate.upload()
        database.set_trace_callback(None)
    screen.send(("ended", None))
