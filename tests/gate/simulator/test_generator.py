"""A scenario comes from its seed alone, and the seeds together have everything that goes wrong at doors."""

from collections import Counter
from typing import get_args

from tests.gate.simulator.generator import CLOCK_MS, GATES, SCANS, scenario
from tests.gate.simulator.scenario import Alteration, Change, Network, Policy, Show, Step, Upload, Way

SEEDS = range(1, 41)


def test_a_seed_is_always_the_same_scenario() -> None:
    assert scenario(7) == scenario(7)
    assert scenario(7) != scenario(8)


def test_each_has_twenty_gates_and_two_hundred_scans() -> None:
    for seed in SEEDS:
        drawn = scenario(seed)
        assert len(drawn.gates) == GATES == 20
        assert drawn.scans >= SCANS == 200
        assert all(abs(gate.clock_ms) <= CLOCK_MS for gate in drawn.gates)


def test_every_kind_of_step_happens() -> None:
    drawn = [scenario(seed) for seed in SEEDS]
    steps = [step for one in drawn for step in one.steps]
    assert {type(step) for step in steps} == set(get_args(Step))
    shows = [step for step in steps if isinstance(step, Show)]
    assert {show.network for show in shows} == set(Network)
    assert {show.way for show in shows} == set(Way)
    assert any(show.is_waved for show in shows)
    assert {one.policy for one in drawn} == set(Policy)
    assert {step.change for step in steps if isinstance(step, Alteration)} == set(Change)


def test_gates_synchronize_in_any_order_at_the_end() -> None:
    orders = Counter(tuple(uploads_at_the_end(seed)) for seed in SEEDS)
    assert len(orders) == len(SEEDS)
    assert all(sorted(order) == list(range(GATES)) for order in orders)


def uploads_at_the_end(seed: int) -> list[int]:
    steps = scenario(seed).steps
    last_show = max(n for n, step in enumerate(steps) if isinstance(step, Show))
    return [gate for step in steps[last_show:] if isinstance(step, Upload) for gate in step.gates]
