"""Buckets of one process: never more calls than the limit, never fewer, for any clock and any callers."""

from itertools import accumulate
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepass.domain.limits import Buckets, Policy, Standing

policies = st.builds(Policy, st.just("default"), st.integers(1, 1000), st.integers(1, 500))
# Pauses between calls: mostly none, some long enough to refill.
pauses = st.lists(st.one_of(st.just(0.0), st.floats(0, 0.02), st.floats(0, 5)), min_size=1, max_size=200)

# Longer than a rounding error of floats, shorter than any client can wait.
A_MOMENT: Final = 1e-6


class Unfair(Buckets):
    """A mutant: a bucket is full again after each call."""

    def take(self, owner: object, policy: Policy, now: float) -> Standing:
        return super().take((owner, now), policy, now)


def admitted(buckets: Buckets, policy: Policy, pauses: list[float]) -> list[tuple[float, bool]]:
    """The time of each call, and whether it was allowed."""
    return [(now, buckets.take("key", policy, now).allowed) for now in accumulate(pauses)]


def is_within(policy: Policy, calls: list[tuple[float, bool]]) -> bool:
    """Whether any interval allows at most the burst and the tokens that flow in during it."""
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
    for owner in ("one", "two", "one", "three"):
        buckets.take(owner, policy, 0)
    assert not buckets.take("one", policy, 0).allowed
    assert not buckets.take("three", policy, 0).allowed
    assert buckets.take("two", policy, 0).allowed
