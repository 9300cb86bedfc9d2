"""Tickets against a model: cards, events, tickets, idempotency keys and time, in live mode and in the sandbox at once.

`model.py` is the model. `machine.py`, `moves.py` and `rules.py` make up histories and compare; `mutants.py` has faults
to be found.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
import pytest
import uvloop
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from gatepass.base.database import Database
from gatepass.base.errors import Unavailable
from gatepass.migrations.sql import statements
from tests import factory
from tests.domain.model.mutants import MUTANTS, mutated
from tests.domain.model.rules import RuledMachine
from tests.domain.model.world import World
from tests.postgres import Cluster
from tests.size import require_drawn, sized


@contextmanager
def machine(url: str) -> Generator[type[RuledMachine]]:
    """The machine on this database. It has an event loop of its own, because Hypothesis calls it outside of any."""
    loop = uvloop.new_event_loop()

    async def connect() -> Database:
        return factory.database(url, connections=2)

    world = World(loop, loop.run_until_complete(connect()))
    try:
        yield type("RuledMachine", (RuledMachine,), {"world": world})
    finally:
        world.run(world.db.close())
        loop.close()


@pytest.fixture(scope="module")
def model_url(cluster: Cluster) -> str:
    """A database of its own, because the machine rotates idempotency keys and ends events of every organization."""
    return cluster.create_migrated("gatepass_model")


def explore(runs: int, steps: int, **more: Any) -> settings:
    return settings(max_examples=runs, stateful_step_count=steps, deadline=None, suppress_health_check=SLOW, **more)


SLOW: Final = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def test_tickets_behave_as_the_model_says(model_url: str) -> None:
    with machine(model_url) as model:
        run_state_machine_as_test(model, settings=explore(30, 25))


@pytest.mark.processes
def test_tickets_behave_as_the_model_says_for_long(model_url: str) -> None:
    with machine(model_url) as model:
        run_state_machine_as_test(model, settings=explore(sized(short=100, full=300), 50))


@pytest.fixture(scope="module")
def mutant_url(cluster: Cluster) -> str:
    return cluster.create_migrated("gatepass_mutants")


# These are found after half a minute and more. The cases of the rules, which SQL answers too, find them at once.
HARD: Final = {
    "a ticket is good at the moment at which its time ends",
    "a ticket is good before its time",
    "an ended event takes scans for ever",
    "the gate is told before the time",
    "a cancelled ticket is activated",
    "an event that is not published lets people in",
    "an old ticket of the card hides that it has none now",
    "a ticket opens every gate",
    "a scan without a gate opens every gate",
    "doors are judged by when a scan is sent",
}


# Of the others one of so many is drawn, and these always run.
ONE_OF: Final = 6
ALWAYS: Final = range(3)


@pytest.mark.processes
@pytest.mark.parametrize("mutant", sized(short=[one for one in MUTANTS if one not in HARD], full=[*MUTANTS]))
def test_the_model_finds_the_mutant(mutant_url: str, mutant: str) -> None:
    require_drawn([*MUTANTS].index(mutant), of=ONE_OF, always=ALWAYS)
    with psycopg.connect(mutant_url, autocommit=True) as connection:
        for statement in statements(mutated(mutant)):
            connection.execute(statement.encode())
    runs = sized(short=300, full=3_000)
    looking = explore(runs, 50, phases=[Phase.generate], database=None, derandomize=True, print_blob=False)
    with machine(mutant_url) as model, pytest.raises((AssertionError, Unavailable)) as found:
        run_state_machine_as_test(model, settings=looking)
    # It gave a wrong answer, or the statement itself saw that it would: changed_meanwhile().
    assert not isinstance(found.value, Unavailable) or found.value.cause == "conflict"
