"""Buckets: never more than was promised, never less, whatever the clock and the callers do.

Those that several processes share are simulated: four processes, and a server that hears them late.
"""

from bisect import bisect
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatepass.domain import limits
from gatepass.domain.limits import PROCESSES, Buckets, Policy, Standing, Taken

policies = st.builds(Policy, st.just("default"), st.integers(1, 1000), st.integers(1, 500))
# Pauses between calls: mostly none, as in a rush, some long enough to refill.
pauses = st.lists(st.one_of(st.just(0.0), st.floats(0, 0.02), st.floats(0, 5)), min_size=1, max_size=200)

# Longer than what floats lose on the way, shorter than anybody can wait.
A_MOMENT: Final = 1e-6


class Unfair(Buckets):
    """A mutant: a bucket that has been looked at is full again."""

    def take(self, whose: object, policy: Policy, now: float) -> Standing:
        return super().take((whose, now), policy, now)


def admitted(buckets: Buckets, policy: Policy, pauses: list[float]) -> list[tuple[float, bool]]:
    """When each call came, and whether it was let in."""
    return [(now, buckets.take("key", policy, now).allowed) for now in accumulate(pauses)]


def is_within(policy: Policy, calls: list[tuple[float, bool]]) -> bool:
    """In any stretch of time no more are let in than the burst and what flows in meanwhile."""
    times = [now for now, allowed in calls if allowed]
    return all(
        count <= policy.burst + (end - start) * policy.per_second + 1e-6
        for first, start in enumerate(times)
        for count, end in enumerate(times[first:], 1)
    )


@given(policies, pauses)
def test_no_stretch_of_time_has_more_than_its_share(policy: Policy, pauses: list[float]) -> None:
    assert is_within(policy, admitted(Buckets(), policy, pauses))


def test_a_bucket_that_refills_itself_is_found_out() -> None:
    policy = Policy("default", 1, 2)
    assert not is_within(policy, admitted(Unfair(), policy, [0.001] * 50))


@given(policies, pauses)
def test_whoever_keeps_to_the_rate_is_never_refused(policy: Policy, pauses: list[float]) -> None:
    slow = [pause + 1 / policy.per_second + A_MOMENT for pause in pauses]
    assert all(allowed for _, allowed in admitted(Buckets(), policy, slow))


@given(policies)
def test_a_fresh_bucket_holds_its_burst_and_no_more(policy: Policy) -> None:
    calls = admitted(Buckets(), policy, [0.0] * (policy.burst + 3))
    assert [allowed for _, allowed in calls] == [True] * policy.burst + [False] * 3


@given(policies, pauses)
def test_retry_after_is_long_enough_and_not_a_second_too_long(policy: Policy, pauses: list[float]) -> None:
    buckets, now = Buckets(), 0.0
    for pause in pauses:
        now += pause
        standing = buckets.take("key", policy, now)
        if not standing.allowed:
            wait = standing.retry_after()
            assert (wait - 1) * policy.per_second < 1 - standing.tokens or wait == 1
            now += wait + A_MOMENT
            assert buckets.take("key", policy, now).allowed


@given(policies, st.floats(0, 1e7))
def test_who_waits_exactly_as_long_as_told_is_let_in(policy: Policy, now: float) -> None:
    buckets = Buckets()
    while (standing := buckets.take("key", policy, now)).allowed:
        pass
    for _ in range(20):
        now += (1 - standing.tokens) / policy.per_second
        standing = buckets.take("key", policy, now)
        assert standing.allowed


@given(policies, pauses)
def test_the_headers_tell_what_is_left(policy: Policy, pauses: list[float]) -> None:
    buckets, now = Buckets(), 0.0
    for pause in pauses:
        now += pause
        standing = buckets.take("key", policy, now)
        name, left, refill = standing.header().split(";")
        assert name == '"default"'
        assert 0 <= int(left.removeprefix("r=")) <= policy.burst - standing.allowed
        full = (policy.burst - standing.tokens) / policy.per_second
        assert full <= int(refill.removeprefix("t=")) < full + 1


@pytest.mark.parametrize(
    ("policy", "header"),
    [(Policy("default", 100, 200), '"default";q=200;w=2'), (Policy("scan", 25, 60), '"scan";q=60;w=3')],
)
def test_the_policy_is_a_quota_and_a_window(policy: Policy, header: str) -> None:
    assert policy.header() == header


@given(policies, st.floats(0, 1000))
def test_a_clock_that_goes_back_gives_nothing(policy: Policy, back: float) -> None:
    buckets = Buckets()
    for _ in range(policy.burst):
        assert buckets.take("key", policy, 1000).allowed
    assert not buckets.take("key", policy, 1000 - back).allowed
    assert not buckets.take("key", policy, 1000).allowed


def test_callers_do_not_share_a_bucket() -> None:
    policy, buckets = Policy("default", 1, 1), Buckets()
    assert buckets.take("one", policy, 0).allowed
    assert not buckets.take("one", policy, 0).allowed
    assert buckets.take("other", policy, 0).allowed


def test_the_least_recently_used_bucket_is_forgotten() -> None:
    policy, buckets = Policy("default", 1, 1), Buckets(most=2)
    for whose in ("one", "two", "one", "three"):
        buckets.take(whose, policy, 0)
    assert not buckets.take("one", policy, 0).allowed
    assert not buckets.take("three", policy, 0).allowed
    assert buckets.take("two", policy, 0).allowed


SLOW: Final = Policy("default", 2, 4)
FAST: Final = Policy("default", 100, 200)


def nobody_hurries() -> None:
    pass


def shared(most: int = 10) -> Buckets:
    buckets = Buckets(most)
    buckets.share(nobody_hurries)
    return buckets


def how_many(buckets: Buckets, policy: Policy, now: float = 0.0) -> int:
    """How many calls at this moment are let in."""
    count = 0
    while buckets.take("key", policy, now).allowed:
        count += 1
    return count


@pytest.mark.parametrize(("policy", "share"), [(SLOW, 1), (Policy("default", 25, 50), 6), (FAST, 25)])
def test_until_it_is_heard_a_process_gives_its_share_and_no_more(policy: Policy, share: int) -> None:
    buckets = shared()
    assert how_many(buckets, policy) == share
    assert buckets.take("key", policy, 0).header() == f'"default";r=0;t={policy.burst // policy.per_second:.0f}'
    [taken] = buckets.tell()
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
    [first] = buckets.tell()
    buckets.take("key", FAST, 0)
    buckets.take("key", FAST, 0)
    buckets.settle(first, 50, 0)
    assert buckets.take("key", FAST, 0).tokens == 50 - 3
    [second] = buckets.tell()
    assert (first.count, second.count) == (1, 3)
    buckets.settle(second, 40, 0)
    assert buckets.tell() == []
    assert buckets.take("key", FAST, 0).tokens == 40 - 1


def test_a_bucket_in_debt_says_zero_and_how_long_to_wait() -> None:
    buckets = shared()
    buckets.take("key", SLOW, 0)
    buckets.settle(buckets.tell()[0], -3, 10)
    refused = buckets.take("key", SLOW, 10)
    assert (refused.allowed, refused.header(), refused.retry_after()) == (False, '"default";r=0;t=4', 2)
    assert not buckets.take("key", SLOW, 11.9).allowed
    assert buckets.take("key", SLOW, 12).allowed


def test_alone_a_process_goes_on_with_what_it_knows_and_tells_nothing_twice() -> None:
    buckets = shared()
    buckets.take("key", FAST, 0)
    buckets.tell()
    buckets.take("key", FAST, 0)
    buckets.take("other", FAST, 0)
    buckets.keep_alone()
    assert how_many(buckets, FAST) == 200 - 2
    buckets.share(nobody_hurries)
    assert buckets.tell() == []
    assert how_many(buckets, FAST, now=60) == 25
    assert [taken.count for taken in buckets.tell()] == [25]


def test_a_forgotten_bucket_is_not_told() -> None:
    buckets = shared(most=2)
    for whose in ("one", "two", "three", "four", "three"):
        buckets.take(whose, FAST, 0)
    told = buckets.tell()
    assert [(taken.whose, taken.count) for taken in told] == [("three", 2), ("four", 1)]
    buckets.take("five", FAST, 0)
    for taken in told:
        buckets.settle(taken, 7, 0)
    assert buckets.take("three", FAST, 0).tokens == 6
    assert buckets.take("four", FAST, 0).tokens == 199


TICK: Final = 0.01
# Ticks between two tellings, as in `gatepass.api.sharing`.
EVERY: Final = 5


@dataclass
class Server:
    """The bucket of all, as the script in `gatepass.api.sharing` keeps it."""

    policy: Policy
    level: float = float("inf")
    at: float = 0.0

    def settle(self, count: int, now: float) -> float:
        refilled = self.level + (now - self.at) * self.policy.per_second
        self.level, self.at = min(self.policy.shared_burst(), refilled) - count, now
        return self.level


@dataclass
class Process:
    """It tells now and then, at once if in a hurry, and hears the answer `lag` ticks later."""

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
            told, self.hurried = self.buckets.tell(), False
            self.answers = [(taken, self.server.settle(taken.count, number * TICK)) for taken in told]
            self.next = number + (self.lag if told else EVERY)


@dataclass
class Four:
    """Four processes and their server, at one tick after the other."""

    policy: Policy
    lags: list[int]
    number: int = 0
    let_in: list[float] = field(default_factory=list[float])

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
            self.let_in.append(now)
        return allowed

    def hammer(self, processes: set[int], ticks: int) -> None:
        """As many calls as are let in, on each of these processes at every tick."""
        for _ in range(ticks):
            self.tick()
            for process in processes:
                while self.call(process, self.number * TICK):
                    pass


def most_in_ten_seconds(times: list[float]) -> int:
    return max((bisect(times, start + 10 - TICK / 2) - first for first, start in enumerate(times)), default=0)


# Four processes each let in the first call they see, so a key that may do less than four in a second gets them all.
shared_policies = policies.filter(lambda policy: policy.burst + policy.per_second >= PROCESSES)
slow_policies = st.builds(Policy, st.just("default"), st.integers(1, 8), st.integers(1, 16)).filter(
    lambda policy: policy.burst + policy.per_second >= PROCESSES
)
# Round trips from ten to two hundred milliseconds.
lags = st.lists(st.integers(1, 20), min_size=4, max_size=4)
# Who is hammered, and for how many ticks: moments and whole windows.
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
    assert most_in_ten_seconds(four.let_in) <= 11 * policy.per_second + policy.burst


@pytest.mark.parametrize("policy", [SLOW, FAST], ids=["slow", "fast"])
def test_the_worst_that_a_caller_can_do(policy: Policy) -> None:
    """One process at its full rate for ten seconds, then the three that have not heard of it, at once."""
    four = Four(policy, [1] * 4)
    four.hammer({0}, 995)
    four.hammer({0, 1, 2, 3}, 5)
    most = most_in_ten_seconds(four.let_in)
    assert 10 * policy.per_second + policy.burst < most <= 11 * policy.per_second + policy.burst


def test_processes_that_give_too_large_a_share_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PROCESSES", 1)
    four = Four(FAST, [1] * 4)
    four.hammer({0}, 995)
    four.hammer(everybody, 5)
    assert most_in_ten_seconds(four.let_in) > 1100 + 200


@settings(max_examples=60)
@given(st.one_of(slow_policies, policies), st.randoms(use_true_random=False), st.booleans())
def test_who_keeps_to_nine_tenths_of_the_rate_is_never_refused(policy: Policy, random: Random, spread: bool) -> None:
    four, now = Four(policy, [random.choice([1, 2]) for _ in everybody]), 0.0
    while now < 4:
        while (four.number + 1) * TICK <= now:
            four.tick()
        assert four.call(random.choice(range(4)) if spread else 0, now)
        now += 1 / (0.9 * policy.per_second)
