"""A bad network between the client and the service: what a call says is true, and it says it in time."""

import asyncio
import statistics
from collections import Counter
from collections.abc import Iterable

import pytest

from gatepass_sdk import AlreadyUsed, APIStatusError, ScanResult
from gatepass_sdk._call import Answer, Call
from gatepass_sdk._retrying import Tries
from tests.sdk.scanning import (
    DEADLINE,
    Asked,
    Scan,
    activated_at,
    bad_network,
    scan_from_tasks,
    scan_from_threads,
    settle,
    tickets_in_use,
    unused_cards,
)
from tests.sdk.stack import Stack

pytestmark = pytest.mark.alone

SCANS = 5000
# One card in so many is shown to two gates at once, and one in so many can never get in.
SHARED = 8
HOPELESS = 25
GATES = 80
# Past the deadline, beside what the machine itself was seen to oversleep: to give up, close and raise takes a moment.
ALLOWANCE = 0.25
# What the service says of the demo's special cards, whoever asks.
HOPELESS_CARDS = {
    "activated": "already_activated",
    "suspended": "card_suspended",
    "revoked": "card_revoked",
    "no_ticket": "ticket_not_found",
}


async def test_every_verdict_is_true_whatever_the_network_does(hall: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    threads, tasks = planned(hall, "sync", "thread"), planned(hall, "async", "task")
    with bad_network(hall, "a stadium") as network:
        # One after the other: in one interpreter each would slow the other's clock.
        from_threads = await asyncio.to_thread(scan_from_threads, hall, network.base_url, threads, GATES)
        from_tasks = await scan_from_tasks(hall, network.base_url, tasks, GATES)
    with capsys.disabled():
        show(network.faults)
        show_calls("threads", threads, from_threads)
        show_calls("tasks", tasks, from_tasks)
    scans = threads + tasks
    assert lies(hall, scans, [from_threads, from_tasks]) == []
    assert lies_when_settled(hall, [scan for scan in scans if scan.is_unknown]) == []
    assert longest(threads) < DEADLINE + ALLOWANCE + from_threads.stall
    assert longest(tasks) < DEADLINE + ALLOWANCE + from_tasks.stall
    assert min(network.faults.values()) > 0


def planned(hall: Stack, kind: str, gate: str) -> list[Scan]:
    """Half of the scans. Two gates that share a card are neighbours, so that they meet."""
    cards = unused_cards(hall, SCANS)[:: 2 if kind == "sync" else -2]
    hopeless = [hall.demo["cards"][name]["card_number"] for name in HOPELESS_CARDS]
    scans: list[Scan] = []
    for n in range(SCANS // 2):
        number = hopeless[n // HOPELESS % len(hopeless)] if n % HOPELESS == 0 else cards[n]
        scans.append(Scan(scans[-1].card_number if n % SHARED == 1 else number, f"{gate} {n}", kind))
    return scans


def longest(scans: list[Scan]) -> float:
    return max(scan.seconds for scan in scans)


def lies(hall: Stack, scans: Iterable[Scan], asked: Iterable[Asked]) -> list[str]:
    """Everything that a call said and the service's records deny."""
    gates = activated_at(hall)
    hopeless = {hall.demo["cards"][name]["card_number"]: code for name, code in HOPELESS_CARDS.items()}
    found = [f"{card} was activated at {where}" for card, where in gates.items() if len(where) > 1]
    found += [f"{card} is in use, and no scan says why" for card in tickets_in_use(hall) - gates.keys()]
    found += [f"a 409 was asked about again: {key}" for one in asked for key in one.again]
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
        if code in HOPELESS_CARDS.values() and code != "already_activated":
            is_true = is_true and hopeless.get(scan.card_number) == code
        if not is_true:
            where = gates.get(scan.card_number)
            found.append(f"{scan.card_number} at {scan.gate}: {scan.verdict}, {scan.error}; activated at {where}")
    return found


def lies_when_settled(hall: Stack, unknown: list[Scan]) -> list[str]:
    """Asked again with its key, each scan whose outcome was unknown says what it had been."""
    before = activated_at(hall)
    settled = settle(hall, unknown)
    found = lies(hall, settled, [])
    for scan in settled:
        was_ours = scan.gate in before.get(scan.card_number, [])
        if scan.is_unknown or was_ours != (scan.result is not None and scan.result.replayed):
            found.append(f"{scan.card_number} at {scan.gate}: settled as {scan.verdict}, was activated: {was_ours}")
    return found


def show(faults: dict[str, int]) -> None:
    print("\n\nrequests by what the network did")
    for name, count in sorted(faults.items(), key=lambda one: -one[1]):
        print(f"  {count:6,}  {name}")


def show_calls(kind: str, scans: list[Scan], asked: Asked) -> None:
    print(f"{len(scans):,} calls from {kind}, {GATES} at a time")
    for verdict, count in Counter(scan.verdict for scan in scans).most_common():
        print(f"  {count:6,}  {verdict}")
    centiles = statistics.quantiles([scan.seconds for scan in scans], n=100)
    print(f"  p50 {centiles[49]:.3f} s, p99 {centiles[98]:.3f} s, max {longest(scans):.3f} s of {DEADLINE} s")
    print(f"  the machine itself woke sleepers up to {asked.stall:.3f} s late")


# Three clients that would hurt a gate. The judge above must catch each.


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

    patch.setattr(Answer, "is_ours", True)
    patch.setattr(scans, "read", lambda *_: ScanResult(ticket_id="", tier="", category_name=""))


@pytest.mark.parametrize(
    ("mutate", "lie"),
    [
        (with_a_new_key_for_each_try, "AlreadyUsed"),
        (that_asks_again_about_409, "a 409 was asked about again"),
        (that_takes_any_200_for_a_yes, "activated, None; activated at None"),
    ],
)
async def test_a_client_that_lies_is_caught(hall: Stack, monkeypatch: pytest.MonkeyPatch, mutate, lie: str) -> None:
    special = [hall.demo["cards"][name]["card_number"] for name in HOPELESS_CARDS]
    tasks = [Scan(number, f"{mutate.__name__} {number}", "async") for number in unused_cards(hall, 150) + special * 5]
    mutate(monkeypatch)
    with bad_network(hall, mutate.__name__) as network:
        asked = await scan_from_tasks(hall, network.base_url, tasks, 30)
    found = lies(hall, tasks, [asked])
    assert [one for one in found if lie in one] != []
