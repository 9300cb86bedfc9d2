"""The plan: complete, the same for the same seed, and never a pair that undoes itself."""

from itertools import islice

import pytest

from tests.ha.faults.catalogue import KINDS
from tests.ha.faults.kind import MACHINE, UNNOTICED
from tests.ha.lab.lab import WAYS
from tests.ha.runs import plan
from tests.ha.runs.plan import Round


def first(seed: int, number: int = 200) -> list[Round]:
    return list(islice(plan.rounds(seed), number))


def test_there_are_more_than_twenty_kinds_and_each_is_explained() -> None:
    assert len(KINDS) > 20
    assert all(kind.what and kind.bound > 0 for kind in KINDS.values())


def test_a_seed_decides() -> None:
    assert first(1) == first(1)
    assert [one.names for one in first(1)] != [one.names for one in first(2)]


def test_a_plan_goes_on_from_a_round() -> None:
    assert list(islice(plan.rounds(7, 50), 20)) == first(7)[50:70]
    assert [one.number for one in first(7)] == list(range(200))


def test_a_cycle_has_every_kind_alone_and_in_a_pair() -> None:
    alone = [one.names[0] for one in first(3, len(KINDS))]
    assert sorted(alone) == sorted(KINDS)
    cycle = first(3, len(KINDS) + len(KINDS) // 2 + len(KINDS) % 2)
    assert {name for one in cycle if len(one.names) == 2 for name in one.names} == set(KINDS)


@pytest.mark.parametrize("seed", range(20))
def test_two_faults_of_a_pair_break_different_parts_within_five_seconds(seed: int) -> None:
    pairs = [one for one in first(seed) if len(one.names) == 2]
    assert len(pairs) > 40
    for one in pairs:
        assert one.kinds[0].part != one.kinds[1].part
        assert 0 <= one.delay <= plan.LATEST


def test_without_a_majority_no_bound_holds_before_the_mending() -> None:
    both = Round(0, 0, ("node-killed", "replica-killed"), 1.0)
    assert both.waits_for_mending
    assert both.stopped() == set(WAYS)
    one = Round(0, 0, ("node-killed", "haproxy-killed"), 1.0)
    assert not one.waits_for_mending
    assert one.bound("haproxy") == pytest.approx(1.0 + MACHINE + 3.0)


def test_a_frozen_process_stops_its_own_way_only() -> None:
    frozen = Round(0, 0, ("api-frozen",))
    assert frozen.stopped() == {"multihost"}
    assert frozen.bound("haproxy") == UNNOTICED
    assert frozen.bound("multihost") == KINDS["api-frozen"].bound


@pytest.mark.parametrize("seed", range(20))
def test_a_part_begins_with_one_machine_and_goes_on_with_what_is_cheap(seed: int) -> None:
    machine, *cheap = plan.part(seed)
    assert machine.kinds[0].bound == MACHINE
    assert all(one.kinds[0].bound < MACHINE for one in cheap)
    assert plan.part(seed) == [machine, *cheap]


def test_parts_of_different_seeds_reach_every_kind() -> None:
    drawn = {one.names[0] for seed in range(300) for one in plan.part(seed)[:4]}
    assert drawn == set(KINDS)
