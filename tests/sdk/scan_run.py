"""Scans through a bad network, and what they came to."""

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
# Far above what the service takes, far below what a gate would wait: silence must leave time for another try.
TRY_TIMEOUT = 0.4
NAP = 0.01


@dataclass
class Scan:
    """One call. Its gate names it in the service's records."""

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
class Network:
    base_url: str
    faults: dict[str, int] = field(default_factory=dict[str, int])


@contextmanager
def bad_network(stack: Stack, seed: str) -> Generator[Network]:
    """The service, seen through the proxy; `faults` is what happened, once it is over."""
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
        network = Network(urlunsplit(at._replace(netloc=f"127.0.0.1:{port}")))
        try:
            yield network
        finally:
            told, _ = process.communicate(timeout=20)
        network.faults.update(json.loads(told))


def scan_from_threads(stack: Stack, base_url: str, scans: Iterable[Scan], gates: int) -> "Asked":
    """Synchronous clients, one for all threads; it returns when every scan has ended."""
    asked = Asked()
    hooks = {"request": [asked.sent], "response": [asked.heard]}
    waiting = iter(scans)
    with httpx2.Client(event_hooks=hooks) as http, ThreadPoolExecutor(gates) as pool:
        client = Gatepass(stack.key("live"), base_url=base_url, scan_deadline=DEADLINE, http_client=http)
        client._use(client._exchange.but(try_timeout=TRY_TIMEOUT))

        def gate(scans: Iterator[Scan]) -> None:
            for scan in scans:
                with scan.timed():
                    scan.result = client.scans.create(stack.event_id, **_arguments(scan))

        done = threading.Event()
        sleeper = threading.Thread(target=asked.doze, args=[done])
        sleeper.start()
        for ended in [pool.submit(gate, waiting) for _ in range(gates)]:
            ended.result()
        done.set()
        sleeper.join()
    return asked


async def scan_from_tasks(stack: Stack, base_url: str, scans: Iterable[Scan], gates: int) -> "Asked":
    """An asynchronous client and as many tasks."""
    asked = Asked()
    hooks = {"request": [asked.async_sent], "response": [asked.async_heard]}
    waiting = iter(scans)
    async with httpx2.AsyncClient(event_hooks=hooks) as http:
        client = AsyncGatepass(stack.key("live"), base_url=base_url, scan_deadline=DEADLINE, http_client=http)
        client._use(client._exchange.but(try_timeout=TRY_TIMEOUT))

        async def gate() -> None:
            for scan in waiting:
                with scan.timed():
                    scan.result = await client.scans.create(stack.event_id, **_arguments(scan))

        sleeper = asyncio.ensure_future(asked.async_doze())
        await asyncio.gather(*[gate() for _ in range(gates)])
        sleeper.cancel()
    return asked


def _arguments(scan: Scan) -> dict[str, Any]:
    return {"card_number": scan.card_number, "gate": scan.gate, "scanner_id": scan.kind}


@dataclass
class Asked:
    """Looks over a client's shoulder: was a 409 that came whole asked about again?"""

    refused: set[str] = field(default_factory=set[str])
    again: list[str] = field(default_factory=list[str])
    # How late the machine woke somebody who asked for nothing but to be woken.
    stall: float = 0.0

    def doze(self, done: threading.Event) -> None:
        began = time.monotonic()
        while not done.wait(NAP):
            self.stall = max(self.stall, time.monotonic() - began - NAP)
            began = time.monotonic()

    async def async_doze(self) -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(NAP)
            self.stall = max(self.stall, time.monotonic() - began - NAP)

    def sent(self, request: httpx2.Request) -> None:
        if (key := request.headers["idempotency-key"]) in self.refused:
            self.again.append(key)

    def heard(self, response: httpx2.Response) -> None:
        if response.status_code == 409 and "x-fault" in response.headers:
            response.read()
            self.refused.add(response.request.headers["idempotency-key"])

    async def async_sent(self, request: httpx2.Request) -> None:
        self.sent(request)

    async def async_heard(self, response: httpx2.Response) -> None:
        if response.status_code == 409 and "x-fault" in response.headers:
            await response.aread()
            self.refused.add(response.request.headers["idempotency-key"])


def settle(stack: Stack, scans: Iterable[Scan]) -> list[Scan]:
    """Ask again about these, on a good network, each with its own key."""
    settled: list[Scan] = []
    with Gatepass(stack.key("live"), base_url=stack.base_url) as client:
        for scan in scans:
            assert scan.error is not None
            again = Scan(scan.card_number, scan.gate, scan.kind)
            key = scan.error.idempotency_key
            with again.timed():
                again.result = client.scans.create(stack.event_id, **_arguments(scan), idempotency_key=key)
            settled.append(again)
    return settled


def unused_cards(stack: Stack, count: int) -> list[str]:
    with psycopg.connect(stack.database_url) as connection:
        return [number for (number,) in connection.execute(UNUSED, [stack.event_id, count])]


def activated_at(stack: Stack) -> dict[str, list[str]]:
    """For each card the gates at which its ticket was activated: one, if all is well."""
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
