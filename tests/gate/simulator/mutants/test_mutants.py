"""The simulator finds a service, or a gate, that lacks one of its rules.

The first of each kind always runs, and the tree draws some of the others; at night and with GATEPASS_FULL=1 all run.
"""

from collections.abc import Generator
from contextlib import aclosing, contextmanager
from dataclasses import replace

import psycopg
import pytest

from tests.gate.simulator.mutants.rules import GATE, ROUTINES, RoutineMutant
from tests.gate.simulator.mutants.service import SERVICE, serve_mutant
from tests.gate.simulator.seeds import run_seeds
from tests.gate.simulator.stack import Stack, environment
from tests.postgres import free_port
from tests.size import require_drawn

# Each rule is broken by one of the first seeds; a mutant that survives them all is not found.
SEEDS = range(1, 61)
AT_ONCE = 2
# One of so many is drawn, and these always run.
ONE_OF, ALWAYS = 10, range(1)


async def found(stack: Stack) -> str | None:
    """What the simulator has against it."""
    async with aclosing(run_seeds(stack, SEEDS, at_once=AT_ONCE)) as outcomes:
        async for outcome in outcomes:
            if outcome.violation:
                return outcome.violation
    return None


@contextmanager
def without(mutant: RoutineMutant, database_url: str) -> Generator[None]:
    """The routine with its texts replaced, as long as the block lasts."""
    with psycopg.connect(database_url, autocommit=True) as db:
        (good,) = db.execute("SELECT pg_get_functiondef(%s::regproc)", [mutant.routine]).fetchone() or ("",)
        bad = good
        for text, becomes in mutant.replaced:
            assert text in bad, f"{mutant.routine} has no {text}"
            bad = bad.replace(text, becomes)
        db.execute(bad.encode())
        try:
            yield
        finally:
            db.execute(good.encode())


@pytest.mark.parametrize("number", range(len(ROUTINES)), ids=lambda number: ROUTINES[number].rule)
async def test_a_routine_without_its_rule_is_found(stack: Stack, number: int) -> None:
    require_drawn(number, of=ONE_OF, always=ALWAYS)
    mutant = ROUTINES[number]
    with without(mutant, stack.database_url):
        assert await found(stack)


@pytest.mark.parametrize("number", range(len(GATE)), ids=lambda number: GATE[number].rule)
async def test_a_gate_without_its_rule_is_found(stack: Stack, number: int) -> None:
    require_drawn(number, of=ONE_OF, always=ALWAYS)
    with GATE[number].applied():
        assert await found(stack)


@pytest.mark.parametrize("number", range(len(SERVICE)), ids=lambda number: SERVICE[number].rule)
async def test_a_service_without_its_rule_is_found(stack: Stack, number: int) -> None:
    require_drawn(number, of=ONE_OF, always=ALWAYS)
    server = serve_mutant(number, environment(stack.database_url), free_port())
    try:
        assert await found(replace(stack, calls=replace(stack.calls, url=server.url), server=server))
    finally:
        server.stop()
