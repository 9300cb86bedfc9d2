"""A bad network between the client and the service: every verdict is true, and comes before the deadline."""

import asyncio
import statistics
from collections import Counter
from collections.abc import Iterable

import pytest

from gatepass_sdk import AlreadyUsed, APIStatusError, ScanResult
from gatepass_sdk._call import Answer, Call
from gatepass_sdk._retry import Tries
from tests.sdk.scan_run import (
    DEADLINE,
    RetryMonitor,
    Scan,
    activated_at,
    ask_again,
    bad_network,
    scan_from_tasks,
    scan_from_threads,
    tickets_in_use,
    unused_cards,
)
from tests.sdk.stack import Stack
from tests.size import NIGHT

pytestmark = pytest.mark.alone

SCANS = 5000
# Every 8th card is shown to two gates at once, and every 25th is always refused.
SHARED_EVERY = 8
REFUSED_EVERY = 25
GATES = 80
# Time past the deadline to give up, close and raise, besides the measured stall of the machine.
ALLOWANCE = 0.25
# The code with which the service refuses the demo's special cards.
REFUSED_CARDS = {
    "activated": "already_activated",
    "suspended": "card_suspended",
    "revoked": "card_revoked",
    "no_ticket": "ticket_not_found",
}


async def test_every_verdict_is_true_whatever_the_network_does(
    large_stack: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    threads, tasks = planned(large_stack, "sync", "thread"), planned(large_stack, "async", "task")
    with bad_network(large_stack, "a stadium") as network:
        # One after the other: at the same time in one interpreter, each would delay the other.
        from_threads = await asyncio.to_thread(scan_from_threads, large_stack, network.base_url, threads, GATES)
        from_tasks = await scan_from_tasks(large_stack, network.base_url, tasks, GATES)
    with capsys.disabled():
        show(network.faults)
        show_calls("threads", threads, from_threads)
        show_calls("tasks", tasks, from_tasks)
    scans = threads + tasks
    assert contradictions(large_stack, scans, [from_threads, from_tasks]) == []
    assert contradictions_when_asked_again(large_stack, [scan for scan in scans if scan.is_unknown]) == []
    if NIGHT:
        assert longest(threads) < DEADLINE + ALLOWANCE + from_threads.stall
        assert longest(tasks) < DEADLINE + ALLOWANCE + from_tasks.stall
    assert min(network.faults.values()) > 0


def planned(stack: Stack, kind: str, gate: str) -> list[Scan]:
    """Half of the scans. Two scans of a shared card follow each other, so that they race."""
    cards = unused_cards(stack, SCANS)[:: 2 if kind == "sync" else -2]
    refused = [stack.demo["cards"][name]["card_number"] for name in REFUSED_CARDS]
    scans: list[Scan] = []
    for n in range(SCANS // 2):
        number = refused[n // REFUSED_EVERY % len(refused)] if n % REFUSED_EVERY == 0 else cards[n]
        scans.append(Scan(scans[-1].card_number if n % SHARED_EVERY == 1 else number, f"{gate} {n}", kind))
    return scans


def longest(scans: list[Scan]) -> float:
    return max(scan.seconds for scan in scans)


def contradictions(stack: Stack, scans: Iterable[Scan], monitors: Iterable[RetryMonitor]) -> list[str]:
    """The results of calls that contradict the service's records."""
    gates = activated_at(stack)
    refused = {stack.demo["cards"][name]["card_number"]: code for name, code in REFUSED_CARDS.items()}
    found = [f"{card} was activated at {where}" for card, where in gates.items() if len(where) > 1]
    found += [f"{card} is in use, and no scan says why" for card in tickets_in_use(stack) - gates.keys()]
    found += [f"a 409 was asked about again: {key}" for one in monitors for key in one.again]
    for scan in scans:
        code = scan.error.code if isinstance(scan.error, APIStatusError) else None
        was_activated_here = scan.gate in gates.get(scan.card_number, [])
        match scan:
            case Scan(result=ScanResult()):
                is_true = was_activated_here
            case Scan(error=AlreadyUsed()):
                is_true = scan.card_number in gates and not was_activated_here
            case Scan(is_unknown=True):
                is_true = True
            case _:
                is_true = not was_activated_here
        if code in REFUSED_CARDS.values() and code != "already_activated":
            is_true = is_true and refused.get(scan.card_number) == code
        if not is_true:
            where = gates.get(scan.card_number)
            found.append(f"{scan.card_number} at {scan.gate}: {scan.verdict}, {scan.error}; activated at {where}")
    return found


def contradictions_when_asked_again(stack: Stack, unknown: list[Scan]) -> list[str]:
    """Sent again with its key, each scan with an unknown outcome must get the outcome that it had."""
    before = activated_at(stack)
    answered = ask_again(stack, unknown)
    found = contradictions(stack, answered, [])
    for scan in answered:
        was_ours = scan.gate in before.get(scan.card_number, [])
        if scan.is_unknown or was_ours != (scan.result is not None and scan.result.replayed):
            found.append(f"{scan.card_number} at {scan.gate}: answered as {scan.verdict}, was activated: {was_ours}")
    return found


def show(faults: dict[str, int]) -> None:
    print("\n\nrequests by what the network did")
    for name, count in sorted(faults.items(), key=lambda one: -one[1]):
        print(f"  {count:6,}  {name}")


def show_calls(kind: str, scans: list[Scan], monitor: RetryMonitor) -> None:
    print(f"{len(scans):,} calls from {kind}, {GATES} at a time")
    for verdict, count in Counter(scan.verdict for scan in scans).most_common():
        print(f"  {count:6,}  {verdict}")
    centiles = statistics.quantiles([scan.seconds for scan in scans], n=100)
    print(f"  p50 {centiles[49]:.3f} s, p99 {centiles[98]:.3f} s, max {longest(scans):.3f} s of {DEADLINE} s")
    print(f"  the machine itself woke sleepers up to {monitor.stall:.3f} s late")


# Three clients that would harm a gate. `contradictions` must catch each.


def with_a_new_key_for_each_try(patch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace
    from uuid import uuid4

    from gatepass_sdk._async.exchange import AsyncExchange

    request = AsyncExchange._request

    def forgetful(self: AsyncExchange, call: Call[object]) -> object:
        return request(self, replace(call, idempotency_key=str(uuid4())))

    patch.setattr(AsyncExchange, "_request", forgetful)


def that_asks_again_about_409(patch: pytest.MonkeyPatch) -> None:
    after_refusal = Tries.after_refusal

    def stubborn(self: Tries, answer: Answer) -> float:
        if answer.status == 409 and (wait := self._wait(None)) is not None:
            return wait
        return after_refusal(self, answer)

    patch.setattr(Tries, "after_refusal", stubborn)


def that_takes_any_200_for_a_yes(patch: pytest.MonkeyPatch) -> None:
    from gatepass_sdk._async import scans

    patch.setattr(Answer, "is_from_service", True)
    patch.setattr(scans, "read", lambda *_: ScanResult(ticket_id="", tier="", category_name=""))


@pytest.mark.parametrize(
    ("mutate", "contradiction"),
    [
        (with_a_new_key_for_each_try, "AlreadyUsed"),
        (that_asks_again_about_409, "a 409 was asked about again"),
        (that_takes_any_200_for_a_yes, "activated, None; activated at None"),
    ],
)
async def test_a_client_that_lies_is_caught(
    large_stack: Stack, monkeypatch: pytest.MonkeyPatch, mutate, contradiction: str
) -> None:
    special = [large_stack.demo["cards"][name]["card_number"] for name in REFUSED_CARDS]
    tasks = [
        Scan(number, f"{mutate.__name__} {number}", "async") for number in unused_cards(large_stack, 150) + special * 5
    ]
    mutate(monkeypatch)
    with bad_network(large_stack, mutate.__name__) as network:
        monitor = await scan_from_tasks(large_stack, network.base_url, tasks, 30)
    found = contradictions(large_stack, tasks, [monitor])
    assert [one for one in found if contradiction in one] != []
