"""Processes that crash at work: the real worker and the real API, with a countdown at one failpoint.

The product has no code for this. A process is forked from a server that has imported everything, the function at its
failpoint is wrapped, and the command of the command line is run. The n-th time that it passes the failpoint it sends
itself SIGKILL, so nothing of its own runs after that, no `finally` and no clean close.
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
from gatepass.cli.commands.serve import serve
from gatepass.cli.commands.worker import worker as work
from gatepass.domain import tickets
from gatepass.domain.tickets import ScanOutcome
from gatepass.domain.webhooks import queue, schedule
from gatepass.domain.webhooks.attempt_timing import ATTEMPT_TIMING, AttemptTiming
from gatepass.domain.webhooks.queue import Attempt, Claimed
from gatepass.worker import sender, worker
from gatepass.worker.response_reader import ReceiverResponse

# `serve` imports it late; the fork server should have imported it before.
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
    """The times of a worker: the product's own, or shorter ones, so that a test need not wait for hours."""

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
class Countdown:
    left: int

    def tick(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class CrashingSender(sender.Sender):
    """The real sender, with countdowns at its failpoints."""

    deadline: ClassVar = sender.DEADLINE
    connecting: ClassVar[Countdown | None] = None
    sending: ClassVar[Countdown | None] = None
    answering: ClassVar[Countdown | None] = None

    def __init__(self, **given: Any) -> None:
        super().__init__(**given, deadline=self.deadline)

    async def send(self, url: str, headers: Callable[[], Mapping[str, str]], body: bytes) -> Attempt:
        attempt = await super().send(url, headers, body)
        if self.answering and attempt.succeeded:
            self.answering.tick()
        return attempt

    async def _connect(self, to: sender.Destination) -> Connection:
        connection = await super()._connect(to)
        if self.connecting and ATTEMPT_TIMING.get().opened:
            self.connecting.tick()
        return connection


class CrashingResponse(ReceiverResponse):
    """The real response; it crashes before it is read."""

    async def read(self, protocol: ResponseHandler, timing: AttemptTiming) -> None:
        if CrashingSender.sending:
            # Wait until the kernel has the last byte.
            while protocol.transport and protocol.transport.get_write_buffer_size():  # noqa: ASYNC110  the loop's work
                await asyncio.sleep(0)
            CrashingSender.sending.tick()
        await super().read(protocol, timing)


def _at_commit(countdown: Countdown) -> None:
    """The statement has returned, so its activations are committed; no answer has been sent yet."""
    activate = tickets.activate

    async def activated(tx: Tx, *given: Any, **named: Any) -> list[ScanOutcome | None]:
        verdicts = await activate(tx, *given, **named)
        if any(one and one.verdict == tickets.ACTIVATED and not one.replayed for one in verdicts):
            countdown.tick()
        return verdicts

    tickets.activate = activated


def _at_claim(countdown: Countdown) -> None:
    claim = queue.claim

    async def claimed(tx: Tx, *given: Any, **named: Any) -> list[Claimed]:
        found = await claim(tx, *given, **named)
        if found:
            countdown.tick()
        return found

    queue.claim = claimed


def _at_connection(countdown: Countdown) -> None:
    CrashingSender.connecting = countdown


def _at_sending(countdown: Countdown) -> None:
    CrashingSender.sending = countdown


def _at_answer(countdown: Countdown) -> None:
    CrashingSender.answering = countdown


def _not_at_all(_countdown: Countdown) -> None:
    """The test kills it from outside."""


AT: Final[Mapping[Failpoint, Callable[[Countdown], None]]] = {
    Failpoint.COMMITTED: _at_commit,
    Failpoint.CLAIMED: _at_claim,
    Failpoint.CONNECTED: _at_connection,
    Failpoint.SENT: _at_sending,
    Failpoint.ANSWERED: _at_answer,
    Failpoint.RECORDING: _not_at_all,
    Failpoint.ANYWHERE: _not_at_all,
}


def crashing_api(environment: Mapping[str, str], log: str, failpoint: Failpoint, countdown: int, port: int) -> None:
    """`gatepass serve`, until the countdown reaches 0."""
    _redirect_output(environment, log)
    AT[failpoint](Countdown(countdown))
    serve(port=port)


def crashing_worker(environment: Mapping[str, str], log: str, failpoint: Failpoint, countdown: int, pace: Pace) -> None:
    """`gatepass worker`, until the countdown reaches 0."""
    _redirect_output(environment, log)
    pace.set()
    CrashingSender.deadline = pace.deadline
    worker.Sender = CrashingSender
    sender.ReceiverResponse = CrashingResponse
    AT[failpoint](Countdown(countdown))
    work()


def _redirect_output(environment: Mapping[str, str], log: str) -> None:
    """Discard stdout; the test reads the log at the end."""
    os.environ.update(environment)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), 2)
