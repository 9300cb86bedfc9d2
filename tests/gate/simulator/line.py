"""The network of a gate: it loses requests and answers, and delivers some of them much later.

It stands where `gatepass_sdk.Gate` has its connection and its calls. The gate runs in a thread, as in a real one, and
the calls in the event loop of the simulator.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from gatepass_sdk import APITimeoutError
from gatepass_sdk._gate.calls import ScanAnswer
from gatepass_sdk._gate.connection import Connection
from gatepass_sdk._gate.storage.entry import Entry
from tests.gate.simulator.scenario import Network

T = TypeVar("T")


class KnownNetwork(Connection):
    """A gate that knows whether it is offline, and waits for nothing."""

    network = Network.OFFLINE

    @property
    def is_worth_a_try(self) -> bool:
        return self.network is not Network.OFFLINE

    def within(self, seconds: float, call: Callable[[], T]) -> T:  # noqa: ARG002
        return call()


@dataclass
class Line:
    """`ask` sends the scan to the service and compares its answer with the model's."""

    loop: asyncio.AbstractEventLoop
    connection: KnownNetwork
    ask: Callable[[Entry], Awaitable[str]] | None = None
    late: list[Entry] = field(default_factory=list[Entry])
    asked: list[Entry] = field(default_factory=list[Entry])

    def scan(self, entry: Entry, within: float) -> ScanAnswer:  # noqa: ARG002
        network = self.connection.network
        if network is Network.LATE:
            self.late.append(entry)
        if network in (Network.LATE, Network.REQUEST_LOST):
            raise APITimeoutError("The request was lost.")
        assert self.ask is not None
        self.asked.append(entry)
        verdict = asyncio.run_coroutine_threadsafe(_answer(self.ask(entry)), self.loop).result()
        if network is Network.ANSWER_LOST:
            raise APITimeoutError("The answer was lost.")
        return ScanAnswer(verdict, None, None, {})


async def _answer(asked: Awaitable[str]) -> str:
    return await asked
