"""Scans through a bad network, and their results."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2
import psycopg

from gatepass_sdk import AsyncGatepass, Gatepass, GatepassError, ScanResult
from tests.sdk.stack import Stack

DEADLINE = 2.0
# Far more than the service takes, far less than a gate waits: a silent try must leave time for another.
TRY_TIMEOUT = 0.4
TICK = 0.01


@dataclass
class Scan:
    """One call. Its gate identifies it in the service's records."""

    card_number: str
    gate: str
    kind: str
    result: ScanResult | None = None
    error: GatepassError | None = None
    seconds: float = 0.0

    @property
    def verdict(self) -> str:
        if self.result is not None:
            return "activated, by an earlier try" if self.result.replayed else "activated"
        return f"{type(self.error).__name__}{', outcome unknown' if self.is_unknown else ''}"

    @property
    def is_unknown(self) -> bool:
        return self.error is not None and self.error.outcome_unknown

    @contextmanager
    def timed(self) -> Generator[None]:
        began = time.monotonic()
        try:
            yield
        except GatepassError as error:
            self.error = error
        finally:
            self.seconds = time.monotonic() - began


@dataclass
class BadNetwork:
    base_url: str
    faults: dict[str, int] = field(default_factory=dict[str, int])


@contextmanager
def bad_network(stack: Stack, seed: str) -> Generator[BadNetwork]:
    """The service behind the proxy. At the end `faults` has the count of each fault."""
    at = urlsplit(stack.base_url)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.sdk.fault_proxy", str(at.port), seed],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        network = BadNetwork(urlunsplit(at._replace(netloc=f"127.0.0.1:{port}")))
        try:
            yield network
        finally:
            printed, _ = process.communicate(timeout=60)
        network.faults.update(json.loads(printed))


def scan_from_threads(stack: Stack, base_url: str, scans: Iterable[Scan], gates: int) -> "RetryMonitor":
    """One synchronous client for all threads. Returns when every scan has ended."""
    monitor = RetryMonitor()
    hooks = {"request": [monitor.sent], "response": [monitor.received]}
    waiting = iter(scans)
    with httpx2.Client(event_hooks=hooks) as http, ThreadPoolExecutor(gates) as pool:
        client = Gatepass(stack.key("live"), base_url=base_url, scan_deadline=DEADLINE, http_client=http)
        client._use(client._exchange.with_policy(try_timeout=TRY_TIMEOUT))

        def gate(scans: Iterator[Scan]) -> None:
            for scan in scans:
                with scan.timed():
                    scan.result = client.scans.create(stack.event_id, **_arguments(scan))

        done = threading.Event()
        stall_meter = threading.Thread(target=monitor.measure_stall, args=[done])
        stall_meter.start()
        for ended in [pool.submit(gate, waiting) for _ in range(gates)]:
            ended.result()
        done.set()
        stall_meter.join()
    return monitor


async def scan_from_tasks(stack: Stack, base_url: str, scans: Iterable[Scan], gates: int) -> "RetryMonitor":
    """One asynchronous client and as many tasks."""
    monitor = RetryMonitor()
    hooks = {"request": [monitor.async_sent], "response": [monitor.async_received]}
    waiting = iter(scans)
    async with httpx2.AsyncClient(event_hooks=hooks) as http:
        client = AsyncGatepass(stack.key("live"), base_url=base_url, scan_deadline=DEADLINE, http_client=http)
        client._use(client._exchange.with_policy(try_timeout=TRY_TIMEOUT))

        async def gate() -> None:
            for scan in waiting:
                with scan.timed():
                    scan.result = await client.scans.create(stack.event_id, **_arguments(scan))

        stall_meter = asyncio.ensure_future(monitor.async_measure_stall())
        await asyncio.gather(*[gate() for _ in range(gates)])
        stall_meter.cancel()
    return monitor


def _arguments(scan: Scan) -> dict[str, Any]:
    return {"card_number": scan.card_number, "gate": scan.gate, "scanner_id": scan.kind}


@dataclass
class RetryMonitor:
    """Records the keys that a client retried although it had received a complete 409, with time left to read it."""

    # By idempotency key: until when the try that got the 409 had time.
    refused: dict[str, float] = field(default_factory=dict[str, float])
    again: list[str] = field(default_factory=list[str])
    # How late the machine woke a task that only sleeps.
    stall: float = 0.0

    def measure_stall(self, done: threading.Event) -> None:
        began = time.monotonic()
        while not done.wait(TICK):
            self.stall = max(self.stall, time.monotonic() - began - TICK)
            began = time.monotonic()

    async def async_measure_stall(self) -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(TICK)
            self.stall = max(self.stall, time.monotonic() - began - TICK)

    def sent(self, request: httpx2.Request) -> None:
        key = request.headers["idempotency-key"]
        if time.monotonic() < self.refused.get(key, 0.0):
            self.again.append(key)

    def received(self, response: httpx2.Response) -> None:
        if response.status_code == 409 and "x-fault" in response.headers:
            response.read()
            self._remember(response.request)

    async def async_sent(self, request: httpx2.Request) -> None:
        self.sent(request)

    async def async_received(self, response: httpx2.Response) -> None:
        if response.status_code == 409 and "x-fault" in response.headers:
            await response.aread()
            self._remember(response.request)

    def _remember(self, request: httpx2.Request) -> None:
        left = request.extensions["timeout"]["read"]
        self.refused[request.headers["idempotency-key"]] = time.monotonic() + left


def ask_again(stack: Stack, scans: Iterable[Scan]) -> list[Scan]:
    """Repeat these scans on a good network, each with its own key."""
    answered: list[Scan] = []
    with Gatepass(stack.key("live"), base_url=stack.base_url) as client:
        for scan in scans:
            assert scan.error is not None
            again = Scan(scan.card_number, scan.gate, scan.kind)
            key = scan.error.idempotency_key
            with again.timed():
                again.result = client.scans.create(stack.event_id, **_arguments(scan), idempotency_key=key)
            answered.append(again)
    return answered


def unused_cards(stack: Stack, count: int) -> list[str]:
    with psycopg.connect(stack.database_url) as connection:
        return [number for (number,) in connection.execute(UNUSED, [stack.event_id, count])]


def activated_at(stack: Stack) -> dict[str, list[str]]:
    """For each card the gates at which its ticket was activated. There must be only one."""
    with psycopg.connect(stack.database_url) as connection:
        return dict(connection.execute(ACTIVATED, [stack.event_id]).fetchall())


def tickets_in_use(stack: Stack) -> set[str]:
    with psycopg.connect(stack.database_url) as connection:
        return {number for (number,) in connection.execute(IN_USE, [stack.event_id])}


UNUSED = """
    SELECT card.number
      FROM ticket
      JOIN card ON card.organization_id = ticket.organization_id AND card.id = ticket.card_id
     WHERE ticket.event_id = %s
       AND ticket.activated_at IS NULL
       AND ticket.cancelled_at IS NULL
       AND card.status = 'active'
     ORDER BY card.number
     LIMIT %s
"""
IN_USE = """
    SELECT card.number
      FROM ticket
      JOIN card ON card.organization_id = ticket.organization_id AND card.id = ticket.card_id
     WHERE ticket.event_id = %s
       AND ticket.activated_at IS NOT NULL
"""
ACTIVATED = """
    SELECT card_number, array_agg(gate)
      FROM scan
     WHERE event_id = %s
       AND verdict = 'activated'
     GROUP BY card_number
"""
