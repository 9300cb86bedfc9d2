"""The model by itself: what two gates do to one ticket, in every order."""

from dataclasses import replace
from itertools import permutations

import pytest

from tests.gate.simulator.generator import scenario
from tests.gate.simulator.model import ACTIVATED, DUPLICATE, KEY_ENDED, Model
from tests.gate.simulator.records import Entry, Result, Shown
from tests.gate.simulator.scenario import Category, Change

NOON = 30_000_000
CARD = 0


@pytest.fixture
def model() -> Model:
    """The first card's ticket has no rules, and the doors are open."""
    return replace(Model.of(scenario(1)), doors_open=None)


def entry(device: int, *, sequence: int = 1, admitted: bool = True, card: int | None = CARD, at: int = 0) -> Entry:
    shown = Shown(f"key {device} {sequence}", f"Gate {device + 1}", card, at)
    return Entry(device, sequence, shown, admitted, is_typed=False)


def test_the_first_that_is_received_activates_and_the_others_are_duplicates(model: Model) -> None:
    for order in permutations(range(3)):
        fresh = Model(model.doors_open, model.categories, Model.of(scenario(1)).cards, Model.of(scenario(1)).devices)
        results = [fresh.upload(entry(device, at=-device)) for device in order]
        assert results[0] == Result(ACTIVATED)
        assert results[1:] == [Result("recorded", frozenset({DUPLICATE}))] * 2
        assert len(fresh.incidents) == 2


def test_an_entry_is_taken_once(model: Model) -> None:
    assert model.upload(entry(1)) == model.upload(entry(1)) == Result(ACTIVATED)
    other = entry(1, admitted=False)
    assert model.upload(other) == Result("rejected", code="sequence_reused")
    assert model.incidents == []


def test_every_try_is_one_scan(model: Model) -> None:
    """The answer was lost, and the gate let the guest in by itself: that is no second admission."""
    uploaded = entry(1)
    assert model.scan(uploaded.shown, 1) == ACTIVATED
    assert model.upload(uploaded) == Result(ACTIVATED)
    assert model.scan(uploaded.shown, 1) == ACTIVATED
    assert model.incidents == []


def test_an_admission_without_activation_makes_the_next_one_the_second(model: Model) -> None:
    model.alter(Change.SUSPEND, CARD)
    assert model.upload(entry(1)) == Result("recorded", frozenset({"suspended"}))
    assert model.upload(entry(2)) == Result("recorded", frozenset({"suspended", DUPLICATE}))
    model.alter(Change.REACTIVATE, CARD)
    assert model.scan(entry(3).shown, 3) == ACTIVATED
    assert [incident.kind for incident in model.incidents] == ["suspended", DUPLICATE, "suspended", DUPLICATE]


def test_who_is_refused_at_a_gate_uses_no_ticket(model: Model) -> None:
    refused = entry(1, admitted=False)
    assert model.upload(refused) == Result("recorded")
    assert model.scan(refused.shown, 1) == KEY_ENDED
    assert model.upload(entry(2)) == Result(ACTIVATED)


@pytest.mark.parametrize(
    ("rules", "at", "kind"),
    [
        (Category("x", valid_from=NOON), NOON - 1, "outside_window"),
        (Category("x", valid_from=NOON), NOON, None),
        (Category("x", valid_until=NOON), NOON - 1, None),
        (Category("x", valid_until=NOON), NOON, "outside_window"),
        (Category("x", gates=("Gate 2",)), NOON, None),
        (Category("x", gates=("Gate 3",)), NOON, "wrong_gate"),
    ],
)
def test_rules_are_judged_at_the_moment_and_at_the_gate(
    model: Model, rules: Category, at: int, kind: str | None
) -> None:
    model.categories[0] = rules
    assert model.upload(entry(1, at=at)).kinds == frozenset({kind} - {None})


def test_numbers_that_are_typed_too_fast_use_no_ticket(model: Model) -> None:
    first, second = (replace(entry(1, sequence=n, card=n, at=n * 1_999), is_typed=True) for n in (1, 2))
    model.categories[1] = model.categories[2] = Category("x")
    assert model.upload(first) == Result(ACTIVATED)
    assert model.upload(second) == Result("recorded", frozenset({"override"}))
