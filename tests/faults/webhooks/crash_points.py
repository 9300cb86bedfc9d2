"""Processes that die in the middle of their work: the real worker and the real API, with a fuse at one point.

The product knows nothing of this. A process is forked from a server that has imported everything, the function at
its failpoint is wrapped, and the command line's own command is run. The n-th time that it passes the point it sends
itself SIGKILL, so nothing of its own runs after that, no `finally` and no goodbye.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, ClassVar, Final

from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

from gatepass.api import app
from gatepass.base.database import Tx
from gatepass.cli.serve import serve
from gatepass.cli.worker import worker as work
from gatepass.domain import tickets
from gatepass.domain.tickets import Verdict
from gatepass.domain.webhooks import queue, schedule
from gatepass.domain.webhooks.attempt import Attempt
from gatepass.domain.webhooks.progress import PROGRESS, Progress
from gatepass.domain.webhooks.queue import Claimed
from gatepass.worker import sender, worker
from gatepass.worker.answer import Answer

# `serve` imports it late; the server that all are forked from should have it.
assert app


class Failpoint(StrEnum):
    COMMITTED = "after commit"
    CLAIMED = "after claim"
    CONNECTED = "after connect"
    SENT = "after the body is sent"
    ANSWERED = "after 2xx"
    RECORDING = "in a record batch"
    ANYWHERE = "anywhere"


@dataclass(frozen=True)
class Pace:
    """The times that a worker keeps: the product's own, or shorter ones, so that a test need not wait for hours."""

    lease: timedelta = queue.LEASE
    deadline: float = sender.DEADLINE
    delays: Sequence[float] = schedule.DELAYS
    shortest_probe: timedelta = schedule.SHORTEST_PROBE

    def set(self) -> None:
        start_within = (
            worker.START_WITHIN - (queue.LEASE - self.lease).total_seconds() + sender.DEADLINE - self.deadline
        )
        assert start_within > 0, "nothing would ever be sent"
        times: dict[Any, Mapping[str, object]] = {
            queue: {"LEASE": self.lease, "SHORTEST_PROBE": self.shortest_probe},
            worker: {"LEASE": self.lease, "START_WITHIN": start_within},
            schedule: {"DELAYS": tuple(self.delays)},
        }
        for module, values in times.items():
            for name, value in values.items():
                assert hasattr(module, name)
                setattr(module, name, value)


@dataclass
class Fuse:
    left: int

    def burn(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class DoomedSender(sender.Sender):
    """The real sender, and the fuses that burn in it."""

    deadline: ClassVar = sender.DEADLINE
    connecting: ClassVar[Fuse | None] = None
    sending: ClassVar[Fuse | None] = None
    answering: ClassVar[Fuse | None] = None

    def __init__(self, **given: Any) -> None:
        super().__init__(**given, deadline=self.deadline)

    async def send(self, url: str, headers: Callable[[], Mapping[str, str]], body: bytes) -> Attempt:
        attempt = await super().send(url, headers, body)
        if self.answering and attempt.succeeded:
            self.answering.burn()
        return attempt

    async def _connect(self, to: sender.Destination) -> Connection:
        connection = await super()._connect(to)
        if self.connecting and PROGRESS.get().opened:
            self.connecting.burn()
        return connection

    async def _read(self, protocol: ResponseHandler, answer: Answer, progress: Progress) -> None:
        if self.sending:
            # Until the kernel has the last byte.
            while protocol.transport and protocol.transport.get_write_buffer_size():  # noqa: ASYNC110  the loop's work
                await asyncio.sleep(0)
            self.sending.burn()
        await super()._read(protocol, answer, progress)


def _at_commit(fuse: Fuse) -> None:
    """The statement has returned, so its activations are committed; nobody was answered yet."""
    activate = tickets.activate

    async def activated(tx: Tx, *given: Any, **named: Any) -> list[Verdict | None]:
        verdicts = await activate(tx, *given, **named)
        if any(one and one.verdict == tickets.ACTIVATED and not one.replayed for one in verdicts):
            fuse.burn()
        return verdicts

    tickets.activate = activated


def _at_claim(fuse: Fuse) -> None:
    claim = queue.claim

    async def claimed(tx: Tx, *given: Any, **named: Any) -> list[Claimed]:
        found = await claim(tx, *given, **named)
        if found:
            fuse.burn()
        return found

    queue.claim = claimed


def _at_connection(fuse: Fuse) -> None:
    DoomedSender.connecting = fuse


def _at_sending(fuse: Fuse) -> None:
    DoomedSender.sending = fuse


def _at_answer(fuse: Fuse) -> None:
    DoomedSender.answering = fuse


def _nowhere(_fuse: Fuse) -> None:
    """Somebody else kills it."""


AT: Final[Mapping[Failpoint, Callable[[Fuse], None]]] = {
    Failpoint.COMMITTED: _at_commit,
    Failpoint.CLAIMED: _at_claim,
    Failpoint.CONNECTED: _at_connection,
    Failpoint.SENT: _at_sending,
    Failpoint.ANSWERED: _at_answer,
    Failpoint.RECORDING: _nowhere,
    Failpoint.ANYWHERE: _nowhere,
}


def doomed_api(environment: Mapping[str, str], log: str, failpoint: Failpoint, countdown: int, port: int) -> None:
    """`gatepass serve`, until the fuse has burned down."""
    _settle(environment, log)
    AT[failpoint](Fuse(countdown))
    serve(port=port)


def doomed_worker(environment: Mapping[str, str], log: str, failpoint: Failpoint, countdown: int, pace: Pace) -> None:
    """`gatepass worker`, until the fuse has burned down."""
    _settle(environment, log)
    pace.set()
    DoomedSender.deadline = pace.deadline
    worker.Sender = DoomedSender
    AT[failpoint](Fuse(countdown))
    work()


def _settle(environment: Mapping[str, str], log: str) -> None:
    """Greetings are for nobody; what is logged is looked at in the end."""
    os.environ.update(environment)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), 2)
