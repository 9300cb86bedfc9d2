"""Buckets that several processes share: four simulated processes, and a server that gets their reports late."""

from bisect import bisect
from dataclasses import dataclass, field
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatepass.domain import limits
from gatepass.domain.limits import PROCESSES, Buckets, Policy, Taken
from tests.domain.test_limits import policies

SLOW: Final = Policy("default", 2, 4)
FAST: Final = Policy("default", 100, 200)


def never_hurry() -> None:
    pass


def shared(most: int = 10) -> Buckets:
    buckets = Buckets(most)
    buckets.share(never_hurry)
    return buckets


def how_many(buckets: Buckets, policy: Policy, now: float = 0.0) -> int:
    """How many calls are allowed at this moment."""
    count = 0
    while buckets.take("key", policy, now).allowed:
        count += 1
    return count


@pytest.mark.parametrize(("policy", "share"), [(SLOW, 1), (Policy("default", 25, 50), 6), (FAST, 25)])
def test_until_it_is_heard_a_process_gives_its_share_and_no_more(policy: Policy, share: int) -> None:
    buckets = shared()
    assert how_many(buckets, policy) == share
    assert buckets.take("key", policy, 0).header() == f'"default";r=0;t={policy.burst // policy.per_second:.0f}'
    [taken] = buckets.report()
    assert taken.count == share
    assert how_many(buckets, policy) == 0
    buckets.settle(taken, policy.burst - share, 0)
    assert how_many(buckets, policy) == share


def test_a_process_hurries_before_its_share_is_used_up() -> None:
    hurried: list[None] = []
    buckets = Buckets()
    buckets.share(lambda: hurried.append(None))
    given_out = [buckets.take("key", FAST, 0).allowed for _ in range(12)]
    assert (all(given_out), hurried) == (True, [])
    buckets.take("key", FAST, 0)
    assert hurried


def test_what_is_taken_while_the_others_are_told_is_told_next() -> None:
    buckets = shared()
    buckets.take("key", FAST, 0)
    [first] = buckets.report()
    buckets.take("key", FAST, 0)
    buckets.take("key", FAST, 0)
    buckets.settle(first, 50, 0)
    assert buckets.take("key", FAST, 0).tokens == 50 - 3
    [second] = buckets.report()
    assert (first.count, second.count) == (1, 3)
    buckets.settle(second, 40, 0)
    assert buckets.report() == []
    assert buckets.take("key", FAST, 0).tokens == 40 - 1


def test_a_bucket_in_debt_says_zero_and_how_long_to_wait() -> None:
    buckets = shared()
    buckets.take("key", SLOW, 0)
    buckets.settle(buckets.report()[0], -3, 10)
    refused = buckets.take("key", SLOW, 10)
    assert (refused.allowed, refused.header(), refused.retry_after()) == (False, '"default";r=0;t=4', 2)
    assert not buckets.take("key", SLOW, 11.9).allowed
    assert buckets.take("key", SLOW, 12).allowed


def test_alone_a_process_goes_on_with_what_it_knows_and_tells_nothing_twice() -> None:
    buckets = shared()
    buckets.take("key", FAST, 0)
    buckets.report()
    buckets.take("key", FAST, 0)
    buckets.take("other", FAST, 0)
    buckets.unshare()
    assert how_many(buckets, FAST) == 200 - 2
    buckets.share(never_hurry)
    assert buckets.report() == []
    assert how_many(buckets, FAST, now=60) == 25
    assert [taken.count for taken in buckets.report()] == [25]


def test_a_forgotten_bucket_is_not_told() -> None:
    buckets = shared(most=2)
    for owner in ("one", "two", "three", "four", "three"):
        buckets.take(owner, FAST, 0)
    reported = buckets.report()
    assert [(taken.owner, taken.count) for taken in reported] == [("three", 2), ("four", 1)]
    buckets.take("five", FAST, 0)
    for taken in reported:
        buckets.settle(taken, 7, 0)
    assert buckets.take("three", FAST, 0).tokens == 6
    assert buckets.take("four", FAST, 0).tokens == 199


TICK: Final = 0.01
# Ticks between two reports, as in `gatepass.api.shared_limits`.
EVERY: Final = 5


@dataclass
class Server:
    """The shared bucket, as the script in `gatepass.api.shared_limits` keeps it."""

    policy: Policy
    level: float = float("inf")
    at: float = 0.0

    def settle(self, count: int, now: float) -> float:
        refilled = self.level + (now - self.at) * self.policy.per_second
        self.level, self.at = min(self.policy.shared_burst(), refilled) - count, now
        return self.level


@dataclass
class Process:
    """It reports every EVERY ticks, at once if in a hurry, and gets the answer `lag` ticks later."""

    server: Server
    lag: int
    next: int
    hurried: bool = False
    buckets: Buckets = field(default_factory=Buckets)
    answers: list[tuple[Taken, float]] = field(default_factory=list[tuple[Taken, float]])

    def __post_init__(self) -> None:
        self.buckets.share(self.hurry)

    def hurry(self) -> None:
        self.hurried = True

    def tick(self, number: int) -> None:
        if number >= self.next and self.answers:
            for taken, level in self.answers:
                self.buckets.settle(taken, level, number * TICK)
            self.answers, self.next = [], number + EVERY
        if not self.answers and (number >= self.next or self.hurried):
            reported, self.hurried = self.buckets.report(), False
            self.answers = [(taken, self.server.settle(taken.count, number * TICK)) for taken in reported]
            self.next = number + (self.lag if reported else EVERY)


@dataclass
class Four:
    """Four processes and their server, tick by tick."""

    policy: Policy
    lags: list[int]
    number: int = 0
    allowed_at: list[float] = field(default_factory=list[float])

    def __post_init__(self) -> None:
        server = Server(self.policy)
        self.processes = [Process(server, lag, phase) for phase, lag in enumerate(self.lags)]

    def tick(self) -> None:
        self.number += 1
        for process in self.processes:
            process.tick(self.number)

    def call(self, process: int, now: float) -> bool:
        allowed = self.processes[process].buckets.take("key", self.policy, now).allowed
        if allowed:
            self.allowed_at.append(now)
        return allowed

    def hammer(self, processes: set[int], ticks: int) -> None:
        """As many calls as are allowed, on each of these processes at every tick."""
        for _ in range(ticks):
            self.tick()
            for process in processes:
                while self.call(process, self.number * TICK):
                    pass


def most_in_ten_seconds(times: list[float]) -> int:
    return max((bisect(times, start + 10 - TICK / 2) - first for first, start in enumerate(times)), default=0)


# Each process allows the first call that it sees, so a key with fewer than four calls a second still gets four.
shared_policies = policies.filter(lambda policy: policy.burst + policy.per_second >= PROCESSES)
slow_policies = st.builds(Policy, st.just("default"), st.integers(1, 8), st.integers(1, 16)).filter(
    lambda policy: policy.burst + policy.per_second >= PROCESSES
)
# Round trips from ten to two hundred milliseconds.
lags = st.lists(st.integers(1, 20), min_size=4, max_size=4)
# The processes under load, and for how many ticks: moments and whole windows.
attacks = st.lists(
    st.tuples(st.sets(st.integers(0, 3)), st.sampled_from([1, 2, 5, 10, 20, 100, 300, 980])), min_size=3, max_size=6
)
everybody: Final = {0, 1, 2, 3}


@settings(max_examples=150)
@given(st.one_of(slow_policies, shared_policies), lags, attacks)
def test_four_processes_keep_the_promise(policy: Policy, lags: list[int], attacks: list[tuple[set[int], int]]) -> None:
    four = Four(policy, lags)
    for processes, ticks in attacks:
        four.hammer(processes, ticks)
    four.hammer(everybody, 20)
    assert most_in_ten_seconds(four.allowed_at) <= 11 * policy.per_second + policy.burst


@pytest.mark.parametrize("policy", [SLOW, FAST], ids=["slow", "fast"])
def test_the_worst_that_a_caller_can_do(policy: Policy) -> None:
    """One process at its full rate for ten seconds, then all three others at once, before its report reaches them."""
    four = Four(policy, [1] * 4)
    four.hammer({0}, 995)
    four.hammer({0, 1, 2, 3}, 5)
    most = most_in_ten_seconds(four.allowed_at)
    assert 10 * policy.per_second + policy.burst < most <= 11 * policy.per_second + policy.burst


def test_processes_that_give_too_large_a_share_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PROCESSES", 1)
    four = Four(FAST, [1] * 4)
    four.hammer({0}, 995)
    four.hammer(everybody, 5)
    assert most_in_ten_seconds(four.allowed_at) > 1100 + 200


@settings(max_examples=60)
@given(st.one_of(slow_policies, policies), st.randoms(use_true_random=False), st.booleans())
def test_who_keeps_to_nine_tenths_of_the_rate_is_never_refused(policy: Policy, chance: Random, spread: bool) -> None:
    four, now = Four(policy, [chance.choice([1, 2]) for _ in everybody]), 0.0
    while now < 4:
        while (four.number + 1) * TICK <= now:
            four.tick()
        assert four.call(chance.choice(range(4)) if spread else 0, now)
        now += 1 / (0.9 * policy.per_second)
