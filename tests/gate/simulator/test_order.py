"""The search for the order of uploads finds one where there is one, and none where an answer is wrong."""

import random
from copy import deepcopy
from dataclasses import replace

import pytest

from tests.gate.simulator.generator import scenario
from tests.gate.simulator.model import ACTIVATED, DUPLICATE, Model
from tests.gate.simulator.order import Said, explained
from tests.gate.simulator.records import Entry, Result, Shown
from tests.gate.simulator.scenario import Category

GATES = 20
CARDS = 10
EACH = 8


def uploads(seed: int) -> tuple[Model, list[list[Said]]]:
    """Journals of all gates, of a few cards that only half of the gates may admit, as a service took them in turn."""
    chance = random.Random(seed)
    model = replace(Model.of(scenario(1)), doors_open=None)
    model.categories = [Category("One", gates=tuple(f"Gate {n}" for n in range(0, GATES, 2))) for _ in model.categories]
    before = deepcopy(model)
    journals = [
        [
            Entry(gate, n, Shown(f"key {gate} {n}", f"Gate {gate}", chance.randrange(CARDS), 0), True, is_typed=False)
            for n in range(EACH)
        ]
        for gate in range(GATES)
    ]
    turns = [gate for gate in range(GATES) for _ in range(EACH)]
    chance.shuffle(turns)
    said: list[list[Said]] = [[] for _ in range(GATES)]
    for gate in turns:
        entry = journals[gate][len(said[gate])]
        said[gate].append((entry, model.upload(entry)))
    return before, said


@pytest.mark.parametrize("seed", range(10))
def test_an_order_is_found(seed: int) -> None:
    model, said = uploads(seed)
    assert isinstance(explained(model, said), Model)


def test_a_wrong_answer_has_no_order() -> None:
    """A ticket that is used twice, and one that nobody used although it has its duplicates."""
    model, said = uploads(1)
    for wrong in (Result(ACTIVATED), Result("recorded", frozenset({DUPLICATE}))):
        lied = [list(some) for some in said]
        gate, n = next((gate, n) for gate, some in enumerate(said) for n, one in enumerate(some) if one[1] != wrong)
        lied[gate][n] = (said[gate][n][0], wrong)
        assert not isinstance(explained(model, lied), Model)
