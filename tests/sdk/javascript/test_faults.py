"""A bad network between Node and the service: every verdict is true, and comes before the deadline.

In CI 500 scans; with GATEPASS_FULL=1 (`make sdk-js-full`) 5,000.
"""

import statistics
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gatepass_sdk import APIStatusError, GatepassError, ScanResult, errors
from tests.sdk.javascript.node import bundled, ran
from tests.sdk.network_faults import FAULTS
from tests.sdk.scan_run import (
    DEADLINE,
    TRY_TIMEOUT,
    RetryMonitor,
    Scan,
    activated_at,
    bad_network,
    unused_cards,
)
from tests.sdk.stack import Stack
from tests.sdk.test_faults import ALLOWANCE, REFUSED_CARDS, REFUSED_EVERY, SHARED_EVERY, contradictions, longest, show
from tests.size import NIGHT, sized

pytestmark = pytest.mark.alone

SCANS, GATES = sized(short=(500, 40), full=(5_000, 80))
# With it the short run meets every fault, too.
SEED = "a stadium"


@dataclass(frozen=True)
class Client:
    """Node with the SDK, or with a client that lies."""

    program: Path
    stack: Stack

    def scan(self, base_url: str, scans: list[Scan], gates: int, mutant: str | None = None) -> RetryMonitor:
        """Returns when every scan has ended. One with an error that has a key is sent again with it."""
        keys = [scan.error.idempotency_key if scan.error else None for scan in scans]
        plan = {
            "base_url": base_url,
            "api_key": self.stack.key("live"),
            "event_id": self.stack.event_id,
            "scan_deadline": DEADLINE,
            "try_timeout": TRY_TIMEOUT,
            "gates": gates,
            "mutant": mutant,
            "scans": [
                {"card_number": scan.card_number, "gate": scan.gate, "idempotency_key": key}
                for scan, key in zip(scans, keys, strict=True)
            ],
        }
        printed = ran(self.program, plan)
        for scan, ended in zip(scans, printed["scans"], strict=True):
            scan.seconds = ended["seconds"]
            scan.result, scan.error = read_result(ended), read_error(ended)
        return RetryMonitor(again=printed["again"], stall=printed["stall"])


def read_result(ended: dict[str, Any]) -> ScanResult | None:
    return None if ended["result"] is None else ScanResult(**ended["result"])


def read_error(ended: dict[str, Any]) -> GatepassError | None:
    """The error of the same name of the SDK for Python."""
    said = ended["error"]
    if said is None:
        return None
    kind: type[GatepassError] = getattr(errors, said["name"])
    if issubclass(kind, APIStatusError):
        error: GatepassError = kind(said["message"], status=said["status"], code=said["code"])
    else:
        error = kind(said["message"])
    error.outcome_unknown, error.idempotency_key = ended["outcome_unknown"], ended["idempotency_key"]
    return error


@pytest.fixture(scope="module")
def client(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Client:
    return Client(bundled("fault_run.mts", tmp_path_factory.mktemp("fault-run")), stack)


def test_every_verdict_is_true_whatever_the_network_does(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    scans = planned(client.stack)
    with bad_network(client.stack, SEED) as network:
        monitor = client.scan(network.base_url, scans, GATES)
    with capsys.disabled():
        show(network.faults)
        show_calls(scans, monitor)
    assert contradictions(client.stack, scans, [monitor]) == []
    assert contradictions_when_asked_again(client, [scan for scan in scans if scan.is_unknown]) == []
    if NIGHT:
        assert longest(scans) < DEADLINE + ALLOWANCE + monitor.stall
    assert FAULTS.keys() <= network.faults.keys()


def planned(stack: Stack) -> list[Scan]:
    """Two scans of a shared card follow each other, so that they race."""
    cards = unused_cards(stack, SCANS)
    refused = [stack.demo["cards"][name]["card_number"] for name in REFUSED_CARDS]
    scans: list[Scan] = []
    for n in range(SCANS):
        number = refused[n // REFUSED_EVERY % len(refused)] if n % REFUSED_EVERY == 0 else cards[n]
        scans.append(Scan(scans[-1].card_number if n % SHARED_EVERY == 1 else number, f"node {n}", "async"))
    return scans


def contradictions_when_asked_again(client: Client, unknown: list[Scan]) -> list[str]:
    """Sent again with its key, each scan with an unknown outcome must get the outcome that it had."""
    before = activated_at(client.stack)
    answered = [replace(scan) for scan in unknown]
    client.scan(client.stack.base_url, answered, 4)
    found = contradictions(client.stack, answered, [])
    for scan in answered:
        was_ours = scan.gate in before.get(scan.card_number, [])
        if scan.is_unknown or was_ours != (scan.result is not None and scan.result.replayed):
            found.append(f"{scan.card_number} at {scan.gate}: answered as {scan.verdict}, was activated: {was_ours}")
    return found


def show_calls(scans: list[Scan], monitor: RetryMonitor) -> None:
    print(f"{len(scans):,} calls from Node, {GATES} at a time")
    for verdict, count in Counter(scan.verdict for scan in scans).most_common():
        print(f"  {count:6,}  {verdict}")
    centiles = statistics.quantiles([scan.seconds for scan in scans], n=100)
    print(f"  p50 {centiles[49]:.3f} s, p99 {centiles[98]:.3f} s, max {longest(scans):.3f} s of {DEADLINE} s")
    print(f"  the machine itself woke sleepers up to {monitor.stall:.3f} s late")


@pytest.mark.parametrize(
    ("mutant", "contradiction"),
    [
        ("new keys", "AlreadyUsed"),
        ("asks again about 409", "a 409 was asked about again"),
        ("any 200 is a yes", "activated, None; activated at None"),
    ],
)
def test_a_client_that_lies_is_caught(client: Client, mutant: str, contradiction: str) -> None:
    special = [client.stack.demo["cards"][name]["card_number"] for name in REFUSED_CARDS]
    cards = unused_cards(client.stack, 150) + special * 5
    scans = [Scan(number, f"{mutant} {number}", "async") for number in cards]
    with bad_network(client.stack, mutant) as network:
        monitor = client.scan(network.base_url, scans, 30, mutant)
    found = contradictions(client.stack, scans, [monitor])
    assert [one for one in found if contradiction in one] != []
